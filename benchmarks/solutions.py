"""Solves the small boards and writes docs/solutions.md: python benchmarks/solutions.py [--only TEXT]

Each board is solved by the command `stonezoo solve` in a process of its own. What was found is kept in
docs/solutions.json, so that `--only TEXT` solves the commands that hold TEXT anew and keeps the others.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from stonezoo.cli.command import describe_hardware

DOCS = Path(__file__).parent.parent / "docs"
PAGE, DATA = DOCS / "solutions.md", DOCS / "solutions.json"
WORDS = {1: "win", 0: "draw", -1: "loss"}

RESOLVE = [f"resolve --board-size {size} --rules {rules}" for size in (2, 3, 4) for rules in ("standard", "original")]
DARA = [
    f"dara --rows {rows} --columns {columns} --stones {stones} --rules {rules}"
    for rows, columns, stones in ((3, 3, 3), (3, 4, 3), (4, 4, 3), (4, 4, 4), (4, 4, 5), (4, 4, 6), (4, 4, 7))
    for rules in ("standard", "no_drop_threes")
]
# Half an hour of processor time and 17 GB of disk; its limits, which nobody has run yet, want more of both.
LARGE = "dara --rows 4 --columns 5 --stones 6 --rules standard"
BOARDS = ["rive --board-size 2", "rive --board-size 3", *RESOLVE, *DARA, LARGE]
LIMITED = [*RESOLVE, *DARA, LARGE]
OPTIONS = {"rive --board-size 3": " --method search --memory 2G", LARGE: " --memory 9G"}

INTRODUCTION = """# Solved boards

The exact value of small boards from the first action on, found by `stonezoo solve` and written by
`python benchmarks/solutions.py`. Values are those of the player to act first, Black. In a picture each cell has the
value of the action there: `+` win, `=` draw, `-` loss. "win in 7" counts actions, both players', with the winner as
fast and the loser as slow as they can be. Positions that are symmetric, or that differ only in the count of endless
play, are one position.

Hardware: {hardware}.
One core, shared with other work: "seconds" is how long solving took, "processor" the processor seconds of the whole
process, with Python's start (1 s) and, where it was the first of its game, compilation (10 s). Memory is the most that
the process held, Python and compiled code (about 200 MB) included.
"""

HEAD = """
| board | value | size | actions | seconds | processor | memory |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
"""

TOO_LARGE = """
Dara and Resolve are solved layer by layer ([decisions/solver.md](decisions/solver.md)), so that memory is that of the
largest layer. Dara 4 x 5 with 6 stones was solved beside other work, in an hour of the clock; its table takes 3.1 GB.

## What is too large for a table

Rive 3: `stonezoo solve rive --board-size 3 --method table --memory 9G` had found 95.9 million positions and 629 million
actions between them when it was stopped, and was not at the end; the search above needs no table of all positions.

{resolve_5}
"""

RESOLVE_5 = """**Resolve 5 x 5**, the smallest official board, `standard`: the first player wins, by opening in the
centre, beside it, or anywhere in the two side columns; the other ten first actions lose.

```
+ - - - +
+ - + - +
+ + + + +
+ - + - +
+ - - - +
```

| first action | Black | nodes | processor seconds, about |
| --- | --- | ---: | ---: |
| c3 | wins | 535,392,426 | 390 |
| c4, c2 | wins | 715,982,903 | 600 |
| b4, d4, b2, d2 | loses | 253,133,318 | 210 |
| c5, c1 | loses | 168,083,640 | 140 |
| b5, d5, b1, d1 | loses | 417,923,950 | 320 |
| a5, e5, a1, e1 | wins | 796,702,930 | 620 |
| b3, d3 | wins | 368,083,201 | 300 |
| a3, e3 | wins | 374,552,540 | 300 |
| a4, e4, a2, e2 | wins | 1,716,442,721 | 1,200 |

