"""`stonezero match`: what it prints, writes and returns."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import stonezoo
from stonezero.arena import MatchResult, evaluate
from stonezero.arena.match_report import match_sheet
from stonezero.arena.result import Tally
from stonezero.cli import main
from stonezoo.players import make_player
from stonezoo.record import read_records

RIVE = ["--parameter", "board_size=3", "--balance", "none"]


def test_the_table_shows_wins_draws_and_losses_per_colour(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "uct:50", "random", *RIVE, "--games", "40"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    rows = {line.split("  ")[0].strip(): line for line in captured.out.splitlines()}
    counts = {name: [int(n) for n in re.findall(r"\d+", rows[name])[:3]] for name in rows if name.startswith("as ")}
    (everything,) = [line for line in captured.out.splitlines() if line.strip().startswith("all")]
    totals = [int(n) for n in re.findall(r"\d+", everything)[:3]]
    assert sum(totals) == 40
    assert [a + b for a, b in zip(*counts.values(), strict=True)] == totals
    assert "40 games, 40 distinct" in captured.out


def test_json_is_the_result_and_carries_no_games(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "uct:20", "random", *RIVE, "--games", "10", "--seed", "3", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    result = MatchResult.from_dict(values)
    assert (result.games, result.seed, result.openings.seed) == (10, 3, 3)
    assert sum(values["pairs"]) == 5
    assert values["sprt"] is None


@pytest.mark.parametrize(("required", "code"), [("0.5", 0), ("1", 1)])
def test_require_gives_the_exit_code(required: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    # uct:20 wins most games, but not all of these 60.
    assert main(["match", "uct:20", "random", *RIVE, "--games", "60", "--require", required, "--json"]) == code
    captured = capsys.readouterr()
    score = json.loads(captured.out)["score"]
    assert 0.5 < score < 1
    assert ("missed: uct:20 scored" in captured.err) == (code == 1)


def test_a_test_that_is_decided_ends_the_match(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "uct:100", "random", *RIVE, "--sprt", "0,100,0.1,0.1", "--games", "400", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["sprt"]["decision"] == "H1"
    assert values["games"] == 2 * values["sprt"]["pairs"] < 200
    assert main(["match", "random", "random", *RIVE, "--sprt", "0,10", "--games", "20"]) == 0
    assert "not decided after 10 pairs" in capsys.readouterr().out


def test_every_game_is_written_as_a_record_and_the_table_as_markdown(tmp_path: Path) -> None:
    records, table = tmp_path / "games.txt", tmp_path / "match.md"
    arguments = ["match", "uct:5", "random", *RIVE, "--games", "8", "--seed", "4"]
    assert main([*arguments, "--records", str(records), "--markdown", str(table)]) == 0
    with records.open() as stream:
        games = list(read_records(stream))
    assert [game.players for game in games] == [("uct:5", "random"), ("random", "uct:5")] * 4
    assert {game.seed for game in games} == {4}
    assert all(game.date for game in games)
    assert "| as Black |" in table.read_text()
    assert "random actions, seed 4" in table.read_text()
    assert not [file for file in tmp_path.iterdir() if file not in (records, table)]


def test_openings_come_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = stonezoo.load_game("rive", board_size=3)
    file, lines = tmp_path / "openings.txt", []
    for action in (0, 4):
        state = game.initial_state()
        state.step(action)
        lines.append(state.to_text())
    file.write_text("\n".join(lines))
    records = tmp_path / "games.txt"
    arguments = ["match", "uct:5", "random", *RIVE, "--openings", str(file), "--games", "4", "--records", str(records)]
    assert main(arguments) == 0
    assert f"openings: from {file}" in capsys.readouterr().out
    with records.open() as stream:
        assert [game.start for game in read_records(stream)] == [lines[0], lines[0], lines[1], lines[1]]


def test_repeated_games_are_refused_and_written_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "games.txt"
    player = "py:tests.stonezero.arena.faulty_players:first"
    arguments = ["match", player, player, *RIVE, "--games", "8", "--records", str(records)]
    assert main(arguments) == 2
    assert "only 4 of 8 games are distinct" in capsys.readouterr().err
    with records.open() as stream:
        assert len(list(read_records(stream))) == 8


def test_simulations_are_chosen_for_a_time_and_stated(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["match", "uct:1", "random", *RIVE, "--games", "4", "--seconds-per-move", "0.002", "--json"]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    values = json.loads(captured.out)
    assert values["seconds_per_move"] == 0.002
    assert re.fullmatch(r"uct:\d{2,}", values["player"])
    assert f"0.002 s a move: {values['player']} against random" in captured.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sprt", "5,1"], "must be below"),
        (["--require", "2"], "from 0 to 1"),
        (["--balance", "wide"], "--balance wide"),
        (["--balance", "0.9,0.1"], "band"),
        (["--records", "no/such/folder/games.txt"], "cannot be written"),
        (["--openings", "no-such-file"], "no-such-file"),
        (["--games", "0"], "games=0"),
        (["--seconds-per-move", "0"], "positive"),
        (["--seconds-per-move", "inf"], "at most"),
        (["--time-limit", "inf"], "time limit of inf s"),
        (["--openings", "/"], "cannot be read as a file of openings"),
        (["--sprt", "0,20000"], "between -2000 and 2000"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", "random", "random", "--parameter", "board_size=2", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["match", "tournament", "evaluate"])
def test_help_is_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert "--trust" in capsys.readouterr().out


def test_a_checkpoint_s_game_is_played_where_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--games", "2", "--balance", "none", "--json"]
    assert main(["match", "random", "resolve-5:1", *words]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["game"], result["parameters"]["board_size"]) == ("resolve", 5)
    assert main(["match", "rive-4:1", "random", "--parameter", "board_size=3", *words]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == {"board_size": 3}
    assert main(["match", "random", "random", "--parameter", "board_size=2", *words]) == 0
    assert json.loads(capsys.readouterr().out)["game"] == "rive"
    assert main(["match", "resolve-5:1", "random", "--game", "rive", *words]) == 2
    assert "rules" in capsys.readouterr().err


def test_who_loses_everything_is_infinitely_weaker() -> None:
    nobody, everything = Tally(0, 0, 4), Tally(4, 0, 0)
    game = stonezoo.load_game("rive", board_size=3)
    won = evaluate(make_player("uct:200", game), make_player("random", game), game, games=4, seed=1)
    assert (won.wins, won.as_black.wins) == (everything.wins, 2), "this seed's games are all won"
    lost = replace(won, wins=0, losses=4, score=0.0, low=0.0, high=1 - won.low, as_black=Tally(0, 0, 2))
    assert match_sheet(won).rows[0][6].startswith("+∞ [")
    assert match_sheet(won).rows[0][6].endswith(", +∞]")
    assert match_sheet(lost).rows[0][6].startswith("-∞ [-∞, ")
    assert match_sheet(lost).rows[0][1:4] == [str(nobody.wins), str(nobody.draws), str(nobody.losses)]
