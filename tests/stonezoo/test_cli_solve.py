"""The command `stonezoo solve`."""

import json
import os
import time
from pathlib import Path

import pytest

from stonezoo.cli import main
from stonezoo.cli import solve as solve_module
from stonezoo.solve import Table, TableError
from stonezoo.solve import graph as graph_module
from stonezoo.solve import table as table_module
from stonezoo.solve.layers import LayerSolver
from stonezoo.solve.table_file import FOLDER_VARIABLE
from stonezoo.solve.walk import NUM_NODES

DARA = ["solve", "dara", "--rows", "3", "--columns", "4", "--stones", "3"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "tables"))
    return tmp_path / "tables"


class Killed(BaseException):
    """What nobody catches."""


def no_room(path: Path, *_: object) -> None:
    raise TableError(f"cannot write {path}: No space left on device")


def solved(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_it_prints_the_value_the_board_and_the_actions_by_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "rive", "--board-size", "2"]) == 0
    out = capsys.readouterr().out
    assert "Black to act: win in 7" in out
    assert "   - -\n  - + -\n   - -\n" in out
    assert "loss in 11" in out
    assert "215 positions" in out


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    found = solved(capsys, "solve", "rive", "--board-size", "2")
    assert (found["value"], found["distance"], found["method"], found["positions"]) == (1, 7, "table", 215)
    assert found["actions"]["b2"] == {"value": 1, "distance": 7}
    assert found["rules_id"] == "rive/standard@1"
    assert found["picture"] == [" - -", "- + -", " - -"]


def test_a_position_is_searched_and_the_search_agrees_with_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    position = ["--position", "XO./O../..X b", "--memory", "1M"]
    searched = solved(capsys, "solve", "resolve", "--board-size", "3", *position)
    tabled = solved(capsys, "solve", "resolve", "--board-size", "3", *position, "--method", "table")
    assert (searched["method"], tabled["method"]) == ("search", "table")
    assert searched["value"] == tabled["value"]
    values = {name: found["value"] for name, found in tabled["actions"].items()}
    assert {name: found["value"] for name, found in searched["actions"].items()} == values


