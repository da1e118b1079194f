"""The limit on endless play, layer by layer: the same report as in one piece, in less memory, and never begun anew."""

from pathlib import Path
from typing import Any

import pytest

import stonezoo
from stonezoo.solve import MemoryLimitError, TableError
from stonezoo.solve.layer_file import GRAPH, LayerFiles, under
from stonezoo.solve.layers import LayerSolver
from stonezoo.solve.limits import LimitReport, limit_report
from stonezoo.state import Game
from tests.stonezoo.solve.test_layers import (
    BOARDS,
    LARGE_BOARDS,
    LAST,
    MEMORY,
    STUDY,
    Table,
    assert_same,
    name_of,
    stop_at_file,
)

LARGER_BOARDS: list[tuple[str, dict[str, Any]]] = [
    *(("resolve", {"board_size": 4, "rules": rules}) for rules in ("standard", "original")),
    *LARGE_BOARDS,
    *(
        ("dara", {"rows": 4, "columns": 4, "stones": stones, "rules": rules})
        for stones in (6, 7)
        for rules in ("standard", "no_drop_threes")
    ),
]


@pytest.fixture(scope="module")
def study() -> Game:
    return stonezoo.load_game("dara", **STUDY)


@pytest.fixture(scope="module")
def whole(study: Game) -> LimitReport:
    return limit_report(study)


@pytest.mark.parametrize("board", [*BOARDS, ("resolve", {"board_size": 2}), ("rive", {"board_size": 2})], ids=name_of)
def test_the_report_is_the_one_that_is_made_in_one_piece(board: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    game = stonezoo.load_game(board[0], **board[1])
    assert LayerSolver(game, tmp_path, MEMORY).limit_report() == limit_report(game)


@pytest.mark.slow
@pytest.mark.parametrize("board", LARGER_BOARDS, ids=name_of)
def test_the_report_of_a_larger_board_is_too(board: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    game = stonezoo.load_game(board[0], **board[1])
    assert LayerSolver(game, tmp_path, MEMORY).limit_report() == limit_report(game)


def test_it_takes_less_memory_than_one_piece(study: Game, whole: LimitReport, tmp_path: Path) -> None:
    memory = 5 << 20
    with pytest.raises(MemoryLimitError):
        limit_report(study, memory)
    assert LayerSolver(study, tmp_path, memory).limit_report() == whole


def test_a_limit_is_not_looked_at_where_a_smaller_one_draws_nothing(
    study: Game, whole: LimitReport, tmp_path: Path
) -> None:
    LayerSolver(study, tmp_path, MEMORY).limit_report()
    files = LayerFiles(study, tmp_path)
    assert [limit for limit in whole.looks if files.has(under(limit), LAST)] == [1, 2, 4, 8, 16]
    assert [limit for limit in whole.looks if files.has(under(limit), 0)] == list(whole.looks)
    assert max(whole.looks) == 32


@pytest.mark.parametrize("number", [1, 2 * LAST + 1, 2 * (LAST + 1), 2 * (LAST + 1) + 5, 4 * (LAST + 1)])
def test_a_report_that_was_stopped_goes_on_after_the_last_layer_that_was_done(
    number: int, study: Game, whole: LimitReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        before = stop_at_file(number, patch)
        with pytest.raises(KeyboardInterrupt):
            LayerSolver(study, tmp_path, MEMORY).limit_report()
    written = stop_at_file(-1, monkeypatch)
    assert LayerSolver(study, tmp_path, MEMORY).limit_report() == whole
    assert not set(before) & set(written)
    assert len({*before, *written}) == len(list(tmp_path.iterdir()))


def test_what_a_stopped_table_left_is_gone_on_from(
    study: Game, whole: LimitReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Graphs of layers that are solved are gone, and are made again; the others are not."""
    with pytest.MonkeyPatch.context() as patch:
        stop_at_file(LAST + 4, patch)
        with pytest.raises(KeyboardInterrupt):
            LayerSolver(study, tmp_path, MEMORY).run()
    written = stop_at_file(-1, monkeypatch)
    assert LayerSolver(study, tmp_path, MEMORY).limit_report() == whole
    graphs = [name for name in written if name.endswith(GRAPH)]
    assert graphs == [f"{layer}.graph" for layer in range(LAST - 2, LAST + 1)]


def test_the_table_may_follow_and_finds_all_layers_solved(
    study: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LayerSolver(study, tmp_path, MEMORY).limit_report()
    written = stop_at_file(-1, monkeypatch)
    assert_same(LayerSolver(study, tmp_path, MEMORY).run(), Table.build(study))
    assert written == []
    assert not list(tmp_path.glob("*.graph"))


def test_a_damaged_file_is_refused_and_made_again_once_it_is_removed(
    study: Game, whole: LimitReport, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stop_at_file(2 * (LAST + 1) + 3, patch)
        with pytest.raises(KeyboardInterrupt):
            LayerSolver(study, tmp_path, MEMORY).limit_report()
    path = LayerFiles(study, tmp_path).path(under(1), LAST - 2)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(TableError, match=f"{path.name} is damaged: remove it, and the same command makes it again"):
        LayerSolver(study, tmp_path, MEMORY).limit_report()
    path.unlink()
    assert LayerSolver(study, tmp_path, MEMORY).limit_report() == whole
