"""Distance from perfect play of a network, wherever a solved table or a probe set exists."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from rich.console import Console

from stonezero.checkpoint import load_checkpoint
from stonezero.config import SearchConfig
from stonezero.players import NetworkPlayer, load_evaluator, locate_checkpoint, play_device
from stonezero.players.network import Evaluate
from stonezoo import Game, load_game
from stonezoo.players import PerfectPlayer, Player, PlayerError, UnsolvedError, make_player
from stonezoo.solve import Table, checked_table
from stonezoo.solve.table import make_command
from stonezoo.truth import (
    Positions,
    Truth,
    Versus,
    own_positions,
    play_perfect,
    random_positions,
    truth_table,
    versus_line,
)
from stonezoo.truth.measure import Progress, decided_player, measure
from stonezoo.truth.probes import probes_for

SAMPLE = 2_000  # decisive positions of a solved game
SAMPLE_SEED = 0
WITH_SEARCH = 400  # positions on which search is measured while training
BASELINES = ("random", "uct:100")
OWN_GAMES = 100
VERSUS_GAMES = 100


def saved_table(game: Game) -> Table | None:
    """The game's solved table, if one has been saved (`stonezoo solve GAME --save`).

    Raises:
        TableError: it is damaged or of other rules.
    """
    return checked_table(game) if Table.usual_path(game).exists() else None


def known_positions(game: Game, table: Table | None = None) -> Positions | None:
    """Decisive positions with known values: the game's probe set, else a sample from `table`, else None."""
    probes = probes_for(game)
    if probes is not None:
        return probes.positions
    if table is None:
        return None
    found = random_positions(game, table, SAMPLE, SAMPLE_SEED)
    return found.take(found.decisive)


def network_players(
    game: Game, evaluate: Evaluate, search: SearchConfig, num_simulations: int, name: str = "network"
) -> dict[str, NetworkPlayer]:
    """A network as players: its `policy` alone, and with `search`."""
    return {
        "policy": NetworkPlayer(game, evaluate, search, 0, f"{name}:policy"),
        "search": NetworkPlayer(game, evaluate, search, num_simulations, f"{name}:{num_simulations}"),
    }


def training_scalars(positions: Positions, players: dict[str, NetworkPlayer]) -> dict[str, float]:
    """What TensorBoard shows of the distance from perfect play.

    For each of `policy` (on all positions) and `search` (on the first 400): the share of best actions, in all and by
    phase, and of right signs of the value; and the share that choosing uniformly has.
    """
    found: dict[str, float] = {}
    for kind, player in players.items():
        some = positions if kind == "policy" else positions.take(np.arange(min(WITH_SEARCH, len(positions))))
        truth = measure(player, some)
        found[f"{kind}_optimal"] = truth.optimal.value
        if kind == "policy":
            found["uniform_optimal"] = truth.uniform
        if truth.value_signs is not None:
            found[f"{kind}_value_sign"] = truth.value_signs.value
        for phase, share in truth.by_phase.items():
            found[f"{kind}_optimal_{phase}"] = share.value
    return found


def exact_report(
    game: Game, players: Mapping[str, Player], *, seed: int = 0, progress: Progress | None = None
) -> tuple[list[Truth], dict[str, tuple[Versus, Versus]]]:
    """Measures players beside `random` and `uct:100`.

    Where the game has a saved table also on the decisions of their own games. Where the player `perfect` knows the game
    (by a table, or by a search that solves the start) also in games against it from both seats, by the player's name.

    Raises:
        ValueError: the game has neither a probe set nor a saved table; the message says how to get one.
    """
    table = saved_table(game)
    positions = known_positions(game, table)
    if positions is None:
        raise ValueError(
            f"nothing is known of perfect play in {game!r}: it has no probe set, and no solved table has been saved; "
            f"`{make_command(game)}` makes one where the game is small enough, `stonezoo make-probes` a probe set for "
            "`stonezoo probe FILE PLAYER`"
        )
    contestants: list[Player] = [
        *players.values(),
        *(decided_player(make_player(text, game), game) for text in BASELINES),
    ]
    truths = [measure(player, positions, seed=seed, progress=progress) for player in contestants]
    if table is not None:
        for player in players.values():
            own = own_positions(game, table, player, OWN_GAMES, seed)
            truths.append(replace(measure(player, own, seed=seed), player=f"{player.name}, own games"))
    perfect = perfect_player(game)
    if perfect is None:
        return truths, {}
    return truths, {
        player.name: play_perfect(player, game, perfect.source, games=VERSUS_GAMES, seed=seed)
        for player in players.values()
    }


def perfect_player(game: Game) -> PerfectPlayer | None:
    """The player `perfect`, if it knows what the start is worth; a search may take minutes to find it out.

    Raises:
        TableError: what was saved cannot be used.
    """
    try:
        perfect = PerfectPlayer(game)
        perfect.value(game.initial_state().row)
    except UnsolvedError as error:
        print(f"no games against best play: {error}", file=sys.stderr)
        return None
    except PlayerError:  # play can cycle, and there is no table
        return None
    return perfect


def exact_players(text: str, game: Game | None, num_simulations: int | None = None) -> tuple[Game, dict[str, Player]]:
    """The players to measure, and their game: a checkpoint's policy and search, or the one player of any other text.

    Raises:
        FileNotFoundError: `text` names no checkpoint, and no game is given for another player.
        ValueError: it names no player of the game.
    """
    try:
        path = locate_checkpoint(text)
    except FileNotFoundError as error:
        if game is None:
            raise FileNotFoundError(f"{error}; of another player, --game says what it plays") from error
        return game, {"player": decided_player(text, game)}
    loaded = load_checkpoint(path, game)
    config = loaded.config
    if game is None:
        game = load_game(config.game.name, **config.game.parameters)
    simulations = config.evaluation.num_simulations if num_simulations is None else num_simulations
    evaluator = load_evaluator(loaded, play_device(loaded), game)
    return game, {**network_players(game, evaluator, config.search, simulations, text)}


def exact_command(
    text: str,
    game: Game | None,
    *,
    num_simulations: int | None = None,
    seed: int = 0,
    require: float | None = None,
    as_json: bool = False,
    console: Console,
) -> int:
    """Prints how far a player is from perfect play, beside `random` and `uct:100`; returns the exit code.

    Returns:
        0, or 1 when a player (without its own games) chooses best actions less often than `require`.

    Raises:
        FileNotFoundError, ValueError: as `exact_players` and `exact_report`.
    """
    game, players = exact_players(text, game, num_simulations)
    truths, versus = exact_report(game, players, seed=seed)
    names = [player.name for player in players.values()]
    missed = [
        f"{truth.player}: {truth.optimal.value:.3f} of best actions, required {require:g}"
        for truth in truths
        if require is not None and truth.player in names and not truth.optimal.value >= require  # nan misses it too
    ]
    if as_json:
        told = {
            "format": "stonezero/exact@1",
            "truths": [truth.to_dict() for truth in truths],
            "versus_perfect": {name: [seat.to_dict() for seat in seats] for name, seats in versus.items()},
            "missed": missed,
        }
        print(json.dumps(told, indent=2))
    else:
        console.print(truth_table(truths))
        for name, seats in versus.items():
            console.print(versus_line(name, seats), highlight=False, markup=False, soft_wrap=True)
        line = f"{game!r}; {truths[0].source}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for fault in missed:
        print(f"missed: {fault}", file=sys.stderr)
    return 1 if missed else 0
