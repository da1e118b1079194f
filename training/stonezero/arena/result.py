"""What came out of a match: plain values, to JSON and back. The JSON is described in docs/arena.md."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from stonezero.arena.balance import Balance
from stonezero.arena.contestant import FAULT_KINDS, Fault
from stonezero.arena.openings import OpeningsPlan
from stonezero.rating import SprtState, count_pairs, elo_difference, score_interval
from stonezoo import Game, load_game
from stonezoo.record import BLACK_WINS, DRAW, UNFINISHED, WHITE_WINS, Comment, Record

FORMAT = "stonezero/match@2"
Side: TypeAlias = Literal["player", "opponent"]


@dataclass(frozen=True)
class GameResult:
    """One game of a match."""

    pair: int  # number of the opening; the two games of a pair share it
    player_is_black: bool
    winner: int  # 0 Black, 1 White, -1 nobody
    actions: tuple[int, ...]  # from `start`, the opening included, an illegal one not
    opening: int = 0  # how many of them are the opening
    start: str | None = None  # text of the position from which the opening begins; None: the initial state
    fault_by: Side | None = None  # who lost the game although the rules had not decided it
    fault: Fault | None = None  # why

    @property
    def points(self) -> float:
        """The player's score: 1, 1/2 or 0."""
        if self.winner < 0:
            return 0.5
        return 1.0 if (self.winner == 0) == self.player_is_black else 0.0

    @property
    def illegal_by(self) -> Side | None:
        """Who lost the game by an illegal action."""
        return self.fault_by if self.fault is not None and self.fault.kind == "illegal" else None

    @property
    def illegal_action(self) -> int | None:
        """The illegal action that lost the game."""
        return None if self.fault is None else self.fault.action

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        fault = None if self.fault is None else self.fault._asdict()
        return {**vars(self), "actions": list(self.actions), "fault": fault}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> GameResult:
        """What `to_dict` gave; KeyError or TypeError when it is something else."""
        fault = values["fault"]
        given = {**values, "actions": tuple(values["actions"]), "fault": None if fault is None else Fault(**fault)}
        return cls(**given)

    def record(
        self, game: Game, player: str, opponent: str, *, seed: int | None = None, date: str | None = None
    ) -> Record:
        """The game as a record; one lost by a fault is unfinished and says so in a comment."""
        players = (player, opponent) if self.player_is_black else (opponent, player)
        comments = [Comment(self.opening, "the players begin here")]
        outcome = {-1: DRAW, 0: BLACK_WINS, 1: WHITE_WINS}[self.winner]
        if self.fault is not None:
            outcome = UNFINISHED
            loser = "White" if self.winner == 0 else "Black"
            comments.append(Comment(len(self.actions), f"{loser} loses ({self.fault.kind}): {self.fault.reason}"))
        return Record(game, self.actions, players, outcome, date, seed, self.start, tuple(comments))


