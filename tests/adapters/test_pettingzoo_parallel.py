import numpy as np
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from examples import pettingzoo_parallel
from stonezoo.api.checked import make_env
from tests.adapters.cases import every_case, results
from tests.stonezoo.games.referees import Case, start


@every_case
def test_the_parallel_game_is_the_referees_and_rewards_both_seats(case: Case) -> None:
    env, rng = turn_based_aec_to_parallel(make_env(case[0], **case[1])), np.random.default_rng(4)
    again = lost_without_moving = 0
    for _ in range(10):
        movers, played, totals = pettingzoo_parallel.play(env, rng)
        referee = start(case)
        for mover, action in zip(movers, played, strict=True):
            assert referee.to_play == mover
            assert action in referee.legal()
            referee = referee.play(action)
            again += referee.to_play == mover
        assert referee.over
        assert tuple(totals.values()) == results(referee)
        lost_without_moving += results(referee)[1 - mover] == -1.0
    assert again
    assert lost_without_moving


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pettingzoo_parallel.main(["--games", "2"])
    assert "game 1: movers 0" in capsys.readouterr().out