```
python benchmarks/resolve_first_actions.py --table FILE --memory 6000M --first c3,c4,b4,c5,b5,a5,b3,a3
python benchmarks/resolve_first_actions.py --table FILE --memory 10G --first a4
```

On an AMD EPYC, beside other work; one table of 6.3 GB, in this order, each action in a process of its own that went on
from the file, and so with what those before had left; a4 began with an empty table of 10.7 GB. What made it possible
stands in [decisions/solver.md](decisions/solver.md). The search was held to others, by scripts for once: the 2,000
positions of the probe set `resolve-5` and 391 of random games with 10 to 14 stones in both profiles have the values
that the search without any hints finds, and all boards of 4 x 4 those of the table. `original` was not tried.

**That c3 wins was checked without the search and its hints.** A certificate is a set of positions in which White
begins a turn, with the one after c3 among them: from each, whatever White does, by the rules alone and swap by swap,
Black has a turn that wins or leads back into the set, which then holds more stones (or, on a full board, a higher count
of S9). So every game that Black plays by it ends, and with his win; a draw would be a failure. Positions are stored and
compared whole, so that nothing rests on a hash. The search chose Black's turns, and the check need not believe them. Of
535 million nodes 3,015,023 positions are left, symmetric ones counted once, in a file of 8.3 MB:

| stones | 1 | 3 | 5 | 7 | 9 | 11 | 13 | 15 | 17 | 19 | 21 | 23 | 25 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| positions | 1 | 8 | 115 | 1,009 | 6,372 | 33,988 | 127,031 | 359,872 | 721,810 | 960,205 | 667,730 | 134,229 | 2,653 |

```
python benchmarks/resolve_first_actions.py --table TABLE --memory 5G --first c3
python benchmarks/resolve_certificate.py FILE --table TABLE --first c3
python benchmarks/check_certificate.py FILE
```

The search took 412 processor seconds, the certificate 90 (and 15.6 million nodes, where the table had forgotten), the
check 18 and 300 MB. It holds for all positions. So it does by a program in C that shares nothing with StoneZoo but the
text of the rules (17 seconds; 63 for all mirrored positions, 12,059,042, none taken for another), and by the slow
transcription of the rules that the tests use, for all 7,505 positions with up to 9 stones, 20,000 each with 11 and 13,
and 2,000 of each larger number, at random: scripts for once. The second player's win on 4 x 4 takes 5,205 positions,
and 5,102 in `original`.

a4, the dearest row of all, has a certificate too: 9,825,193 positions (335 processor seconds, with 101 million nodes
for what its table had forgotten), which holds (64 seconds). The other rows have none."""

LIMITS = """
## The limit on endless play

Resolve's full board (S9) and Dara's quiet slides (D7) make a draw when a count reaches a limit. A limit only turns wins
into draws. The table says from which limit on the start and all of its actions, and from which on all positions (with
the count at 0), have the values they would have without any limit; and how many positions a limit of 1 and of 4 draws.
The default limits, n² and 100, are far beyond on all of these boards.

| board | start | all positions | drawn by limit 1 | by limit 4 | positions not drawn |
| --- | ---: | ---: | ---: | ---: | ---: |
"""

AFTER_LIMITS = """
`stonezoo solve GAME ... --limits` shows one row in full, and makes those that are not here, layer by layer where a game
is solved so: on 4 x 4 within a minute, which is up to three times the time of the values alone.
"""


def run(command: str) -> dict[str, Any]:
    """Runs `stonezoo solve` and returns what it says, with the memory of its process."""
    print(f"stonezoo solve {command}", file=sys.stderr, flush=True)
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([sys.executable, "-m", "stonezoo", "solve", *command.split(), "--json"], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"stonezoo solve {command} failed")
        out.seek(0)
        return {**json.load(out), "peak_memory": usage.ru_maxrss * 1024, "processor_seconds": usage.ru_utime}


def title(found: dict[str, Any]) -> str:
    """The board's name, such as `Dara 3 x 4, 3 stones, no_drop_threes`."""
    values = dict(found["parameters"])
    values.pop("quiet_limit", None)
    rules = values.pop("rules", None)
    numbers = list(values.values())
    size = f"{numbers[0]} x {numbers[1]}, {numbers[2]} stones" if len(numbers) == 3 else str(numbers[0])
    return f"{found['game'].capitalize()} {size}{f', {rules}' if rules else ''}"