@dataclass(frozen=True)
class Tally:
    """Games won, drawn and lost, as the player sees it."""

    wins: int
    draws: int
    losses: int

    @classmethod
    def of(cls, results: Sequence[GameResult]) -> Tally:
        """Counts games."""
        points = [result.points for result in results]
        return cls(points.count(1.0), points.count(0.5), points.count(0.0))

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points a game, in [0, 1]."""
        return (self.wins + self.draws / 2) / self.games

    def __str__(self) -> str:
        return f"{self.wins}/{self.draws}/{self.losses}"


@dataclass(frozen=True)
class Elo:
    """A score and its interval as a difference in Elo; None where it is infinite."""

    difference: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class MatchResult:
    """A match as its player sees it. Equal when all but the times is equal."""

    player: str  # the players' texts
    opponent: str
    game: str
    parameters: Mapping[str, int | str]
    rules_id: str
    seed: int
    openings: OpeningsPlan
    games: int
    wins: int
    draws: int
    losses: int
    score: float  # points a game, in [0, 1]
    low: float  # 95% interval of the score, over pairs
    high: float
    pairs: tuple[int, ...]  # [5] with 0, 1/2, 1, 1 1/2 and 2 points
    as_black: Tally
    as_white: Tally
    distinct_games: int
    player_faults: Mapping[str, int]  # games lost by an illegal action, a crash, or for want of an answer in time
    opponent_faults: Mapping[str, int]
    mean_length: float  # actions a game
    seconds: float = field(compare=False)
    player_seconds: float = field(compare=False)  # that the player took, in batches
    opponent_seconds: float = field(compare=False)
    player_actions: int = field(compare=False)  # that it was asked for in this time
    opponent_actions: int = field(compare=False)
    sprt: SprtState | None = None
    seconds_per_move: float | None = None  # for which the players' simulations were chosen
    results: tuple[GameResult, ...] = ()  # in the order of pairs; () when read without games

    @classmethod
    def from_games(
        cls,
        *,
        player: str,
        opponent: str,
        game: Game,
        seed: int,
        openings: OpeningsPlan,
        results: Sequence[GameResult],
        seconds: float,
        contestant_seconds: Sequence[float],
        contestant_actions: Sequence[int],
        sprt: SprtState | None = None,
        seconds_per_move: float | None = None,
    ) -> MatchResult:
        """Adds the games up; `results` holds both games of every pair, seconds and actions are the two contestants'."""
        tally = Tally.of(results)
        scores = list(pair_scores(results).values())
        interval = score_interval(scores)
        return cls(
            player=player,
            opponent=opponent,
            game=game.name,
            parameters=dict(game.parameters),
            rules_id=game.rules_id,
            seed=seed,
            openings=openings,
            games=len(results),
            wins=tally.wins,
            draws=tally.draws,
            losses=tally.losses,
            score=interval.score,
            low=interval.low,
            high=interval.high,
            pairs=tuple(count_pairs(scores).tolist()),
            as_black=Tally.of([result for result in results if result.player_is_black]),
            as_white=Tally.of([result for result in results if not result.player_is_black]),
            distinct_games=count_distinct(results),
            player_faults=count_faults(results, "player"),
            opponent_faults=count_faults(results, "opponent"),
            mean_length=statistics.fmean(len(result.actions) for result in results),
            seconds=seconds,
            player_seconds=contestant_seconds[0],
            opponent_seconds=contestant_seconds[1],
            player_actions=contestant_actions[0],
            opponent_actions=contestant_actions[1],
            sprt=sprt,
            seconds_per_move=seconds_per_move,
            results=tuple(results),
        )

    @property
    def illegal_by_player(self) -> int:
        """Games that the player lost by an illegal action."""
        return self.player_faults["illegal"]

    @property
    def illegal_by_opponent(self) -> int:
        """Games that the opponent lost by an illegal action."""
        return self.opponent_faults["illegal"]

    @property
    def elo(self) -> Elo:
        """The score as Elo."""
        return Elo(*(_finite(elo_difference(score)) for score in (self.score, self.low, self.high)))

    def to_dict(self, with_games: bool = False) -> dict[str, Any]:
        """Everything, for JSON: numbers, texts, lists and dicts; `results` on request."""
        values = {key: value for key, value in vars(self).items() if key != "results"}
        values["parameters"] = dict(self.parameters)
        values["openings"] = dataclasses.asdict(self.openings)
        values["pairs"] = list(self.pairs)
        for side in ("as_black", "as_white"):
            values[side] = dataclasses.asdict(values[side])
        values["sprt"] = None if self.sprt is None else {**self.sprt._asdict(), "counts": list(self.sprt.counts)}
        values["elo"] = dataclasses.asdict(self.elo)
        if with_games:
            values["results"] = [result.to_dict() for result in self.results]
        return {"format": FORMAT, **values}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MatchResult:
        """What `to_dict` gave.

        Raises:
            ValueError: it is of another format, or fields are missing or unknown.
        """
        given = dict(values)
        if (found := given.pop("format", None)) != FORMAT:
            raise ValueError(f"this is no match result of format {FORMAT!r}: its format is {found!r}")
        try:
            del given["elo"]  # follows from the score
            for side in ("as_black", "as_white"):
                given[side] = Tally(**given[side])
            balance = given["openings"]["balance"]
            plan = {**given["openings"], "balance": None if balance is None else Balance(**balance)}
            given["openings"] = OpeningsPlan(**plan)
            given["pairs"] = tuple(given["pairs"])
            if (sprt := given["sprt"]) is not None:
                given["sprt"] = SprtState(**{**sprt, "counts": tuple(sprt["counts"])})
            given["results"] = tuple(GameResult.from_dict(result) for result in given.get("results", ()))
            return cls(**given)
        except (KeyError, TypeError) as error:
            raise ValueError(f"this match result cannot be read: {error}") from error

    def records(self, date: str | None = None) -> Iterator[Record]:
        """The games as records, in order; see `GameResult.record`.

        `date` is the day of the match, such as `2026-11-29`.
        """
        game = load_game(self.game, **self.parameters)
        for result in self.results:
            yield result.record(game, self.player, self.opponent, seed=self.seed, date=date)


def pair_scores(results: Sequence[GameResult]) -> dict[int, float]:
    """The player's points a game, in [0, 1], of each pair by its number."""
    pairs: dict[int, list[float]] = {}
    for result in results:
        pairs.setdefault(result.pair, []).append(result.points)
    return {pair: statistics.fmean(points) for pair, points in pairs.items()}


def count_distinct(results: Sequence[GameResult]) -> int:
    """How many of the games differ from all others."""
    return len({(result.start, result.actions, result.fault) for result in results})


def count_faults(results: Sequence[GameResult], side: Side) -> dict[str, int]:
    """How many games a side lost by each kind of fault."""
    kinds = [result.fault.kind for result in results if result.fault is not None and result.fault_by == side]
    return {kind: kinds.count(kind) for kind in FAULT_KINDS}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
