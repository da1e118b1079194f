"""The command `stonezoo`: what it prints, what it counts, and how it refuses."""

import argparse
import json
import os
import shlex
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo.kernels
from stonezoo import load_game
from stonezoo.cli import COMMANDS, bench, build_parser, main, measure, warmup
from stonezoo.cli.command import Command
from stonezoo.core.jit import INTERPRETED, Kernel
from stonezoo.games import BUILT_IN, game_names, rules_class
from stonezoo.games.usual import usual_parameters
from stonezoo.render import to_rgb_array
from stonezoo.render.png import to_png

Capture = pytest.CaptureFixture[str]


def run(arguments: str | list[str]) -> int:
    return main(arguments.split() if isinstance(arguments, str) else arguments)


def output(arguments: str | list[str], capsys: Capture) -> str:
    assert run(arguments) == 0
    return capsys.readouterr().out


# Counts of the rules pages.
COUNTS = [
    ("rive --board-size 2", [7, 24, 72, 204, 600, 1296, 2496]),
    ("rive --board-size 3", [19, 258, 2340, 12768, 38880, 210240]),
    ("resolve --board-size 3", [9, 72, 504, 3024, 15024, 57360, 162720, 280512, 310656, 226800]),
    ("resolve --board-size 3 --rules original", [9, 72, 504, 3024, 15024, 57360, 162720, 280512, 311232, 230832]),
    ("resolve --board-size 3 --turns", [9, 72, 504, 3056, 15600, 63696, 196128, 384864, 323472]),
    ("resolve --board-size 4", [16, 240, 3360, 43680]),
    ("resolve --board-size 4 --turns", [16, 240, 3360, 43752]),
    ("dara", [30, 870, 24360, 657720]),
    ("dara --rows 3 --columns 3 --stones 3", [9, 72, 504, 3024, 15120, 60480, 181440, 518832]),
    (
        "dara --rows 3 --columns 3 --stones 3 --rules no_drop_threes",
        [9, 72, 504, 3024, 14040, 52272, 158112, 470016],
    ),
]


@pytest.mark.parametrize(("options", "counts"), COUNTS, ids=[options for options, _ in COUNTS])
def test_perft_counts_what_the_rules_pages_say(options: str, counts: list[int], capsys: Capture) -> None:
    found = json.loads(output(f"perft {options} --depth {len(counts)} --json", capsys))
    assert found["counts"] == counts
    assert len(found["seconds"]) == len(counts)
    assert found["unit"] == ("turns" if "--turns" in options else "actions")


@pytest.mark.slow
def test_perft_of_dara_to_five_actions(capsys: Capture) -> None:
    assert json.loads(output("perft dara --depth 5 --json", capsys))["counts"][-1] == 17100720


@pytest.mark.parametrize(("options", "counts"), COUNTS, ids=[options for options, _ in COUNTS])
def test_the_parts_of_a_divided_perft_add_up(options: str, counts: list[int], capsys: Capture) -> None:
    depth = min(len(counts), 5)
    found = json.loads(output(f"perft {options} --depth {depth} --divide --json", capsys))
    assert sum(found["divide"].values()) == counts[depth - 1]
    assert len(found["divide"]) == counts[0]


def test_a_division_in_mid_turn_counts_the_rest_of_the_turn_as_one(capsys: Capture) -> None:
    text = "X./.X./.O b phase=remove stone=b2 remove=1"
    for options in ("", "--turns"):
        whole = json.loads(
            output(
                ["perft", "rive", "--board-size=2", "--depth=2", "--json", "--position", text, *options.split()], capsys
            )
        )
        parts = json.loads(
            output(
                [
                    "perft",
                    "rive",
                    "--board-size=2",
                    "--depth=2",
                    "--divide",
                    "--json",
                    "--position",
                    text,
                    *options.split(),
                ],
                capsys,
            )
        )
        assert list(parts["divide"]) == ["xc1", "xa2"]
        assert sum(parts["divide"].values()) == whole["counts"][1] > 0


