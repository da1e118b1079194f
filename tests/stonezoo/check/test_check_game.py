"""`check_game` passes what is sound and finds each of many faults."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stonezoo.check import CHECKS, CheckError, check_game, load_subject
from stonezoo.cli import main

FOLDER = Path(__file__).parents[3] / "examples" / "twofold"
SCRIPT = Path(__file__).parent / "faulty.py"
FAULTS = {  # the class in faulty.py and the check that must fail
    "DescendingActions": "legality",
    "OccupiedIsLegal": "legality",
    "LegalityWrites": "legality",
    "DirtyMask": "legality",
    "FirstSquareDrawnTwice": "legality",
    "DirtyReset": "steps",
    "RestlessStep": "steps",
    "IdleStep": "steps",
    "NoEnd": "ends",
    "ShortBound": "ends",
    "OneStoneATurn": "referee",
    "LongerLine": "referee",
    "WinnerLoses": "referee",
    "UnwrittenPlane": "observations",
    "BlurredSquares": "observations",
    "BrightPlane": "observations",
    "BoardIsAView": "observations",
    "ForgetfulImage": "symmetries",
    "UnturnedActions": "symmetries",
    "HalfAGroup": "symmetries",
    "SilentPhase": "texts",
    "MutteredEnd": "texts",
    "SameNames": "protocol",
    "CarelessParameters": "protocol",
    "CrowdedPolicy": "protocol",
    "Wordy": "processes",
}
NAMES = tuple(FAULTS)


@functools.cache
def failing(names: tuple[str, ...]) -> dict[str, list[str]]:
    """The checks that fail, by class, found by a process that compiles nothing."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *names],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("first", range(0, len(NAMES), 3))
def test_each_fault_fails_the_check_that_looks_for_it(first: int) -> None:
    names = NAMES[first : first + 3]
    found = failing(names)
    assert set(found) == set(names)
    for name in names:
        assert FAULTS[name] in found[name], name


def test_a_sound_game_passes() -> None:
    assert failing(("Sound",)) == {"Sound": []}


def test_a_plane_that_tells_the_colours_apart_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = load_subject("resolve", {"board_size": 3}, plies=150)
    assert check_game(subject, only=["symmetries"]).passed
    monkeypatch.setattr(type(subject.game.rules), "colour_plane", None)
    (result,) = check_game(subject, only=["symmetries"]).results
    said = result.faults[0].message
    assert "transpose: what is seen of the image is not the image of what is seen" in said
    assert (
        "in the planes '1 if the observer is Black'; one that tells the colours apart must be named as colour_plane"
        in said
    )


@pytest.mark.parametrize("parameters", [{"board_size": 2}, {"board_size": 3}])
def test_our_own_games_pass(parameters: dict[str, Any]) -> None:
    for name in ("rive", "resolve"):
        report = check_game(load_subject(name, parameters, plies=150))
        assert report.passed, report.to_dict()
        assert [result.name for result in report.results if not result.passed] == ["referee"]
        assert report.seen["games"] > 0
        assert report.seen["results"]


def test_a_game_that_is_not_there_says_what_is() -> None:
    with pytest.raises(CheckError, match=r"no game named 'hex'; games are rive, resolve, dara"):
        load_subject("hex")
    with pytest.raises(CheckError, match=r"'no_such_module' cannot be imported"):
        load_subject("no_such_module:Rules")
    with pytest.raises(CheckError, match=r"has no 'Rules'"):
        load_subject("json:Rules")
    with pytest.raises(CheckError, match=r"json:loads is no class of rules"):
        load_subject("json:loads")
    with pytest.raises(CheckError, match=r"board_size: an integer from 2 to 8"):
        load_subject("rive", {"size": 3})
    with pytest.raises(CheckError, match=r"there is no check named 'speed'; checks are protocol, "):
        check_game(load_subject("rive", {"board_size": 2}, plies=10), only=["speed"])


def test_the_command_prints_what_fails_and_how_to_see_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check-game", "rive", "--parameter", "board_size=2", "--plies", "50", "--only", "referee"]
    monkeypatch.chdir(Path(__file__).parent)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main([*arguments, "--referee", "liar:Liar", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    (fault,) = told["checks"][0]["faults"][:1]
    assert "winner" in fault["message"] or "legal actions" in fault["message"]
    space: dict[str, Any] = {}
    exec(fault["how_to_see"], space)  # what the report says can be run
    assert space["state"].to_text() == fault["position"]
    assert main([*arguments, "--referee", "liar:Liar"]) == 1
    shown = capsys.readouterr().out
    assert "FAILED" in shown
    assert "stonezoo.load_game('rive', board_size=2).initial_state()" in shown
    assert main(["check-game", "rive", "--parameter", "board_size=2", "--plies", "20", "--only", "protocol"]) == 0
    assert main(["check-game", "nothing"]) == 2
    assert "no game named 'nothing'" in capsys.readouterr().err


def test_a_referee_that_plays_in_place_is_told_what_play_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    subject = load_subject("rive", {"board_size": 2}, plies=50, referee="liar:InPlace")
    (fault,) = check_game(subject, only=["referee"]).results[0].faults
    assert "the referee's play(action) must return a new position, not None" in fault.message


def test_every_check_is_named_once_and_listed_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert main(["check-game", "--help"]) == 0
    shown = capsys.readouterr().out
    for check in CHECKS:
        assert f"  {check.name}" in shown


@pytest.mark.slow
def test_a_compiled_step_that_writes_past_its_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code checks no bounds, so that plain Python would never come to play such a game."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    subject = load_subject("spilling:SpillingRules", {"size": 3, "line": 3}, plies=50)
    (result,) = check_game(subject, only=["steps"]).results
    assert any("writes beside its row" in fault.message for fault in result.faults)
