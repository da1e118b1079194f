"""`stonezero evaluate`: what a network has learnt."""

from __future__ import annotations

import argparse

from stonezero.cli.command import Command, add_trust, check_number, chosen_game, refuse


def _configure(command: argparse.ArgumentParser) -> None:
    command.add_argument("checkpoint", help="a checkpoint or run folder, or the name of one that ships")
    command.add_argument("--opponents", default="random,uct:100", help="players, with commas (default: %(default)s)")
    command.add_argument("--games", type=int, default=200, help="against each opponent, even (default: %(default)s)")
    command.add_argument("--simulations", type=int, help="of the search (default: as the checkpoint's config says)")
    command.add_argument("--seed", type=int, default=0, help="of openings and opponents (default: %(default)s)")
    command.add_argument("--opening-actions", type=int, default=2, help="random actions first (default: %(default)s)")
    command.add_argument("--require", help="the score to reach, or one an opponent with commas; else exit code 1")
    command.add_argument("--no-policy", action="store_true", help="leave the policy alone out")
    command.add_argument("--no-control", action="store_true", help="leave the untrained network out")
    command.add_argument(
        "--exact",
        action="store_true",
        help="instead of playing opponents, measure the distance from perfect play: the share of best actions on a "
        "probe set or, where the game's solved table has been saved, on a sample of its positions and on the player's "
        "own games; and games against the player perfect, where it knows the game by a table or by search (minutes on "
        "Rive 3); see docs/truth.md; any player's text will do, with --game",
    )
    command.add_argument(
        "--game",
        help="what to play (default: what the checkpoint was trained on); a checkpoint plays boards of every size, and "
        "with --exact a player that is no checkpoint needs it",
    )
    command.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of --game, such as board_size=4; may be repeated",
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_trust(command)


def _evaluate(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.arena import evaluate_command
    from stonezero.loop.report import new_console

    refuse(rest, "see --help")
    check_number("--simulations", chosen.simulations, 1)
    check_number("--seed", chosen.seed)
    check_number("--opening-actions", chosen.opening_actions)
    if chosen.parameter and chosen.game is None:
        raise ValueError(f"--parameter {chosen.parameter[0]}: name the game too, as in --game rive")
    if chosen.exact:
        return _exact(chosen)
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
        game=None if chosen.game is None else chosen_game(chosen),
        console=new_console(),
    )


def _exact(chosen: argparse.Namespace) -> int:
    from stonezero.arena.exact import exact_command
    from stonezero.loop.report import new_console

    try:
        require = None if chosen.require is None else float(chosen.require)
    except ValueError:
        raise ValueError(f"--require {chosen.require}: with --exact it is one share, such as 0.97") from None
    if require is not None and not 0 <= require <= 1:
        raise ValueError(f"--require {chosen.require}: a share is a number from 0 to 1")
    return exact_command(
        chosen.checkpoint,
        None if chosen.game is None else chosen_game(chosen),
        num_simulations=chosen.simulations,
        seed=chosen.seed,
        require=require,
        as_json=chosen.json,
        console=new_console(),
    )


COMMAND = Command(
    "evaluate", "play a checkpoint against opponents, beside its policy alone and a control", _configure, _evaluate
)