def test_a_turn_that_ends_the_game_before_its_chain_counts_as_whole(capsys: Capture) -> None:
    """S8: the stone on b2 joins top and bottom, and is in a crosscut that nobody resolves any more."""
    position = ["--board-size=3", "--position", "OXO/X.O/XOX b", "--turns", "--depth=1", "--json"]
    assert json.loads(output(["perft", "resolve", *position], capsys))["counts"] == [1]
    assert json.loads(output(["perft", "resolve", *position, "--divide"], capsys))["divide"] == {"b2": 1}


def test_perft_prints_a_line_a_depth(capsys: Capture) -> None:
    lines = output("perft rive --board-size 2 --depth 3", capsys).splitlines()
    assert lines[0] == "rive/standard@1 ../.../.. b"
    assert [line.split()[:2] for line in lines[2:]] == [["1", "7"], ["2", "24"], ["3", "72"]]


def test_show_draws_the_position_and_names_the_legal_actions(capsys: Capture) -> None:
    text = output(["show", "resolve", "--board-size", "3", "XO./OX./..X b phase=swap stone=b2"], capsys)
    assert "3  X?O .\n2 ?O*X .\n1  . . X\n" in text
    assert "to play:   Black" in text
    assert "phase:     swap" in text
    assert "legal:     b3 a2  (2)" in text
    assert "position:  XO./OX./..X b phase=swap stone=b2" in text


def test_show_says_when_a_game_is_over(capsys: Capture) -> None:
    text = output(["show", "resolve", "--board-size", "3", "XXX/OOO/... w last=swap"], capsys)
    assert "over:      White has won" in text
    assert "legal:" not in text
    assert "over:      draw" in output(["show", "resolve", "--board-size=3", "XXO/OXX/XOO b full=9"], capsys)


def test_show_without_a_position_shows_the_start_of_the_game(capsys: Capture) -> None:
    for name in BUILT_IN:
        assert load_game(name).initial_state().to_text() in output(f"show {name}", capsys)


def test_show_prints_json_and_writes_pictures(tmp_path: Path, capsys: Capture) -> None:
    text = "XO./OX./..X b phase=swap stone=b2"
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    options = ["--svg", str(svg), "--png", str(png), "--height", "100", "--json"]
    found = json.loads(output(["show", "resolve", "--board-size", "3", text, *options], capsys))
    state = load_game("resolve", board_size=3).parse_state(text)
    assert found["position"] == text
    assert found["legal_actions"] == [1, 3]
    assert found["legal_action_names"] == ["b3", "a2"]
    assert found["marks"] == {"stone": ["b2"], "swapped": []}
    assert (found["phase"], found["to_play"], found["terminated"], found["winner"]) == ("swap", 0, False, -1)
    assert found["board"] == state.board.tolist()
    assert ET.parse(svg).getroot().tag.endswith("svg")
    np.testing.assert_array_equal(read_png(png.read_bytes()), to_rgb_array(state, 100))


