"""Saved tables: whole or not at all, for one game under one set of rules, and found again by name."""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.solve import Table, TableError, checked_table, known_table
from stonezoo.solve import graph as graph_module
from stonezoo.solve import table as table_module
from stonezoo.solve.graph import Builder
from stonezoo.solve.table_file import FOLDER_VARIABLE, HEADER_BYTES, LEFT_SECONDS, read_header, write_whole
from stonezoo.solve.walk import FIRST_NODE, NUM_NODES
from tests.stonezoo.solve.truth import CASES, truth_of

DARA_3 = {"rows": 3, "columns": 3, "stones": 3}


@pytest.fixture
def table() -> Table:
    return Table.build(stonezoo.load_game("dara", **DARA_3, quiet_limit=3))


def test_a_loaded_table_answers_as_the_one_that_was_saved(table: Table, tmp_path: Path) -> None:
    truth = truth_of(CASES[5])
    loaded = Table.load(table.game, table.save(tmp_path / "dara"), verify=True)
    assert np.array_equal(loaded.values(truth.rows), truth.values)
    assert np.array_equal(loaded.action_values(truth.rows), truth.action_values)
    assert np.array_equal(loaded.distances(truth.rows), table.distances(truth.rows))
    assert len(loaded) == len(table)


def test_what_a_killed_process_left_of_a_file_is_removed_when_it_is_old(tmp_path: Path) -> None:
    old, fresh, other = (tmp_path / name for name in ("a.table.7.tmp", "a.table.8.tmp", "b.table.7.tmp"))
    for path in (old, fresh, other):
        path.write_bytes(b"half")
    for path in (old, other):
        os.utime(path, (0, time.time() - LEFT_SECONDS - 10))
    write_whole(tmp_path / "a.table", [b"whole"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.table", "a.table.8.tmp", "b.table.7.tmp"]


def test_a_table_is_found_by_its_game_in_the_folder_of_the_environment(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "tables"))
    path = table.save()
    assert path == tmp_path / "tables" / "dara-3-3-3-standard-3.table"
    assert len(Table.load(table.game)) == len(table)
    with pytest.raises(TableError, match=r"no solved table at .*stonezoo solve rive --board-size 2 --save makes one"):
        Table.load(stonezoo.load_game("rive", board_size=2))


def test_the_header_says_what_the_file_holds(table: Table, tmp_path: Path) -> None:
    header = read_header(table.save(tmp_path / "dara"))
    assert (header["game"], header["rules_id"]) == ("dara", "dara/standard@1")
    assert header["parameters"] == dict(table.game.parameters)
    assert header["about"]["positions"] == len(table)
    assert set(header["arrays"]) == {"check", "result", "need"}


def test_a_table_of_other_rules_is_refused_with_both_names(table: Table, tmp_path: Path) -> None:
    path = table.save(tmp_path / "dara")
    other = stonezoo.load_game("dara", **DARA_3, quiet_limit=3, rules="no_drop_threes")
    with pytest.raises(TableError, match=r"table of dara/standard@1 .*not of dara/no_drop_threes@1"):
        Table.load(other, path)
    with pytest.raises(TableError, match=r"'quiet_limit': 3.*'quiet_limit': 5"):
        Table.load(stonezoo.load_game("dara", **DARA_3, quiet_limit=5), path)


def test_a_table_of_an_older_version_of_the_rules_is_refused(table: Table, tmp_path: Path) -> None:
    path = table.save(tmp_path / "dara")
    header = {**read_header(path), "rules_id": "dara/standard@0"}
    data = path.read_bytes()[HEADER_BYTES:]
    path.write_bytes((json.dumps(header) + "\n").encode().ljust(HEADER_BYTES, b"\0") + data)
    with pytest.raises(TableError, match=r"dara/standard@0 .*not of dara/standard@1"):
        Table.load(table.game, path)


def test_files_that_are_no_whole_table_are_refused(table: Table, tmp_path: Path) -> None:
    path = table.save(tmp_path / "dara")
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(TableError, match="not whole"):
        Table.load(table.game, path)
    path.write_bytes(b"something else")
    with pytest.raises(TableError, match="no solved table"):
        Table.load(table.game, path)
    header = json.loads(data[:HEADER_BYTES].split(b"\n")[0])
    path.write_bytes((json.dumps({**header, "format": "stonezoo-table@0"}) + "\n").encode().ljust(HEADER_BYTES, b"\0"))
    with pytest.raises(TableError, match=r"format 'stonezoo-table@0'.*make the table again"):
        Table.load(table.game, path)
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    Table.load(table.game, path)
    with pytest.raises(TableError, match="damaged"):
        Table.load(table.game, path, verify=True)


def test_no_changed_bit_of_a_header_goes_unseen(table: Table, tmp_path: Path) -> None:
    path = table.save(tmp_path / "dara")
    data, header = path.read_bytes(), read_header(path)
    for bit in range(8 * (data.index(b"\n") + 1)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            found = read_header(path)
        except TableError:
            continue
        assert {name: found[name] for name in header} == header  # it was in the digest's name


def test_a_table_that_cannot_be_written_says_so_and_leaves_nothing(table: Table, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TableError, match="cannot write"):
        table.save(tmp_path / "file" / "dara")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_interrupted_table_goes_on_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = stonezoo.load_game("dara", rows=3, columns=4, stones=3)
    whole = Table.build(game)
    monkeypatch.setattr(graph_module, "BUDGET", 50)
    first = Builder(game, 1 << 28)
    first.add(game.initial_state().row[None])

    def stop(graph: graph_module.Graph) -> None:
        if graph.sizes[NUM_NODES] > len(whole) // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.run(stop)
    first.save(tmp_path / "partial")
    assert first.graph.sizes[NUM_NODES] < len(whole)
    second = Builder(game, 1 << 28)
    second.load(tmp_path / "partial")
    graph = second.run()
    assert graph.sizes[NUM_NODES] - FIRST_NODE == len(whole)
    assert Table.finish(second).action_values(game.initial_state().row[None])[0, :4].tolist() == [-1, 0, 0, -1]
    other = Builder(stonezoo.load_game("dara", rows=3, columns=4, stones=3, quiet_limit=9), 1 << 28)
    with pytest.raises(TableError, match="remove it to begin anew"):
        other.load(tmp_path / "partial")
    with pytest.raises(TableError, match="no finished table"):
        Table.load(game, tmp_path / "partial")


GROWN = 12  # arrays that grow while the table of the test below is found


@pytest.mark.parametrize("stopped", range(GROWN))
def test_an_interruption_while_arrays_grow_leaves_a_graph_to_go_on_with(
    stopped: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = stonezoo.load_game("dara", rows=3, columns=4, stones=3)
    whole = Table.build(game)
    first = Builder(game, 1 << 28)
    first.add(game.initial_state().row[None])
    longer, refill, done = graph_module._longer, graph_module.refill, 0

    def count() -> None:
        nonlocal done
        done += 1
        if done == stopped + 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(graph_module, "_longer", lambda *given: (count(), longer(*given))[1])
    monkeypatch.setattr(graph_module, "refill", lambda *given: (count(), refill(*given))[1])
    with pytest.raises(KeyboardInterrupt):
        first.run()
    monkeypatch.undo()
    first.save(tmp_path / "partial")
    second = Builder(game, 1 << 28)
    second.load(tmp_path / "partial")
    for builder in (first, second):
        found = Table.finish(builder)
        assert len(found) == len(whole)
        assert all(np.array_equal(*pair) for pair in zip(found.stored, whole.stored, strict=True))


def test_a_root_is_not_lost_by_an_interruption_as_its_walk_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    game = stonezoo.load_game("rive", board_size=2)
    builder = Builder(game, 1 << 28)
    builder.add(game.initial_state().row[None])

    def interrupted(*given: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(graph_module, "walk", interrupted)
        with pytest.raises(KeyboardInterrupt):
            builder.run()
    assert len(Table.finish(builder)) == 215


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("check", lambda array: array[:-1]),
        ("degree", lambda array: array.astype(np.int32)),
        ("legal", lambda array: array[:, :-1]),
        ("path", lambda array: array[:, :-1]),
        ("rows", lambda array: array[:2]),
        ("slots", lambda array: array[:0]),
        ("sizes", lambda array: array * 10_000),
    ],
)
def test_a_graph_whose_arrays_do_not_fit_each_other_is_refused(name: str, change: Any, tmp_path: Path) -> None:
    game = stonezoo.load_game("rive", board_size=2)
    builder = Builder(game, 1 << 28)
    builder.add(game.initial_state().row[None])
    builder.run()
    builder.graph = builder.graph._replace(**{name: np.ascontiguousarray(change(getattr(builder.graph, name)))})
    builder.save(tmp_path / "partial")
    with pytest.raises(TableError, match="do not fit each other; remove it"):
        Builder(game, 1 << 28).load(tmp_path / "partial")


def test_a_saved_table_is_read_through_once_and_again_when_it_has_changed(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    path = table.save()
    read: list[int] = []
    digest_of = table_module.digest_of
    monkeypatch.setattr(table_module, "digest_of", lambda arrays: (read.append(1), digest_of(arrays))[1])
    for _ in range(2):
        assert known_table(table.game) is not None
    assert len(read) == 1
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)
    for _ in range(2):
        with pytest.raises(TableError, match="is damaged"):
            known_table(table.game)
    with pytest.raises(TableError, match="is damaged"):
        checked_table(table.game, path)
