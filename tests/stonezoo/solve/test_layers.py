"""Games solved layer by layer: the same table as in one piece, in less memory, and never begun anew."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezoo.core.game import has_layers
from stonezoo.solve import MemoryLimitError, Table, TableError
from stonezoo.solve import graph as graph_module
from stonezoo.solve import layer_file as layer_file_module
from stonezoo.solve.layers import LayerSolver
from stonezoo.solve.lookup import NO_KEY
from stonezoo.state import Game

MEMORY = 1 << 30
STUDY = {"rows": 3, "columns": 4, "stones": 4}  # eight drops, then a stone each that may be taken before the end
LAST = 10

BOARDS: list[tuple[str, dict[str, Any]]] = [
    *(
        ("dara", {"rows": rows, "columns": columns, "stones": stones, "rules": rules})
        for rows, columns, stones in ((3, 3, 3), (3, 4, 3), (3, 4, 4), (4, 4, 3))
        for rules in ("standard", "no_drop_threes")
    ),
    *(("dara", {**STUDY, "quiet_limit": limit}) for limit in (1, 2, 3, 9)),
    *(("resolve", {"board_size": 3, "rules": rules}) for rules in ("standard", "original")),
]
LARGE_BOARDS = [
    ("dara", {"rows": 4, "columns": 4, "stones": stones, "rules": rules})
    for stones in (4, 5)
    for rules in ("standard", "no_drop_threes")
]


def name_of(board: Any) -> str:
    return "-".join(str(part) for part in (board[0], *board[1].values()))


def stored(table: Table) -> list[NDArray[Any]]:
    """What a table stores, in an order of its own: check, result and need of every position."""
    full = table.stored.check != NO_KEY
    order = np.argsort(table.stored.check[full])
    return [array[full][order] if len(array) else array for array in table.stored]


def assert_same(found: Table, whole: Table) -> None:
    assert (len(found), found.about["edges"]) == (len(whole), whole.about["edges"])
    assert all(np.array_equal(*pair) for pair in zip(stored(found), stored(whole), strict=True))


@pytest.fixture(scope="module")
def study() -> Game:
    return stonezoo.load_game("dara", **STUDY)


@pytest.fixture(scope="module")
def whole(study: Game) -> Table:
    return Table.build(study)


def stop_at_file(number: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets the process end as file `number` is to be written; returns the names of those that are, as they come."""
    written: list[str] = []
    save = layer_file_module.save_arrays

    def stopped(path: Path, *given: Any) -> None:
        if len(written) == number:
            raise KeyboardInterrupt
        save(path, *given)
        written.append(path.name)

    monkeypatch.setattr(layer_file_module, "save_arrays", stopped)
    return written


def solved_until(game: Game, folder: Path, number: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stop_at_file(number, patch)
        with pytest.raises(KeyboardInterrupt):
            LayerSolver(game, folder, MEMORY).run()


@pytest.mark.parametrize("board", BOARDS, ids=name_of)
def test_the_table_is_the_one_that_is_made_in_one_piece(board: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    game = stonezoo.load_game(board[0], **board[1])
    assert_same(LayerSolver(game, tmp_path, MEMORY).run(), Table.build(game))


@pytest.mark.slow
@pytest.mark.parametrize("board", LARGE_BOARDS, ids=name_of)
def test_the_table_of_a_larger_board_is_too(board: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    game = stonezoo.load_game(board[0], **board[1])
    assert_same(LayerSolver(game, tmp_path, MEMORY).run(), Table.build(game))


def test_a_game_that_says_nothing_is_one_layer(tmp_path: Path) -> None:
    game = stonezoo.load_game("rive", board_size=2)
    assert not has_layers(game.rules)
    assert_same(LayerSolver(game, tmp_path, MEMORY).run(), Table.build(game))
    assert [path.name for path in tmp_path.iterdir()] == ["0.solved"]


def test_it_takes_less_memory_than_one_piece(tmp_path: Path) -> None:
    game = stonezoo.load_game("dara", rows=4, columns=4, stones=4)
    found, one = LayerSolver(game, tmp_path, MEMORY).run(), Table.build(game)
    assert found.about["bytes"] < 0.8 * one.about["bytes"]


def test_progress_names_the_layer_and_how_many_there_are(study: Game, tmp_path: Path) -> None:
    told: list[str] = []
    LayerSolver(study, tmp_path, MEMORY, lambda what, *_: told.append(what)).run()
    assert told[0] == "positions of layer 0 (1 so far)"
    assert f"values of layer {LAST} (1 of {LAST + 1})" in told


@pytest.mark.parametrize("number", [0, 1, LAST, LAST + 1, LAST + 2, 2 * LAST + 1])
def test_a_run_that_was_stopped_goes_on_after_the_last_layer_that_was_done(
    number: int, study: Game, whole: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved_until(study, tmp_path, number)
    written = stop_at_file(-1, monkeypatch)
    assert_same(LayerSolver(study, tmp_path, MEMORY).run(), whole)
    assert len(written) == 2 * (LAST + 1) - number
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".solved"] * (LAST + 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [(lambda data: data[:-1], "is not whole"), (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "is damaged")],
    ids=["torn", "changed"],
)
@pytest.mark.parametrize("name", ["5.graph", f"{LAST}.solved"])
def test_a_layer_that_is_damaged_is_refused_and_made_again_once_it_is_removed(
    name: str, change: Any, message: str, study: Game, whole: Table, tmp_path: Path
) -> None:
    solved_until(study, tmp_path, LAST + 2)
    path = tmp_path / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(TableError, match=f"{name} {message}: remove it, and the same command makes it again"):
        LayerSolver(study, tmp_path, MEMORY).run()
    path.unlink()
    assert_same(LayerSolver(study, tmp_path, MEMORY).run(), whole)


def test_a_layer_that_cannot_be_made_again_is_missed(study: Game, tmp_path: Path) -> None:
    LayerSolver(study, tmp_path, MEMORY).run()
    (tmp_path / "5.solved").unlink()
    with pytest.raises(TableError, match=r"4.graph is missing, and other layers cannot do without it: remove"):
        LayerSolver(study, tmp_path, MEMORY).run()


def test_layers_of_another_game_are_refused(study: Game, tmp_path: Path) -> None:
    solved_until(study, tmp_path, 3)
    other = stonezoo.load_game("dara", **STUDY, quiet_limit=9)
    with pytest.raises(TableError, match=r"'quiet_limit': 100.*, not to .*'quiet_limit': 9.*to begin anew"):
        LayerSolver(other, tmp_path, MEMORY).run()


def test_a_limit_of_memory_is_obeyed_and_more_memory_goes_on(study: Game, whole: Table, tmp_path: Path) -> None:
    with pytest.raises(MemoryLimitError, match=r"the limit is 3 MB.*; the layers found so far are in "):
        LayerSolver(study, tmp_path, 3 << 20).run()
    assert (tmp_path / "4.graph").exists()
    assert_same(LayerSolver(study, tmp_path, MEMORY).run(), whole)


def test_what_lies_beyond_the_longest_path_is_found_too(
    study: Game, whole: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_module, "LAYER_DEPTH", 8)
    assert_same(LayerSolver(study, tmp_path, MEMORY).run(), whole)