def test_a_kept_table_is_asked_the_next_time(
    capsys: pytest.CaptureFixture[str], own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = solved(capsys, *DARA, "--save")
    path = own_folder / "dara-3-4-3-standard-100.table"
    assert first["file"] == str(path)
    assert path.exists()
    monkeypatch.setattr(solve_module, "_make_table", None)
    again = solved(capsys, *DARA, "--position", "X.../..../.... w hand=2,3")
    assert (again["method"], again["value"]) == ("table", 1)


def test_a_kept_search_is_where_the_next_one_begins(capsys: pytest.CaptureFixture[str], own_folder: Path) -> None:
    words = ["solve", "rive", "--board-size", "2", "--method", "search", "--memory", "1M"]
    assert solved(capsys, *words)["file"] is None
    first = solved(capsys, *words, "--save")
    assert first["file"] == str(own_folder / "rive-2.search")
    assert [path.name for path in own_folder.iterdir()] == ["rive-2.search"]
    again = solved(capsys, *words)
    assert (again["value"], again["nodes"]) == (1, first["nodes"]), "nothing had to be searched"
    anew = solved(capsys, *words, "--again")
    assert (anew["actions"], anew["nodes"]) == (first["actions"], first["nodes"])


def test_output_names_the_file(capsys: pytest.CaptureFixture[str], own_folder: Path, tmp_path: Path) -> None:
    found = solved(capsys, *DARA, "--output", str(tmp_path / "mine"))
    assert found["file"] == str(tmp_path / "mine")
    assert not own_folder.exists()


def test_an_interrupted_command_goes_on_where_it_was(
    capsys: pytest.CaptureFixture[str], own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["solve", "rive", "--board-size", "2"]
    monkeypatch.setattr(graph_module, "BUDGET", 50)
    finish = Table.finish

    def interrupted(builder: graph_module.Builder, **options: object) -> Table:
        if not builder.waiting:  # only compiles
            return finish(builder)

        def stop(graph: graph_module.Graph) -> None:
            if graph.sizes[NUM_NODES] > 100:
                raise KeyboardInterrupt

        builder.run(stop)
        raise AssertionError("it was to be interrupted")

    monkeypatch.setattr(Table, "finish", interrupted)
    assert main(words) == 130
    assert "the same command goes on from" in capsys.readouterr().err
    (partial,) = own_folder.iterdir()
    monkeypatch.setattr(Table, "finish", finish)
    kept = partial.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(table_module, "save_arrays", no_room)
        assert main([*words, "--save"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert partial.read_bytes() == kept  # until the table itself is there
    assert main([*words, "--json"]) == 0
    captured = capsys.readouterr()
    assert f"going on from {partial}" in captured.err
    assert json.loads(captured.out)["positions"] == 215
    assert not partial.exists()


def test_an_interrupted_command_goes_on_layer_by_layer(
    capsys: pytest.CaptureFixture[str], own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(solver: LayerSolver, layers: list[int]) -> Table:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LayerSolver, "_table", interrupted)
        assert main(DARA) == 130
    assert "the same command goes on from" in capsys.readouterr().err
    (folder,) = own_folder.iterdir()
    assert folder.name == "dara-3-4-3-standard-100.table.layers"
    assert main([*DARA, "--json"]) == 0
    captured = capsys.readouterr()
    assert f"going on from {folder}" in captured.err
    assert json.loads(captured.out)["positions"] == 7863
    assert not folder.exists()


@pytest.mark.parametrize("removed", range(4))
@pytest.mark.parametrize("more", [[], ["--save"]], ids=["asked", "kept"])
def test_a_kill_while_layers_are_removed_leaves_what_the_same_command_goes_on_from(
    more: list[str],
    removed: int,
    capsys: pytest.CaptureFixture[str],
    own_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = ["solve", "resolve", "--board-size", "2", *more]
    whole = solved(capsys, *command)
    for path in own_folder.glob("*"):
        path.unlink()
    unlink, left = os.unlink, removed

    def killed(path: str | Path, **options: int) -> None:
        nonlocal left
        if str(path).endswith(".solved"):
            if left == 0:
                raise Killed
            left -= 1
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", killed)
    with pytest.raises(Killed):
        main(command)
    monkeypatch.setattr(os, "unlink", unlink)
    (folder,) = own_folder.glob("*.layers")
    assert len(list(folder.iterdir())) == 5 - removed
    again = solved(capsys, *command)
    assert {name: again[name] for name in ("value", "distance", "actions", "positions")} == {
        name: whole[name] for name in ("value", "distance", "actions", "positions")
    }
    assert not folder.exists()


def test_layers_that_are_newer_than_a_kept_table_stay(capsys: pytest.CaptureFixture[str], own_folder: Path) -> None:
    solved(capsys, *DARA, "--save")
    (table,) = own_folder.iterdir()
    begun = table.with_name(table.name + solve_module.LAYERS) / "0.graph"
    begun.parent.mkdir()
    begun.write_bytes(b"by --again")
    os.utime(begun, (time.time() + 10, time.time() + 10))
    solved(capsys, *DARA, "--save")
    assert begun.exists()
    os.utime(begun, (0, 0))
    solved(capsys, *DARA)
    assert begun.exists()
    solved(capsys, *DARA, "--save")
    assert list(own_folder.iterdir()) == [table]


def test_a_limit_of_memory_is_one_line_that_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "resolve", "--board-size", "5", "--memory", "2M"]) == 2
    error = capsys.readouterr().err
    assert "are needed to go on after" in error
    assert "and the limit is 2 MB; allow more memory" in error


def test_a_limit_of_nodes_ends_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["solve", "resolve", "--board-size", "5", "--method", "search", "--memory", "1M", "--max-nodes", "1000"]
    assert main(arguments) == 1
    assert "not solved after" in capsys.readouterr().err


def test_nonsense_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "rive", "--memory", "much"]) == 2
    assert "'much' is no amount of memory, such as 4G or 500M" in capsys.readouterr().err
    assert main(["solve", "dara", "--disk", "much"]) == 2
    assert "argument --disk: 'much' is no amount of disk, such as 20G or 500M" in capsys.readouterr().err
    assert main(["solve", "rive", "--board-size", "2", "--position", "X b"]) == 2
    assert "1 rows where this board has 3" in capsys.readouterr().err


def test_limits_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DARA, "--limits"]) == 0
    out = capsys.readouterr().out
    assert "From a limit of 6 on the start" in out
    assert "from 11 on all positions have." in out
    assert main(["solve", "rive", "--board-size", "2", "--limits"]) == 0
    assert "there is no limit" in capsys.readouterr().out
    found = solved(capsys, *DARA, "--limits")
    assert (found["enough"], found["start_enough"]) == (11, 6)