def read_png(data: bytes) -> NDArray[np.uint8]:
    """A strict reader of what `to_png` writes."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length]) == (zlib.crc32(kind + body),)
        chunks[kind] = body
        place += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 2, 0, 0, 0]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_png_files_hold_any_image() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8)
    np.testing.assert_array_equal(read_png(to_png(pixels)), pixels)


def test_games_lists_every_parameter_with_what_it_accepts(capsys: Capture) -> None:
    text = output("games", capsys)
    found = json.loads(output("games --json", capsys))
    assert list(found) == game_names()
    for name in game_names():
        for parameter, entry in zip(rules_class(name).parameters, found[name], strict=True):
            assert parameter.accepted in text
            assert entry["name"] == parameter.name
            assert entry["default"] == parameter.default


BAD = [
    ("", "the following arguments are required"),
    ("chess", "invalid choice: 'chess'"),
    ("show", "the following arguments are required: GAME"),
    ("show chess", "invalid choice: 'chess'"),
    ("show rive --board-size 99", "board_size=99 is not accepted: board_size must be an integer from 2 to 8"),
    ("show rive --board-size x", "invalid int value: 'x'"),
    ("show rive --stones 3", "unrecognized arguments: --stones"),
    ("show resolve --rules drunk", "rules='drunk' is not accepted"),
    ("show dara --rows 2 --columns 2", "stones=12 leaves no cell of 2 x 2 empty"),
    ("show rive X", "a position is a board and a player"),
    ("show rive --svg /no/such/folder/a.svg", "cannot write /no/such/folder/a.svg"),
    ("show rive --png /no/such/folder/a.png", "cannot write /no/such/folder/a.png"),
    ("show rive --height 1 --png a.png", "--height"),
    ("show rive --height 0", "'0' is not a whole number of at least 1"),
    ("perft rive --depth 0", "'0' is not a whole number of at least 1"),
    ("perft rive --depth -3", "'-3' is not a whole number of at least 1"),
    ("perft rive --position nothing", "a position is a board and a player"),
    ("bench --seconds 0", "'0' is not a positive number of seconds"),
    ("bench --seconds nan", "'nan' is not a positive number of seconds"),
    ("warmup chess", "there is no game named 'chess'"),
    ("show rive --png a.png --height 100000000", "not enough memory"),
    ("check-game rive --parameter board_size=--3", "board_size='--3' is not accepted"),
    ("check-game rive --parameter board_size=²", "board_size='²' is not accepted"),
    ("check-game rive --seed -1", "'-1' is not a whole number of at least 0"),
    ("truth rive --seed -1", "'-1' is not a whole number of at least 0"),
    ("probe resolve-5 random --seed -1", "'-1' is not a whole number of at least 0"),
    ("make-probes rive --output /dev/null/a", "cannot write /dev/null/a: Not a directory"),
    ("make-probes rive --output /", "cannot write /: it is a folder"),
    ("solve rive --output /dev/null/a", "cannot write /dev/null/a: Not a directory"),
    ("make-probes rive --output a --seed x", "'x' is not a whole number of at least 0"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[arguments for arguments, _ in BAD])
def test_bad_input_is_one_line_on_stderr_and_exit_code_2(arguments: str, message: str, capsys: Capture) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if not line.startswith("stonezoo: compiling")]
    assert len(lines) == 1
    assert lines[0].startswith("stonezoo")
    assert ": error: " in lines[0]
    assert message in lines[0]
    assert captured.out == ""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command: Command, capsys: Capture) -> None:
    assert command.summary in output("--help", capsys)
    assert "usage: stonezoo " + command.name in output(f"{command.name} --help", capsys)


@pytest.mark.parametrize("command", ["show", "perft", "bench"])
@pytest.mark.parametrize("name", BUILT_IN)
def test_the_parameters_of_a_game_are_options_by_themselves(command: str, name: str, capsys: Capture) -> None:
    text = " ".join(output(f"{command} {name} --help", capsys).split())
    for parameter in rules_class(name).parameters:
        assert "--" + parameter.name.replace("_", "-") in text
        assert f"{parameter.accepted} (default {parameter.default})" in text


def test_options_of_bench_may_stand_before_or_after_the_game() -> None:
    for arguments in ("bench --seconds 3 --json rive", "bench rive --seconds 3 --json"):
        found: argparse.Namespace = build_parser().parse_args(arguments.split())
        assert (found.seconds, found.json, found.game) == (3.0, True, "rive")
    found = build_parser().parse_args(["bench"])
    assert (found.seconds, found.json, found.game) == (bench.DEFAULT_SECONDS, False, None)


def test_bench_measures_everything_once(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(measure, "BOARDS", 4)
    monkeypatch.setattr(measure, "UCT_SIMULATIONS", 10)
    monkeypatch.setattr(measure, "PERFT_SECONDS", 1e-6)
    found = json.loads(output("bench --seconds 0.0001 rive --board-size 2 --json", capsys))
    assert found["hardware"]
    assert found["clock"]
    assert [row["what"] for row in found["rows"]] == [
        "random play in the engine",
        "perft 2",
        "batch, engine chooses, 4 boards",
        "batch, numpy chooses, 4 boards",
        "State.step",
        "UCT from the start",
        "AEC, documented loop",
        "AEC, numpy chooses",
    ]
    for row in found["rows"]:
        assert row["parameters"] == {"board_size": 2}
        assert 0 < row["low"] <= row["median"] <= row["high"]
    monkeypatch.setattr(measure, "environment_module", lambda name: None)
    assert "State.step" in output("bench --seconds 0.0001 rive --board-size 2", capsys)


def test_usual_parameters_are_parameters_of_their_games() -> None:
    for name in BUILT_IN:
        for parameters in usual_parameters(name):
            load_game(name, **parameters)
    assert usual_parameters("something new") == ({},)


def test_a_rate_is_the_median_over_repeats_of_the_works_own_count() -> None:
    rate = measure.measure(measure.Benchmark("nothing", "steps", lambda: 7), 0.001, repeats=3)
    assert rate.unit == "steps/s"
    assert 0 < rate.low <= rate.median <= rate.high
    assert rate.repeats == 3


def kernels() -> dict[str, Kernel]:
    """Every kernel of the package, by module and name."""
    found = {}
    for path in sorted(Path(stonezoo.kernels.__path__[0]).glob("[a-z]*.py")):
        module = __import__(f"stonezoo.kernels.{path.stem}", fromlist=["x"])
        found |= {f"{path.stem}.{name}": value for name, value in vars(module).items() if isinstance(value, Kernel)}
    return found


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_warmup_uses_every_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[int] = set()
    original = Kernel.__call__

    def noted(self: Kernel, *args: Any) -> Any:
        used.add(id(self))
        return original(self, *args)

    monkeypatch.setattr(Kernel, "__call__", noted)
    for _, step in warmup.warmup_steps(load_game("resolve", board_size=2)):
        step()
    assert len(kernels()) > 5
    assert {name for name, kernel in kernels().items() if id(kernel) not in used} == set()


def test_warmup_says_how_long_it_took_and_where_the_code_is(capsys: Capture, tmp_path: Path) -> None:
    text = output("warmup rive", capsys)
    assert text.startswith("ready in ")
    assert "rive; compiled code in /" in text


def test_cache_shows_and_clears_only_what_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("STONEZOO_CACHE_DIR", str(tmp_path))
    (tmp_path / "rive-0123456789abcdef").mkdir()
    (tmp_path / "rive-0123456789abcdef" / "code.nbc").write_bytes(b"x" * 2_000_000)
    (tmp_path / "rive-0123456789abcdef.lock").touch()
    (tmp_path / "notes").mkdir()
    assert "1 folders, 2.0 MB" in output("cache", capsys)
    assert "cleared" in output("cache --clear", capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
    monkeypatch.setenv("STONEZOO_CACHE_DIR", str(tmp_path / "nothing"))
    assert "0 folders" in output("cache", capsys)


def command_line(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stonezoo", *arguments], capture_output=True, text=True, timeout=300, **options
    )


def test_python_m_stonezoo_is_the_command() -> None:
    done = command_line("show", "resolve", "--board-size", "3", "XO./O../..X b")
    assert done.returncode == 0
    assert "legal:     c3 b2 c2 a1 b1  (5)" in done.stdout
    done = command_line("show", "resolve", "QQ")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "stonezoo", "perft", "rive", "--board-size", "3", "--depth", "6"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_output_that_cannot_be_written_is_one_line_with_code_2() -> None:
    for redirection, code in ((">/dev/full", 2), (">&-", 0)):
        command = f"{shlex.quote(sys.executable)} -m stonezoo games {redirection}"
        done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, timeout=300)
        assert done.returncode == code, done.stderr
        lines = done.stderr.splitlines()
        assert lines == (["stonezoo games: error: No space left on device"] if code else [])
