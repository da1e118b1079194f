"""What a network has learnt: games with search and with its policy alone, beside an untrained network as control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from stonezero.arena.isolation import open_contestant
from stonezero.arena.match import MIN_DISTINCT, evaluate
from stonezero.arena.result import MatchResult
from stonezero.checkpoint import Checkpoint, load_checkpoint
from stonezero.config import Config, DeviceConfig
from stonezero.device import join_device
from stonezero.evaluator import Evaluator
from stonezero.networks import build_network
from stonezero.players import NetworkPlayer, load_evaluator, locate_checkpoint, play_device
from stonezero.players.network import Evaluate
from stonezoo import Game, load_game
from stonezoo.players import Player

FORMAT = "stonezero/evaluation@1"
Kind: TypeAlias = Literal["search", "policy", "untrained"]
KINDS: tuple[Kind, ...] = ("search", "policy", "untrained")
MatchProgress: TypeAlias = Callable[[str, int, int], None]  # which match, games finished, games in all


@dataclass(frozen=True)
class Row:
    """One match of an evaluation."""

    kind: Kind  # the network with search, its policy alone, or the untrained network with the same search
    match: MatchResult

    @property
    def repeats(self) -> bool:
        """Whether so many games were repeated that the score is no evidence."""
        return self.match.distinct_games < MIN_DISTINCT * self.match.games

    def to_dict(self, with_games: bool = False) -> dict[str, Any]:
        """For JSON: the match with its kind."""
        return {"kind": self.kind, **self.match.to_dict(with_games)}


@dataclass(frozen=True)
class Evaluation:
    """The matches of one network against several opponents."""

    name: str  # of the network: a checkpoint's path, or what the caller calls it
    rows: tuple[Row, ...]

    def row(self, opponent: str, kind: Kind = "search") -> MatchResult:
        """The match against an opponent, by its text.

        Raises:
            KeyError: there was no such match.
        """
        for row in self.rows:
            if (row.match.opponent, row.kind) == (opponent, kind):
                return row.match
        raise KeyError(f"no match of kind {kind!r} against {opponent!r}")

    def missed(self, required: Mapping[str, float]) -> list[str]:
        """What keeps the network with search from the scores `required` of it, by opponent; [] when all is well."""
        faults = []
        for opponent, bar in required.items():
            match = self.row(opponent)
            if not match.score >= bar:  # so that a score that is no number misses it too
                faults.append(f"against {opponent}: {match.score:.3f}, required {bar:g}")
        faults += [
            f"against {row.match.opponent}: only {row.match.distinct_games} of {row.match.games} games are distinct"
            for row in self.rows
            if row.kind == "search" and row.repeats and row.match.opponent in required
        ]
        return faults

    def to_dict(self, with_games: bool = False) -> dict[str, Any]:
        """For JSON; see docs of `MatchResult.to_dict`."""
        return {"format": FORMAT, "name": self.name, "rows": [row.to_dict(with_games) for row in self.rows]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Evaluation:
        """What `to_dict` gave; ValueError when it is of another format."""
        if values.get("format") != FORMAT:
            raise ValueError(f"this is no evaluation of format {FORMAT!r}: its format is {values.get('format')!r}")
        try:
            rows = []
            for row in values["rows"]:
                kind = row["kind"]
                if kind not in KINDS:
                    raise ValueError(f"a row's kind is {kind!r}, not one of {', '.join(KINDS)}")
                rows.append(Row(kind, MatchResult.from_dict({key: row[key] for key in row if key != "kind"})))
            return cls(values["name"], tuple(rows))
        except KeyError as error:
            raise ValueError(f"this evaluation cannot be read: {error} is missing") from error


def evaluate_network(
    game: Game,
    evaluator: Evaluate,
    config: Config,
    *,
    untrained: Evaluate | None = None,
    name: str = "network",
    opponents: Sequence[str | Player] | None = None,
    games: int | None = None,
    num_simulations: int | None = None,
    opening_actions: int | None = None,
    seed: int = 0,
    policy: bool = True,
    progress: MatchProgress | None = None,
) -> Evaluation:
    """Plays a network against opponents; what is None is as `config.evaluation` says.

    Args:
        game: the game that the network plays.
        evaluator: the network.
        config: its search is used, without noise.
        untrained: another network that plays the same games as control; None: no control.
        name: what the network is called.
        opponents: players, or texts of players.
        games: against each opponent, even.
        num_simulations: of the search.
        opening_actions: random actions before the players begin.
        seed: of openings and opponents; the same openings for all.
        policy: whether to measure the policy alone too.
        progress: called as games end.

    Raises:
        ValueError: a text names no player, or the games asked for cannot be had; see `stonezero.arena.evaluate`.
    """
    plan = config.evaluation
    simulations = plan.num_simulations if num_simulations is None else num_simulations
    contestants: list[tuple[Kind, NetworkPlayer]] = [
        ("search", NetworkPlayer(game, evaluator, config.search, simulations, f"{name}:{simulations}"))
    ]
    if policy:
        contestants.append(("policy", NetworkPlayer(game, evaluator, config.search, 0, f"{name}:policy")))
    if untrained is not None:
        text = f"untrained:{simulations}"
        contestants.append(("untrained", NetworkPlayer(game, untrained, config.search, simulations, text)))
    others = [open_contestant(opponent, game) for opponent in (plan.opponents if opponents is None else opponents)]

    def play() -> Iterator[Row]:
        for opponent in others:
            for kind, player in contestants:
                title = f"{kind} against {opponent.name}"
                match = evaluate(
                    player,
                    opponent,
                    game,
                    games=plan.games if games is None else games,
                    seed=seed,
                    opening_actions=plan.opening_actions if opening_actions is None else opening_actions,
                    min_distinct=0.0,
                    progress=None if progress is None else _titled(progress, title),
                )
                yield Row(kind, match)

    try:
        return Evaluation(name, tuple(play()))
    finally:
        for opponent in others:
            opponent.close()


def _titled(progress: MatchProgress, title: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(title, done, total)


def untrained_evaluator(checkpoint: Checkpoint, device: DeviceConfig) -> Evaluator:
    """A network as the checkpoint's was before its training: of the same shape, with fresh weights."""
    network = build_network(checkpoint.config.network, checkpoint.spec, seed=checkpoint.config.seed)
    return Evaluator(network, device=join_device(device), precision="fp32")