def test_an_interrupted_look_at_limits_goes_on_layer_by_layer(
    capsys: pytest.CaptureFixture[str], own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(solver: LayerSolver, layers: list[int], limit: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LayerSolver, "_look", interrupted)
        assert main([*DARA, "--limits"]) == 130
    assert "the same command goes on from" in capsys.readouterr().err
    (folder,) = own_folder.iterdir()
    assert folder.name == "dara-3-4-3-standard-100.table.limits"
    table_begun = folder.with_suffix(".layers")
    table_begun.mkdir()
    assert main([*DARA, "--limits", "--json"]) == 0
    captured = capsys.readouterr()
    assert f"going on from {folder}" in captured.err
    assert json.loads(captured.out)["enough"] == 11
    assert list(own_folder.iterdir()) == [table_begun]


def test_limits_leave_the_table_too_if_it_is_to_be_kept(capsys: pytest.CaptureFixture[str], own_folder: Path) -> None:
    assert solved(capsys, *DARA, "--limits", "--save")["enough"] == 11
    assert [path.name for path in own_folder.iterdir()] == ["dara-3-4-3-standard-100.table"]
    found = solved(capsys, *DARA)
    assert (found["positions"], found["value"]) == (7863, 0)


@pytest.mark.parametrize(("more", "suffix"), [([], "layers"), (["--limits"], "limits")], ids=["table", "limits"])
def test_a_limit_of_disk_is_one_line_and_what_is_finished_stays(
    more: list[str], suffix: str, capsys: pytest.CaptureFixture[str], own_folder: Path
) -> None:
    assert main([*DARA, *more, "--disk", "100K"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]  # before it, perhaps, that something is compiled
    folder = own_folder / f"dara-3-4-3-standard-100.table.{suffix}"
    assert error.startswith("stonezoo solve")
    assert f"more are needed in {folder}" in error
    assert "and the limit is 100 kB; allow more disk" in error
    assert (folder / "0.graph").exists()
    assert main([*DARA, *more, "--disk", "10M"]) == 0
    assert f"going on from {folder}" in capsys.readouterr().err
    assert list(own_folder.iterdir()) == []


def test_slides_have_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    found = solved(capsys, *DARA, "--position", "XXO./.OX./O... b", "--memory", "1M")
    assert found["picture"] == []
    assert all("-" in name for name in found["actions"])


def test_a_search_that_is_not_done_is_kept_too_and_the_next_one_goes_on(
    capsys: pytest.CaptureFixture[str], own_folder: Path
) -> None:
    words = ["solve", "rive", "--board-size", "2", "--method", "search", "--memory", "1M"]
    whole = solved(capsys, *words)
    assert main([*words, "--max-nodes", "30", "--save"]) == 1
    assert "what was found is kept" in capsys.readouterr().err
    assert [path.name for path in own_folder.iterdir()] == ["rive-2.search"]
    later = solved(capsys, *words)
    assert (later["value"], later["actions"]) == (whole["value"], whole["actions"])
    assert later["nodes"] > 30
    assert main([*words, "--max-nodes", "30", "--again"]) == 1
    assert "is kept" not in capsys.readouterr().err


def test_a_file_for_a_table_is_refused_where_a_search_is_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["solve", "rive", "--board-size", "2", "--method", "search", "--output", str(tmp_path / "mine")]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert "it keeps a table" in error
    assert "rive-2.search" in error


def test_a_damaged_table_is_refused(capsys: pytest.CaptureFixture[str], own_folder: Path) -> None:
    words = ["solve", "rive", "--board-size", "2"]
    solved(capsys, *words, "--save")
    (path,) = own_folder.iterdir()
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)
    assert main(words) == 2
    assert "is damaged" in capsys.readouterr().err
