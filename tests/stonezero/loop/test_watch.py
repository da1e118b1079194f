"""What a run writes for TensorBoard: every tag of docs/watching.md and no other, finite, at little cost."""

import io
import math
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from stonezero.config import SearchConfig, SelfplayConfig, load_config
from stonezero.events import NullWriter
from stonezero.loop import Trainer, train, watch
from stonezero.loop.groups import Groups
from stonezero.loop.watch import BUDGET, Watch
from stonezero.run import RunFolder
from stonezoo import load_game
from stonezoo.solve import Table
from tests.stonezero.toy_game import ToyNetwork

torch.set_num_threads(1)

PAGE = Path(__file__).parents[3] / "docs" / "watching.md"
PLACEHOLDERS = {
    "<bin>": r"\d",
    "<phase>": "(place|remove)",
    "<opponent>": "(random|uct_1)",
    "<kind>": "(search|policy|untrained)",
}
OVERRIDES = [
    "deterministic=true",
    "loop.evaluate_every=1",
    "loop.iterations=2",
    "network.owner_head=true",
    "evaluation.games=4",
    "evaluation.num_simulations=2",
    "evaluation.opponents=[random, 'uct:1']",
]


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Of a run of seconds in a game that is solved."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = tmp_path_factory.mktemp("watched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STONEZOO_TABLE_DIR", str(folder / "tables"))
        game = load_game("rive", board_size=2)
        Table.build(game).save()
        run = RunFolder.create(folder / "run", load_config("rive/smoke", OVERRIDES), game.rules_id)
        train(run, Console(file=io.StringIO(), width=120))
    return EventAccumulator(str(run.events), size_guidance={"images": 0, "scalars": 0}).Reload()


def tags_of(events: Any) -> set[str]:
    tags = events.Tags()
    return {*tags["scalars"], *tags["images"], *tags["histograms"]}


def page_patterns() -> dict[str, re.Pattern[str]]:
    """The first column of the page's tables, as patterns."""
    patterns = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            for tag in re.findall(r"`([^`]+)`", line.split("|")[1]):
                pattern = re.escape(tag)
                for placeholder, meaning in PLACEHOLDERS.items():
                    pattern = pattern.replace(re.escape(placeholder), meaning)
                patterns[tag] = re.compile(pattern)
    return patterns


def test_every_tag_stands_on_the_page_once(events: Any) -> None:
    patterns = page_patterns()
    for tag in tags_of(events):
        rows = [name for name, pattern in patterns.items() if pattern.fullmatch(tag)]
        assert len(rows) == 1, f"{tag}: {rows}"


def test_every_row_of_the_page_is_written_by_a_run(events: Any) -> None:
    tags = tags_of(events)
    unwritten = [name for name, pattern in page_patterns().items() if not any(map(pattern.fullmatch, tags))]
    assert not unwritten


def test_every_row_of_the_page_says_what_it_is_its_unit_what_is_healthy_and_what_is_wrong() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    for row in rows:
        cells = [cell.strip() for cell in row.replace("\\|", "/").strip("|").split("|")]
        assert len(cells) == 5, row
        assert all(cells), row


def test_all_that_is_written_is_finite_and_no_step_stands_twice(events: Any) -> None:
    for tag in events.Tags()["scalars"]:
        points = events.Scalars(tag)
        assert all(math.isfinite(point.value) for point in points), tag
        steps = [point.step for point in points]
        assert steps == sorted(set(steps)), tag


def test_one_run_is_one_run_with_its_hyperparameters_once(events: Any) -> None:
    folder = Path(events.path)
    assert all(path.is_file() for path in folder.iterdir())
    assert "_hparams_/session_start_info" in events.summary_metadata


def test_shares_of_time_fill_the_run(events: Any) -> None:
    names = [tag for tag in events.Tags()["scalars"] if tag.startswith("time/")]
    for k in range(2):
        shares = {name: events.Scalars(name)[k].value for name in names}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-4)
        assert shares["time/network"] > 0
        assert shares["time/learning"] > 0
    assert events.Scalars("time/evaluation")[1].value > 0