def evaluate_checkpoint(
    checkpoint: str | Path,
    *,
    game: Game | None = None,
    device: DeviceConfig | None = None,
    opponents: Sequence[str | Player] | None = None,
    games: int | None = None,
    num_simulations: int | None = None,
    opening_actions: int | None = None,
    seed: int = 0,
    policy: bool = True,
    control: bool = True,
    progress: MatchProgress | None = None,
) -> Evaluation:
    """Plays the network of a checkpoint against opponents; see `evaluate_network`.

    Args:
        checkpoint: a path, a run's folder, or the name of one that ships.
        game: what to play, of any size of the same rules; None: what it was trained on.
        device: where to compute; None: as the checkpoint was trained, on the best device here.
        opponents: as for `evaluate_network`, like all that is not said here.
        games: against each opponent.
        num_simulations: of the search.
        opening_actions: random actions before the players begin.
        seed: of openings and opponents.
        policy: whether to measure the policy alone too.
        control: whether to measure an untrained network too.
        progress: called as games end.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        ValueError: it cannot be used here, or as for `evaluate_network`.
    """
    loaded = load_checkpoint(locate_checkpoint(checkpoint), game)
    own_game = loaded.config.game
    where = play_device(loaded) if device is None else device
    return evaluate_network(
        load_game(own_game.name, **own_game.parameters) if game is None else game,
        load_evaluator(loaded, where, game),
        loaded.config,
        untrained=untrained_evaluator(loaded, where) if control else None,
        name=str(checkpoint),
        opponents=opponents,
        games=games,
        num_simulations=num_simulations,
        opening_actions=opening_actions,
        seed=seed,
        policy=policy,
        progress=progress,
    )
