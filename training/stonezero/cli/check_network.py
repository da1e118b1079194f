"""`stonezero check-network`: whether a network of one's own will do."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from stonezero.cli.command import Command, add_game, check_number, chosen_game

if TYPE_CHECKING:
    from stonezero.networks import ContractReport

FAILED = 1  # exit code
DESCRIPTION = """\
Look at a network of one's own, with random weights on positions of random games, and say what would go wrong in
training, in play or in a checkpoint, and how to mend it. docs/networks.md says what a network must keep to.

Exit code 0 when every check passes, 1 when one fails, 2 when the network or the game cannot be found.
"""
EPILOG = """\
examples:
  stonezero check-network my_networks:CellTransformer --game rive --parameter board_size=4
  stonezero check-network my_networks:CellTransformer --also board_size=6 --set.network.owner_head true
  stonezero check-network small --game dara --json
"""


def _configure(command: argparse.ArgumentParser) -> None:
    command.epilog = EPILOG
    command.add_argument(
        "network",
        metavar="NETWORK",
        help="MODULE:CLASS, found as Python finds it or in the current folder, or a preset; its other settings are "
        "given by --set.network.FIELD VALUE",
    )
    add_game(command)
    command.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of another board that the same weights are to play, such as board_size=6; may be repeated",
    )
    command.add_argument("--seed", type=int, default=0, help="of weights and positions (default: %(default)s)")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _run(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.config import parse_config
    from stonezero.networks import check_contract
    from stonezoo.cli.command import read_settings
    from stonezoo.state import load_game

    check_number("--seed", chosen.seed)
    game = chosen_game(chosen)
    own = {"game": {"name": chosen.game}, "network": chosen.network}
    config = parse_config(own, rest, source="check-network")
    also = [
        load_game(chosen.game, **{**game.parameters, **read_settings([setting], "--also")}) for setting in chosen.also
    ]
    report = check_contract(config.network, game, also=also, seed=chosen.seed)
    if chosen.json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        _print(report)
    return 0 if report.passed else FAILED


def _print(report: ContractReport) -> None:
    from rich.table import Table

    from stonezero.loop.report import new_console

    console = new_console()
    console.print(
        f"{report.network} in {report.game}: {report.parameters:,} weights",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("check", "result", "what holds when it passes"):
        table.add_column(heading)
    for result in report.results:
        table.add_row(result.name, "[red]FAILED[/]" if result.faults else "[green]passed[/]", result.summary)
    console.print(table)
    for result in report.results:
        for fault in result.faults:
            console.print(f"\n{result.name}: {fault.message}", highlight=False, markup=False, soft_wrap=True)
            console.print(f"  remedy: {fault.remedy}", highlight=False, markup=False, soft_wrap=True)
        if result.note:
            console.print(f"\n{result.name}: {result.note}", highlight=False, markup=False, soft_wrap=True)


COMMAND = Command("check-network", "say whether a network of one's own will do", _configure, _run, DESCRIPTION)
