"""`stonezero bench`: every part is measured at the sizes of the config."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from stonezero.bench import Bench, Rate, bench, bench_table, mixed_positions, random_samples
from stonezero.bench import _shares as shares_of
from stonezero.cli import main
from stonezero.config import load_config
from stonezoo import load_game
from stonezoo.core.game import ONGOING, OUTCOME

torch.set_num_threads(1)
SMOKE = ["device.threads=1", "deterministic=true"]


@pytest.fixture(scope="module")
def found() -> Bench:
    return bench(load_config("rive/smoke", SMOKE), seconds=0.5)


def test_every_rate_is_positive_and_in_order(found: Bench) -> None:
    rates = {name: rate for name, rate in vars(found).items() if isinstance(rate, Rate)}
    assert len(rates) == 7
    for name, rate in rates.items():
        assert 0 < rate.low <= rate.median <= rate.high, name
    assert found.search_share > 0  # on a busy machine even the same network is not as fast twice
    assert found.bare_search.median > found.search.median  # the network costs something


def test_shares_of_a_run_fill_it(found: Bench) -> None:
    shares = {name.strip(): share for name, share in found.shares.items()}
    assert shares["self-play"] + shares["learning"] == pytest.approx(1)
    assert shares["network"] + shares["search"] + shares["games"] == pytest.approx(shares["self-play"])
    assert shares["drawing batches"] + shares["gradient steps"] == pytest.approx(shares["learning"])


def test_a_row_costs_its_play_and_its_share_of_learner_steps() -> None:
    config = load_config("rive/smoke", ["replay.reuse=4", "learner.batch_size=16"])
    shares = shares_of(config, rows=100, network=0.5, search=0.2, steps=50, drawing=0.1)
    # A row takes 1/100 s to play and 4/16 steps of 1/50 s.
    assert shares["self-play"] == pytest.approx(0.01 / (0.01 + 0.005))
    assert shares["  search"] == pytest.approx(0.2 * shares["self-play"])
    assert shares["  gradient steps"] == pytest.approx(0.9 * shares["learning"])


@pytest.mark.parametrize("name", ["rive", "resolve", "dara"])
def test_positions_are_at_all_stages_and_none_is_over(name: str) -> None:
    game = load_game(name)
    states, length = mixed_positions(game, 64, seed=1)
    assert (states[:, OUTCOME] == ONGOING).all()
    stones = [(game.from_row(row).board >= 0).sum() for row in states]
    assert len(set(stones)) > 8
    assert length > 10
    rows = random_samples(game, states)
    assert np.allclose(rows.search_policy.sum(1), 1)
    assert not rows.search_policy[~np.asarray(rows.legal_action_mask)].any()


def test_the_command_prints_json_or_a_table_and_nothing_else(
    capsys: pytest.CaptureFixture[str], found: Bench, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["bench", "rive/smoke", "--seconds", "0.2", *(f"--set.{field}" for field in SMOKE)]
    assert main([*arguments, "--json"]) == 0
    printed = capsys.readouterr()
    values = json.loads(printed.out)
    assert printed.err == ""
    assert set(values) == set(found.to_dict())
    assert values["num_games"] == 8
    assert set(values["learner"]) == {"median", "low", "high"}
    assert "usable" in values["hardware"]
    assert main(arguments) == 0
    table = capsys.readouterr().out
    assert "the network's own speed in search" in table
    assert values["hardware"].split(",")[0] in table
    assert not list(tmp_path.iterdir())


def test_the_table_has_a_row_for_every_rate_and_share(found: Bench) -> None:
    assert bench_table(found).row_count == 7 + 1 + len(found.shares)


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_that_is_none_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "rive/smoke", "--seconds", seconds]) == 2
    assert "seconds above 0" in capsys.readouterr().err


def test_without_a_gpu_the_command_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["bench", "rive/smoke", "--set.device.kind", "cuda"]) == 2
    assert "torch finds none" in capsys.readouterr().err
