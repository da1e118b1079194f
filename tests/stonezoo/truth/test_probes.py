"""Probe sets: how their positions are found, and the files that hold them."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.kernels.batch import transform_batch
from stonezoo.solve import Table
from stonezoo.truth import (
    ProbeError,
    load_probes,
    make,
    probe,
    probe_names,
)
from stonezoo.truth.make import Plan, from_boards, from_games, from_sample
from stonezoo.truth.probes import digest_of, probes_for, save_probes
from tests.stonezoo.truth.small import SMALL, Oracular


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.build(SMALL)


def test_a_probe_set_reads_back_and_has_the_same_bytes_each_time(tmp_path: Path, table: Table) -> None:
    made = from_sample(SMALL, table, Plan(count=100, seed=3))
    for name in ("one", "two"):
        save_probes(tmp_path / f"{name}.gz", made, source="a test", command="none")
    one = tmp_path / "one.gz"
    assert one.read_bytes() == (tmp_path / "two.gz").read_bytes()
    found = load_probes(str(one))
    assert found.game == SMALL
    assert np.array_equal(found.positions.states, made.states)
    assert np.array_equal(found.positions.values, made.values)
    assert probe(Oracular(table, True), found).optimal.value == 1.0
    assert probe(Oracular(table, True), found, limit=10).decisive == 10


def test_a_damaged_or_foreign_probe_set_is_refused(tmp_path: Path, table: Table) -> None:
    path = tmp_path / "probes.gz"
    save_probes(path, from_sample(SMALL, table, Plan(count=20)), source="a test", command="none")
    text = gzip.decompress(path.read_bytes()).decode()
    flipped = text[:-2] + ("+" if text[-2] == "-" else "-") + "\n"
    for wrong, message in [
        (flipped, "do not have the digest"),
        (text.replace("standard@1", "standard@2"), "made for resolve/standard@2"),
        (text.replace("probes@1", "probes@9"), "its format is 'stonezoo/probes@9'"),
    ]:
        other = tmp_path / f"{abs(hash(message))}.gz"
        other.write_bytes(gzip.compress(wrong.encode()))
        with pytest.raises(ProbeError, match=message):
            load_probes(str(other))
    (tmp_path / "short.gz").write_bytes(path.read_bytes()[:100])
    with pytest.raises(ProbeError, match="cannot be read"):
        load_probes(str(tmp_path / "short.gz"))
    torn = bytearray(path.read_bytes())
    torn[40:] = bytes(value ^ 0x55 for value in torn[40:])
    (tmp_path / "torn.gz").write_bytes(torn)
    with pytest.raises(ProbeError, match="cannot be read"):
        load_probes(str(tmp_path / "torn.gz"))
    with pytest.raises(ProbeError, match="no probe set 'resolve-99'"):
        load_probes("resolve-99")


def test_positions_of_good_players_are_solved_exactly(table: Table) -> None:
    """Search finds what the table says, on positions of players' games; none is won at once, none has a twin."""
    from stonezoo.players import make_player

    made = from_games(SMALL, [make_player("uct:30", SMALL)], Plan(count=40, max_nodes=5_000, random_share=0.3))
    assert 10 < len(made) <= 40
    assert np.array_equal(made.values, table.action_values(made.states))
    assert made.decisive.all()
    for row, values in zip(made.states, made.values, strict=True):
        for action in np.flatnonzero(values == 1).tolist():
            state = SMALL.from_row(row)
            state.step(action)
            assert not state.terminated


def test_twins_within_one_game_stand_once(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    found = from_sample(SMALL, table, Plan(count=40))
    symmetry = SMALL.symmetries[3]
    cells, swaps = symmetry.cells[np.newaxis], np.array([symmetry.swaps_players], np.int8)
    twins = np.zeros_like(found.states)
    transform_batch(SMALL.rules, found.states, cells, swaps, np.zeros(len(twins), np.int32), twins)

    def games(*_: Any) -> Iterator[Any]:
        yield from (np.stack([one, twin]) for one, twin in zip(found.states, twins, strict=True))

    monkeypatch.setattr(make, "play_games", games)
    made = from_games(SMALL, [], Plan(count=80, max_nodes=5_000))
    assert 10 < len(made) <= 40
    assert len({make._canonical(SMALL, row) for row in made.states}) == len(made)


def test_positions_of_random_boards_are_solved_exactly() -> None:
    from stonezoo.players import make_player

    game = stonezoo.load_game("dara", rows=3, columns=3, stones=3)
    made = from_boards(game, [make_player("random", game)], Plan(count=20, boards=3), 1 << 28)
    assert len(made)
    assert np.array_equal(made.values, Table.build(game).action_values(made.states))


@pytest.mark.parametrize("name", probe_names())
def test_shipped_sets_are_whole_and_decisive(name: str) -> None:
    found = load_probes(name)
    assert len(found) >= 300
    assert found.positions.decisive.all()
    assert len({row.tobytes() for row in found.positions.states}) == len(found)
    assert found.about["command"].startswith("stonezoo make-probes ")
    same = probes_for(found.game)
    assert same is not None
    assert same.game == found.game


def test_the_digest_depends_on_every_line() -> None:
    assert len({digest_of(lines) for lines in ([], ["a"], ["a", "b"], ["b", "a"], ["ab"])}) == 5


def test_random_boards_run_out_without_running_for_ever() -> None:
    from stonezoo.players import make_player

    game = stonezoo.load_game("dara", rows=3, columns=3, stones=3, quiet_limit=1)
    made = from_boards(game, [make_player("random", game)], Plan(count=100_000, boards=3), 1 << 28)
    assert 0 < len(made) < 100_000


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_leaves_no_position_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=rf"limit={limit} must be at least 1"):
        probe("random", "dara-3x4", limit=limit)
