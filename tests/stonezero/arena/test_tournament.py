"""Tournaments: who meets whom, ratings, and going on after a kill."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stonezoo
from stonezero.arena import RepeatedGamesError, evaluate, storage
from stonezero.arena import tournament as tournament_module
from stonezero.arena.isolation import open_contestant
from stonezero.arena.match_report import cross_sheet, rating_sheet, tournament_notes
from stonezero.arena.storage import TournamentError
from stonezero.arena.tournament import TournamentPlan, TournamentResult, pin_players, run_tournament
from stonezero.checkpoint import checkpoint_name
from stonezero.cli import main
from stonezero.run import TEMPORARY_PREFIX, write_atomic
from stonezoo.players import RandomPlayer
from stonezoo.record import read_records
from tests.stonezero.players.test_checkpoint import save

GAME = stonezoo.load_game("rive", board_size=3)
PLAN = TournamentPlan(("random", "uct:4", "uct:16"), "rive", {"board_size": 3}, games=12, seed=5)
ARGUMENTS = [
    "tournament",
    "random",
    "uct:4",
    "uct:16",
    "--parameter",
    "board_size=3",
    "--balance",
    "none",
    "--seed",
    "5",
]


def files(folder: Path) -> dict[str, float]:
    return {str(file.relative_to(folder)): file.stat().st_mtime_ns for file in folder.rglob("pairs/*/*.json")}


def test_everybody_meets_everybody_with_the_same_openings_and_is_rated(tmp_path: Path) -> None:
    result = run_tournament(replace(PLAN, seed=7), tmp_path / "t")
    assert [(match.player, match.opponent) for match in result.matches] == [
        ("random", "uct:4"),
        ("random", "uct:16"),
        ("uct:4", "uct:16"),
    ]
    for match in result.matches:
        assert [game.pair for game in match.results] == [k // 2 for k in range(12)]
        assert [game.player_is_black for game in match.results] == [True, False] * 6
        opening = match.openings.actions
        assert [game.actions[:opening] for game in match.results] == [
            game.actions[:opening] for game in result.matches[0].results
        ]
    first = result.matches[0]
    assert result.ratings.players[0].games == 24
    points = first.score * 12 + result.matches[1].score * 12
    assert result.ratings.players[0].score == pytest.approx(points / 24)
    assert result.ratings.players[2].elo > result.ratings.players[0].elo
    points_as_black = []
    for match in result.matches:
        for game in match.results:
            black = match.player if game.player_is_black else match.opponent
            if black == "random":
                points_as_black.append(float(game.winner == 0))
    totals = result.totals("random")
    assert totals["score_as_black"] == pytest.approx(sum(points_as_black) / 12)
    mine = result.totals("uct:4")
    as_black = (1 - first.as_white.score) * 6 + result.matches[2].as_black.score * 6  # six games in either meeting
    assert first.as_white.score != first.as_black.score
    assert mine["score_as_black"] == pytest.approx(as_black / 12)


def test_a_gauntlet_is_one_against_the_rest() -> None:
    plan = replace(PLAN, gauntlet="uct:4")
    assert plan.meetings == [(1, 0), (1, 2)]
    assert PLAN.meetings == [(0, 1), (0, 2), (1, 2)]


class StopError(Exception):
    pass


def interrupt_after(games: int):  # type: ignore[no-untyped-def]
    def progress(text: str, done: int, total: int) -> None:
        if done >= games:
            raise StopError

    return progress


def test_a_tournament_that_was_stopped_goes_on_and_comes_out_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    whole = run_tournament(PLAN, tmp_path / "whole")
    for games in (4, 10, 20, 30):
        with pytest.raises(StopError):
            run_tournament(PLAN, folder, concurrent=6, progress=interrupt_after(games))
        kept = files(folder)
        (folder / "pairs" / "0-1" / ".new-000099.json-abc").write_text('{"results": [')  # as a kill would leave it
    done: list[int] = []
    result = run_tournament(PLAN, folder, progress=lambda text, games, total: done.append(games))
    assert done[0] > 30
    assert result.matches == whole.matches
    assert result.ratings == whole.ratings
    after = files(folder)
    assert kept.items() <= after.items()  # what was finished has not been written again
    assert run_tournament(PLAN, folder) == result  # nothing left to play
    assert files(folder) == after


def test_a_full_disk_names_the_folder_and_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def write(path: Path, data: str) -> None:
        nonlocal written
        if (written := written + 1) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_atomic(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "write_atomic", write)
        with pytest.raises(
            TournamentError, match=r"pairs.* cannot be written: No space left .* the same command goes on"
        ):
            run_tournament(PLAN, tmp_path)
    kept = files(tmp_path)
    assert len(kept) == 2  # and the plan
    assert run_tournament(PLAN, tmp_path).matches == run_tournament(PLAN, tmp_path.with_name("whole")).matches
    assert kept.items() <= files(tmp_path).items()


def test_a_tournament_that_was_killed_before_its_plan_was_written_begins(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / f"{TEMPORARY_PREFIX}tournament.json-0123456789abcdef").write_text('{"format": ')
    run_tournament(replace(PLAN, games=2), tmp_path)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["lock", "pairs", "tournament.json"]


def test_another_plan_another_use_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    run_tournament(PLAN, folder)
    before = files(folder)
    with pytest.raises(TournamentError, match="its seed is 5, not 6"):
        run_tournament(replace(PLAN, seed=6), folder)
    with pytest.raises(TournamentError, match="its players is"):
        run_tournament(replace(PLAN, players=("random", "uct:4")), folder)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("")
    with pytest.raises(TournamentError, match="not empty and holds no tournament"):
        run_tournament(PLAN, tmp_path / "thesis")

    (tmp_path / "file").write_text("")
    with pytest.raises(TournamentError, match="is a file"):
        run_tournament(PLAN, tmp_path / "file")

    def second(text: str, done: int, total: int) -> None:
        with pytest.raises(TournamentError, match="another process plays"):
            run_tournament(PLAN, tmp_path / "u")

    run_tournament(PLAN, tmp_path / "u", progress=second)
    assert files(folder) == before


def test_a_pair_that_is_there_twice_or_torn_is_never_counted(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    run_tournament(PLAN, folder)
    file = next((folder / "pairs" / "0-2").glob("*.json"))
    copy = file.with_name("900000.json")
    copy.write_text(file.read_text())
    with pytest.raises(TournamentError, match=r"900000\.json holds pair \d+ a second time"):
        run_tournament(PLAN, folder)
    copy.write_text(file.read_text()[:100])
    with pytest.raises(TournamentError, match=r"900000\.json cannot be read"):
        run_tournament(PLAN, folder)
    copy.unlink()
    text = file.read_text()
    file.write_text(text.replace('"winner": 0', '"winner": 1', 1))
    with pytest.raises(TournamentError, match=rf"{file.name} cannot be read \(its digest differs\)"):
        run_tournament(PLAN, folder)
    file.write_text(text)
    plan = folder / "tournament.json"
    plan.write_text(plan.read_text().replace('"openings"', '"opeoings"'))
    with pytest.raises(TournamentError, match=r"tournament\.json cannot be read: its digest differs"):
        run_tournament(PLAN, folder)


def test_plans_that_cannot_be_played_are_refused() -> None:
    for change, said in [
        ({"players": ("random",)}, "two or more"),
        ({"players": ("random", "random")}, "random are there twice"),
        ({"games": 7}, "games=7"),
        ({"gauntlet": "uct:5"}, "gauntlet='uct:5'"),
        ({"opening_actions": -1}, "opening_actions=-1"),
        ({"time_limit": float("inf")}, "time limit of inf s"),
    ]:
        with pytest.raises(ValueError, match=said):
            replace(PLAN, **change)  # type: ignore[arg-type]


def test_a_meeting_whose_games_repeat_is_refused(tmp_path: Path) -> None:
    first = "py:tests.stonezero.arena.faulty_players:first"
    twin = "py:tests.stonezero.arena.faulty_players:raises"
    plan = replace(
        PLAN, game="resolve", parameters={"board_size": 3}, players=(first, twin), games=8, opening_actions=3
    )
    with pytest.raises(RepeatedGamesError, match="only 4 of 8 games are distinct"):
        run_tournament(plan, tmp_path / "t")


def test_a_player_that_fails_loses_its_own_games_only(tmp_path: Path) -> None:
    faulty = "py:tests.stonezero.arena.faulty_players:raises"
    result = run_tournament(replace(PLAN, players=("random", faulty, "uct:4")), tmp_path / "t")
    assert result.totals(faulty)["faults"]["crash"] > 0
    assert sum(result.totals("random")["faults"].values()) == 0
    assert any(f"{faulty} lost" in note and "RuntimeError" in note for note in tournament_notes(result))
    plain = evaluate(RandomPlayer(GAME), RandomPlayer(GAME), GAME, games=4)
    assert sum(plain.player_faults.values()) == 0


def test_the_command_writes_result_report_and_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "t"
    assert main([*ARGUMENTS, "--games", "12", "--output", str(folder), "--anchor", "random", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""  # no bar under a pipe
    values = json.loads(captured.out)
    assert values == json.loads((folder / "result.json").read_text())
    assert values["format"] == "stonezero/tournament@1"
    assert [rating["name"] for rating in values["ratings"]] == ["random", "uct:4", "uct:16"]
    assert values["ratings"][0]["elo"] == 0
    assert [match["games"] for match in values["matches"]] == [12, 12, 12]
    with (folder / "games.txt").open() as stream:
        records = list(read_records(stream))
    assert len(records) == 36
    assert records[0].players == ("random", "uct:4")
    assert records[0].seed == 5
    report = (folder / "report.md").read_text()
    assert "| uct:16 | +" in report
    assert "first player's advantage" in report
    assert main([*ARGUMENTS, "--games", "12", "--output", str(folder)]) == 0  # goes on: nothing to do
    assert "score of the row against the column" in capsys.readouterr().out
    assert main([*ARGUMENTS, "--games", "14", "--output", str(folder)]) == 2
    assert "its games is 12, not 14" in capsys.readouterr().err


def test_simulations_chosen_for_a_time_are_kept_when_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Measured anew, the numbers would differ and the plan be another.
    arguments = ["tournament", "uct:1", "random", "--gauntlet", "uct:1", "--parameter", "board_size=3", "--games", "4"]
    arguments += ["--seconds-per-move", "0.002", "--anchor", "uct:1", "--output", str(tmp_path / "t"), "--json"]
    assert main(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == first
    plan = first["plan"]
    assert plan["asked"] == ["uct:1", "random"]
    assert plan["players"] == [plan["gauntlet"], "random"]
    assert plan["gauntlet"] != "uct:1"
    assert [match["seconds_per_move"] for match in first["matches"]] == [0.002]
    assert first["ratings"][0]["elo"] == 0


def test_tables_show_the_best_player_first(tmp_path: Path) -> None:
    result = run_tournament(PLAN, tmp_path / "t")
    names = [row[0] for row in rating_sheet(result).rows]
    elos = [float(row[1]) for row in rating_sheet(result).rows]
    assert elos == sorted(elos, reverse=True)
    cross = cross_sheet(result)
    assert list(cross.headings)[1:] == names
    scores = {row[0]: row[1:] for row in cross.rows}
    assert float(scores["uct:4"][names.index("random")]) == pytest.approx(1 - result.matches[0].score, abs=1e-3)
    assert scores["random"][names.index("random")] == ""


@pytest.mark.slow
def test_a_tournament_killed_at_any_moment_goes_on_to_the_same_result(tmp_path: Path) -> None:
    arguments = [*ARGUMENTS, "--games", "60", "--output", str(tmp_path / "t")]
    for wanted in (1, 20, 45):
        process = subprocess.Popen([sys.executable, "-m", "stonezero", *arguments], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(files(tmp_path / "t")) < wanted and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert main([*arguments, "--json"]) == 0
    killed = json.loads((tmp_path / "t" / "result.json").read_text())
    assert main([*ARGUMENTS, "--games", "60", "--output", str(tmp_path / "whole"), "--json"]) == 0
    whole = json.loads((tmp_path / "whole" / "result.json").read_text())

    def timeless(value: object) -> object:
        if isinstance(value, dict):
            return {key: timeless(part) for key, part in value.items() if "seconds" not in key and "actions" not in key}
        return [timeless(part) for part in value] if isinstance(value, list) else value

    assert timeless(killed) == timeless(whole)
    assert (tmp_path / "t" / "games.txt").read_text() == (tmp_path / "whole" / "games.txt").read_text()


def test_what_came_out_needs_no_games_to_be_shown(tmp_path: Path) -> None:
    result = run_tournament(PLAN, tmp_path / "t")
    bare = TournamentResult(
        result.plan, result.rules_id, tuple(replace(match, results=()) for match in result.matches), result.ratings
    )
    assert bare.to_dict() == result.to_dict()


def test_the_game_is_that_of_the_gauntlet_s_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tournament", "random", "uct:2", "--gauntlet", "resolve-5:policy", "--games", "2", "--balance", "none"]
    assert main([*arguments, "--output", str(tmp_path / "t"), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert (plan["game"], plan["parameters"]["board_size"]) == ("resolve", 5)


def test_a_run_stands_for_the_checkpoint_that_was_its_newest_when_the_tournament_began(tmp_path: Path) -> None:
    checkpoints = tmp_path / "run" / "checkpoints"
    checkpoints.mkdir(parents=True)
    old = save(checkpoints / checkpoint_name(7), version=7)
    text = f"{tmp_path / 'run'}:policy"
    game = stonezoo.load_game("rive", board_size=2)
    assert pin_players(["random", text, f"{old}:2", "rive-4:4"], game) == {text: f"{old}:policy"}
    plan = TournamentPlan((text, "random"), "rive", {"board_size": 2}, games=4, seed=1)
    stop_after = tmp_path / "t"

    def stop(title: str, done: int, total: int) -> None:
        if title == "choosing openings":
            return
        raise StopError

    with pytest.raises(StopError):
        run_tournament(plan, stop_after, concurrent=1, progress=stop)
    save(checkpoints / checkpoint_name(12), seed=1, version=12)
    opened: list[str] = []

    def opening(what: str, *given: Any, **options: Any) -> Any:
        opened.append(what)
        return open_contestant(what, *given, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament_module, "open_contestant", opening)
        result = run_tournament(plan, stop_after)
    assert opened == [f"{old}:policy", "random"]
    assert result.matches[0].player == text
