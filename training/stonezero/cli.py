"""The command `stonezero`: train networks, go on with a run, measure what was learnt."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

QUICKSTART = "rive/quickstart"
RUNS = Path("runs")
BAD_INPUT, INTERRUPTED = 2, 130


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `--set.some.field value` is left over by it."""
    parser = argparse.ArgumentParser(
        prog="stonezero",
        description="Learn board games with multi-action turns from self-play.",
        epilog="Fields of a config are set by --set.some.field value, as in --set.search.num_simulations 32.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)

    def add(name: str, summary: str, run: Callable[[argparse.Namespace, list[str]], int]) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary + ".", allow_abbrev=False)
        command.set_defaults(run=run, prog=command.prog)
        return command

    command = add("train", "train a network as a config says, then evaluate it", _train)
    command.add_argument("config", help="a path, or the name of one that ships, such as rive/quickstart")
    command.add_argument("--run-dir", type=Path, help="the run's folder, new or empty (default: a new one in runs/)")

    command = add("quickstart", f"train {QUICKSTART}, about ten minutes on two cores", _train)
    command.set_defaults(config=QUICKSTART)
    command.add_argument("--run-dir", type=Path, help="the run's folder, new or empty (default: a new one in runs/)")

    command = add("resume", "go on with a run that was stopped", _resume)
    command.add_argument("run_dir", type=Path, metavar="RUN", help="the run's folder")

    command = add("evaluate", "play a checkpoint against opponents, beside its policy alone and a control", _evaluate)
    command.add_argument("checkpoint", help="a checkpoint or run folder, or the name of one that ships")
    command.add_argument("--opponents", default="random,uct:100", help="players, with commas (default: %(default)s)")
    command.add_argument("--games", type=int, default=200, help="against each opponent, even (default: %(default)s)")
    command.add_argument("--simulations", type=int, help="of the search (default: as the checkpoint's config says)")
    command.add_argument("--seed", type=int, default=0, help="of openings and opponents (default: %(default)s)")
    command.add_argument("--opening-actions", type=int, default=2, help="random actions first (default: %(default)s)")
    command.add_argument("--require", help="the score to reach, or one an opponent with commas; else exit code 1")
    command.add_argument("--no-policy", action="store_true", help="leave the policy alone out")
    command.add_argument("--no-control", action="store_true", help="leave the untrained network out")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")

    command = add("match", "play two players against each other, every opening twice with colours swapped", _match)
    command.add_argument("player", help="such as random, uct:100, or a checkpoint with simulations: runs/x:64")
    command.add_argument("opponent", help="likewise")
    command.add_argument("--game", default="rive", help="its name (default: %(default)s)")
    command.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the game, such as board_size=3; may be repeated",
    )
    command.add_argument("--games", type=int, default=200, help="an even number (default: %(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of openings and players (default: %(default)s)")
    command.add_argument("--opening-actions", type=int, default=2, help="random actions first (default: %(default)s)")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (default: the process's own) and return the exit code.

    Returns:
        0 when all went well, 1 when a required score was missed, 2 after input or files that cannot be used (one line
        on stderr says why), 130 when interrupted.
    """
    try:
        chosen, rest = build_parser().parse_known_args(arguments)
    except SystemExit as stop:  # --help, or an error that argparse has printed
        return stop.code if isinstance(stop.code, int) else BAD_INPUT
    from stonezero.run import RunError  # imports are late: --help should not wait for torch

    try:
        code: int = chosen.run(chosen, rest)
        return code
    except (ValueError, RunError, FileNotFoundError) as error:
        # ConfigError, CheckpointError, ReplayError and PlayerError are ValueErrors. Anything else is a fault of ours.
        print(f"{chosen.prog}: error: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED


def _train(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.config import ConfigError, load_config
    from stonezero.run import RunFolder
    from stonezoo.state import load_game

    config = load_config(chosen.config, rest)
    loop = config.loop
    if loop.iterations is None and loop.max_minutes is None and loop.steps is None:
        raise ConfigError(f"{chosen.config}: loop: set one of iterations, max_minutes and steps, or the run never ends")
    try:
        game = load_game(config.game.name, **config.game.parameters)
    except ValueError as error:
        raise ConfigError(f"{chosen.config}: game: {error}") from error
    path = chosen.run_dir or _new_run_path(config.game.name, chosen.config)
    return _work(RunFolder.create(path, config, game.rules_id))


def _resume(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.run import RunFolder
    from stonezoo.state import load_game

    _refuse(rest, "a run goes on with its own config")
    run = RunFolder.open(chosen.run_dir)
    game = load_game(run.config.game.name, **run.config.game.parameters)
    return _work(RunFolder.open(chosen.run_dir, game.rules_id))


def _work(run) -> int:  # type: ignore[no-untyped-def]
    """Train, and say on Ctrl-C how to go on."""
    from stonezero.loop import train
    from stonezero.loop.report import new_console

    try:
        train(run, new_console())
    except KeyboardInterrupt:
        print(f"stopped; `stonezero resume {run.path}` goes on after the last whole iteration", file=sys.stderr)
        return INTERRUPTED
    return 0


def _evaluate(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.arena import evaluate_command
    from stonezero.loop.report import new_console

    _refuse(rest, "see --help")
    return evaluate_command(
        chosen.checkpoint,
        opponents=chosen.opponents,
        games=chosen.games,
        require=chosen.require,
        as_json=chosen.json,
        num_simulations=chosen.simulations,
        opening_actions=chosen.opening_actions,
        seed=chosen.seed,
        policy=not chosen.no_policy,
        control=not chosen.no_control,
        console=new_console(),
    )


def _match(chosen: argparse.Namespace, rest: list[str]) -> int:
    import json

    import stonezero.players  # noqa: F401  makes checkpoints known as players
    from stonezero.arena import evaluate
    from stonezero.loop.report import new_console
    from stonezoo.players import make_player
    from stonezoo.state import load_game

    _refuse(rest, "see --help")
    parameters: dict[str, int | str] = {}
    for text in chosen.parameter:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--parameter {text}: expected NAME=VALUE, such as board_size=3")
        parameters[name] = int(value) if value.lstrip("-").isdigit() else value
    game = load_game(chosen.game, **parameters)
    result = evaluate(
        make_player(chosen.player, game),
        make_player(chosen.opponent, game),
        game,
        games=chosen.games,
        seed=chosen.seed,
        opening_actions=chosen.opening_actions,
    )
    if chosen.json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        line = (
            f"{result.player} against {result.opponent}: {result.score:.3f} [{result.low:.3f}, {result.high:.3f}] in "
            f"{result.games} games ({result.wins}/{result.draws}/{result.losses}); as Black "
            f"{result.as_black.score:.3f}, as White {result.as_white.score:.3f}; {result.distinct_games} distinct"
        )
        new_console().print(line, highlight=False, markup=False, soft_wrap=True)
    return 0


def _refuse(rest: Sequence[str], remedy: str) -> None:
    if rest:
        raise ValueError(f"unknown argument {rest[0]}: {remedy}")


def _new_run_path(game: str, config: str) -> Path:
    """A name in runs/ that nothing bears yet: game, config and time."""
    stem = f"{game}-{Path(config).stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    path, number = RUNS / stem, 2
    while path.exists():
        path, number = RUNS / f"{stem}-{number}", number + 1
    return path
