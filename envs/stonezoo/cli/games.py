"""`stonezoo games`: which games there are, and what their parameters accept."""

import argparse

from stonezoo.cli.command import Command, Parser, option_of, print_json
from stonezoo.core.game import Parameter
from stonezoo.games import game_names, rules_class


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints the games."""
    classes = {name: rules_class(name) for name in game_names()}
    if arguments.json:
        print_json({name: [_describe(parameter) for parameter in cls.parameters] for name, cls in classes.items()})
        return 0
    for name, cls in classes.items():
        profiles = ", ".join(f"{name}/{profile}@{version}" for profile, version in cls.version.items())
        print(f"{name}  ({profiles})")
        for parameter in cls.parameters:
            print(
                f"  {option_of(parameter):<14} {parameter.summary}: {parameter.accepted} (default {parameter.default})"
            )
    return 0


def _describe(parameter: Parameter) -> dict[str, object]:
    accepted: dict[str, object] = {"choices": list(parameter.choices)}
    if not parameter.choices:
        accepted = {"low": parameter.low, "high": parameter.high}
    return {"name": parameter.name, "default": parameter.default, **accepted, "summary": parameter.summary}


COMMAND = Command("games", "Lists the games, their rule profiles and their parameters", configure, run)