def test_scores_lie_in_their_intervals(events: Any) -> None:
    scores = [tag for tag in events.Tags()["scalars"] if re.fullmatch(r"evaluation/\w+_(random|uct_1)", tag)]
    assert len(scores) == 2 + 6
    for tag in scores:
        for score, low, high in zip(*(events.Scalars(tag + end) for end in ("", "_low", "_high")), strict=True):
            assert 0 <= low.value <= score.value <= high.value <= 1
            assert high.value - low.value > 0.1  # of four or eight games


GAME = load_game("rive", board_size=2)
NETWORK = ToyNetwork(GAME.num_actions)


def small_self_play() -> Groups:
    config = SelfplayConfig(num_games=8)
    return Groups(GAME, SearchConfig(num_simulations=2), config, NETWORK, seed=1, count=2, threaded=False)


def iterate(watched: Watch, groups: Groups, step: int) -> None:
    games, statistics = groups.play(20)
    watched.fresh_games(games, NETWORK, 8)
    network = groups.network_use()
    watched.iteration(
        step, games=games, statistics=statistics, network=network, learning={}, replay={}, loop={"iteration": 1.0}
    )


def test_what_is_costly_keeps_to_its_budget_however_slow_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    foretell = watch.foretell

    def slow(*args: Any) -> Any:
        asked.append(args)
        time.sleep(0.03)
        return foretell(*args)

    monkeypatch.setattr(watch, "foretell", slow)
    groups = small_self_play()
    watched = Watch(GAME, NullWriter(), print)
    start = time.perf_counter()
    for step in range(40):
        iterate(watched, groups, step)
    elapsed = time.perf_counter() - start
    # The first look is free, and the last may overdraw what was left.
    assert 2 <= len(asked) <= 2 + BUDGET * elapsed / 0.03


def test_what_the_network_is_asked_beforehand_does_not_count_as_self_play() -> None:
    groups = small_self_play()
    writer = NullWriter()
    watched = Watch(GAME, writer, print)
    games, statistics = groups.play(20)
    calls, positions, _ = groups.network_use()
    watched.fresh_games(games, NETWORK, 8)
    network = groups.network_use()
    watched.iteration(0, games=games, statistics=statistics, network=network, learning={}, replay={}, loop={})
    written = {name: value for name, value, _ in writer.written}
    assert written["selfplay/network_positions_per_second"] == pytest.approx(positions / statistics.seconds)
    assert written["selfplay/network_batch"] == pytest.approx(positions / calls)


def test_repeated_games_are_told_on_the_terminal() -> None:
    said: list[str] = []
    groups = small_self_play()
    watched = Watch(GAME, NullWriter(), said.append)
    games, statistics = groups.play(400)
    network = groups.network_use()
    distinct = replace(statistics, distinct_games=len(games))
    watched.iteration(0, games=games, statistics=distinct, network=network, learning={}, replay={}, loop={})
    assert not said
    repeated = replace(statistics, distinct_games=1)
    watched.iteration(0, games=games, statistics=repeated, network=network, learning={}, replay={}, loop={})
    assert len(said) == 1
    assert f"only 1 of {len(games)} games are distinct" in said[0]


def test_a_network_is_asked_about_games_before_it_learns_from_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    order: list[str] = []
    fresh, learn = Watch.fresh_games, Trainer._learn
    monkeypatch.setattr(Watch, "fresh_games", lambda *args: order.append("fresh") or fresh(*args))
    monkeypatch.setattr(Trainer, "_learn", lambda self: order.append("learn") or learn(self))
    config = load_config("rive/smoke", [*OVERRIDES, "loop.iterations=1", "evaluation.opponents=random"])
    train(
        RunFolder.create(tmp_path / "run", config, load_game("rive", board_size=2).rules_id),
        Console(file=io.StringIO(), width=120),
    )
    assert order == ["fresh", "learn"]