def outcome(found: dict[str, Any]) -> str:
    """Value and distance in words."""
    distance = found.get("distance", -1)
    return WORDS[found["value"]] + (f" in {distance}" if distance > 0 else "")


def section(command: str, found: dict[str, Any]) -> str:
    """What is known of one board, as Markdown."""
    groups: dict[str, list[str]] = {}
    order = sorted(found["actions"].items(), key=lambda item: (-item[1]["value"], item[1].get("distance", 0)))
    for name, action in order:
        groups.setdefault(outcome(action), []).append(name)
    actions = "; ".join(f"{word}: {' '.join(names)}" for word, names in groups.items())
    picture = "\n".join(found["picture"])
    return (
        f"\n### {title(found)}: {outcome(found)}\n\n```\n{picture}\n```\n\n{actions}\n\n"
        f"```\nstonezoo solve {command}{OPTIONS.get(command, '')}\n```\n"
    )


def summary(found: dict[str, Any]) -> str:
    """One line of the table of all boards."""
    count = f"{found['positions']:,} positions" if "positions" in found else f"{found['nodes']:,} nodes"
    edges = f"{found['edges']:,}" if "edges" in found else ""
    memory = f"{found['peak_memory'] / 1e6:,.0f} MB"
    times = f"{found['seconds']:,.1f} | {found['processor_seconds']:,.1f}"
    return f"| {title(found)} | {outcome(found)} | {count} | {edges} | {times} | {memory} |\n"


def write_page(data: dict[str, Any]) -> None:
    """Writes the page."""
    text = INTRODUCTION.format(hardware=data["hardware"])
    text += HEAD
    boards = [command for command in BOARDS if command in data["boards"]]
    text += "".join(summary(data["boards"][command]) for command in boards)
    text += TOO_LARGE.format(resolve_5=RESOLVE_5) + LIMITS
    for command in LIMITED:
        if (found := data["limits"].get(command)) is not None:
            looks = found["looks"]
            drawn = [f"{looks[limit]['drawn']:,}" if limit in looks else "0" for limit in ("1", "4")]
            text += (
                f"| {title(found)} | {found['start_enough']} | {found['enough']} | {drawn[0]} | {drawn[1]} "
                f"| {found['decided']:,} |\n"
            )
    text += AFTER_LIMITS + "\n## Board by board\n"
    text += "".join(section(command, data["boards"][command]) for command in boards)
    PAGE.write_text(text, encoding="utf-8")


def _keep(data: dict[str, Any]) -> None:
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="solve anew only commands that hold TEXT")
    parser.add_argument("--page", action="store_true", help="solve nothing: write the page from what is kept")
    parser.add_argument("--no-limits", action="store_true", help="leave the limits on endless play as they are kept")
    arguments = parser.parse_args()
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"boards": {}, "limits": {}}
    if not arguments.page:
        data["hardware"] = describe_hardware()
        with tempfile.TemporaryDirectory() as folder:
            os.environ["STONEZOO_TABLE_DIR"] = folder
            for command in BOARDS:
                if arguments.only in command:
                    data["boards"][command] = run(command + OPTIONS.get(command, ""))
                    data["boards"][command].pop("file", None)
                    _keep(data)
                    if command in LIMITED and not arguments.no_limits:
                        data["limits"][command] = run(command + OPTIONS.get(command, "") + " --limits")
                        _keep(data)
    write_page(data)


if __name__ == "__main__":
    main()
