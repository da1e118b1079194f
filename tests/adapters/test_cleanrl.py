from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from examples import cleanrl_ppo
from examples.cleanrl_ppo import GAMMA, LAMBDA, advantages, signs
from stonezoo.core.rng import new_streams
from stonezoo.players import make_player
from tests.adapters.cases import CASES, every_case
from tests.stonezoo.games.referees import Case, load

T, B = 90, 8


def random_play(game: stonezoo.Game) -> tuple[NDArray[Any], ...]:
    """Movers [T + 1, B], each mover's reward [T, B], who ended a game [T, B], and Black's reward [T, B]."""
    lanes, player, streams = stonezoo.VectorGame(game, B), make_player("random", game), new_streams(3, B)
    movers, rewards, ended, blacks = [lanes.to_play], [], [], []
    for _ in range(T):
        lanes.step(player.act(lanes.states, streams))
        rewards.append(lanes.rewards[np.arange(B), movers[-1]])
        blacks.append(lanes.rewards[:, 0])
        ended.append(lanes.terminated)
        movers.append(lanes.to_play)
    return np.stack(movers), np.stack(rewards), np.stack(ended), np.stack(blacks)


def by_definition(
    blacks: NDArray[Any], values: NDArray[Any], ended: NDArray[Any], movers: NDArray[Any]
) -> NDArray[np.float64]:
    """The advantages [T, B], summed term by term from Black's point of view, which never changes; then the mover's."""
    black_values = np.where(movers == 0, values, -values)  # [T + 1, B]
    found = np.zeros((T, B))
    for lane in range(B):
        for t in range(T):
            for k in range(t, T):
                later = 0.0 if ended[k, lane] else GAMMA * black_values[k + 1, lane]
                found[t, lane] += (GAMMA * LAMBDA) ** (k - t) * (blacks[k, lane] + later - black_values[k, lane])
                if ended[k, lane]:
                    break
    return np.where(movers[:-1] == 0, found, -found)


@every_case
def test_only_the_movers_sign_gives_the_advantage_by_definition(case: Case) -> None:
    movers, rewards, ended, blacks = random_play(load(case))
    assert ((movers[:-1] == movers[1:]) & ~ended).any()
    assert (rewards == 1.0).any()
    values = np.random.default_rng(7).uniform(-1, 1, (T + 1, B)).astype(np.float32)
    expected = by_definition(blacks, values, ended, movers)

    def error(mode: str) -> float:
        turns = np.stack([signs(mode, before, after) for before, after in pairwise(movers)])
        return float(np.abs(advantages(rewards, values[:-1], ended, turns, values[-1]) - expected).max())

    assert error("mover") < 1e-5
    assert error("never") > 0.5
    assert error("always") > 0.5


def test_the_example_runs_and_plays_no_illegal_action(capsys: pytest.CaptureFixture[str]) -> None:
    cleanrl_ppo.main(["--updates", "1", "--games", "20"])
    told = capsys.readouterr().out
    assert " 0 illegal actions" in told
    assert "score against random" in told


@pytest.mark.slow
@pytest.mark.strength
def test_with_either_wrong_sign_far_less_is_learnt() -> None:
    """Four standard deviations of a difference of two scores of 400 games each are below 0.3."""
    game = load(CASES[0])
    scores = {mode: cleanrl_ppo.train(game, mode, seed=1, updates=30)["after"] for mode in ("mover", "never", "always")}
    assert scores["mover"] > max(scores["never"], scores["always"]) + 0.3, scores
