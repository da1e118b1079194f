"""What came out of a match: plain values, to JSON and back."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from stonezero.rating import score_interval
from stonezoo import Game, load_game
from stonezoo.record import BLACK_WINS, DRAW, UNFINISHED, WHITE_WINS, Comment, Record

FORMAT = "stonezero/match@1"


@dataclass(frozen=True)
class GameResult:
    """One game of a match."""

    pair: int  # number of the opening; the two games of a pair share it
    player_is_black: bool
    winner: int  # 0 Black, 1 White, -1 nobody
    actions: tuple[int, ...]  # from the initial state, the opening included, an illegal one not
    illegal_by: Literal["player", "opponent"] | None = None  # who lost the game by an illegal action
    illegal_action: int | None = None

    @property
    def points(self) -> float:
        """The player's score: 1, 1/2 or 0."""
        if self.winner < 0:
            return 0.5
        return 1.0 if (self.winner == 0) == self.player_is_black else 0.0


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
class MatchResult:
    """A match as its player sees it. Equal when all but the times is equal."""

    player: str  # the players' texts
    opponent: str
    game: str
    parameters: Mapping[str, int | str]
    rules_id: str
    seed: int
    opening_actions: int
    games: int
    wins: int
    draws: int
    losses: int
    score: float  # points a game, in [0, 1]
    low: float  # 95% interval of the score, over pairs
    high: float
    as_black: Tally
    as_white: Tally
    distinct_games: int
    illegal_by_player: int  # games lost by an illegal action
    illegal_by_opponent: int
    mean_length: float  # actions a game
    seconds: float = field(compare=False)
    player_seconds: float = field(compare=False)  # spent in the player's `act`
    opponent_seconds: float = field(compare=False)
    results: tuple[GameResult, ...] = ()  # in the order of pairs; () when read without games

    @classmethod
    def from_games(
        cls,
        *,
        player: str,
        opponent: str,
        game: Game,
        seed: int,
        opening_actions: int,
        results: Sequence[GameResult],
        seconds: float,
        player_seconds: float,
        opponent_seconds: float,
    ) -> MatchResult:
        """Adds the games up; `results` holds both games of every pair."""
        tally = Tally.of(results)
        pairs: dict[int, list[float]] = {}
        for result in results:
            pairs.setdefault(result.pair, []).append(result.points)
        interval = score_interval([statistics.fmean(points) for points in pairs.values()])
        illegal = [result.illegal_by for result in results]
        return cls(
            player=player,
            opponent=opponent,
            game=game.name,
            parameters=dict(game.parameters),
            rules_id=game.rules_id,
            seed=seed,
            opening_actions=opening_actions,
            games=len(results),
            wins=tally.wins,
            draws=tally.draws,
            losses=tally.losses,
            score=interval.score,
            low=interval.low,
            high=interval.high,
            as_black=Tally.of([result for result in results if result.player_is_black]),
            as_white=Tally.of([result for result in results if not result.player_is_black]),
            distinct_games=len({(result.actions, result.illegal_action) for result in results}),
            illegal_by_player=illegal.count("player"),
            illegal_by_opponent=illegal.count("opponent"),
            mean_length=statistics.fmean(len(result.actions) for result in results),
            seconds=seconds,
            player_seconds=player_seconds,
            opponent_seconds=opponent_seconds,
            results=tuple(results),
        )

    def to_dict(self, with_games: bool = False) -> dict[str, Any]:
        """Everything, for JSON: numbers, texts, lists and dicts; `results` on request."""
        values = {"format": FORMAT, **dataclasses.asdict(self)}
        if not with_games:
            del values["results"]
        else:
            values["results"] = [{**result, "actions": list(result["actions"])} for result in values["results"]]
        return values

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
            for side in ("as_black", "as_white"):
                given[side] = Tally(**given[side])
            given["results"] = tuple(
                GameResult(**{**result, "actions": tuple(result["actions"])}) for result in given.get("results", ())
            )
            return cls(**given)
        except (KeyError, TypeError) as error:
            raise ValueError(f"this match result cannot be read: {error}") from error

    def records(self, date: str | None = None) -> Iterator[Record]:
        """The games as records, in order; one lost by an illegal action is unfinished and says so in a comment.

        `date` is the day of the match, such as `2026-11-29`.
        """
        game = load_game(self.game, **self.parameters)
        for result in self.results:
            players = (self.player, self.opponent) if result.player_is_black else (self.opponent, self.player)
            comments = [Comment(self.opening_actions, "the players begin here")]
            outcome = {-1: DRAW, 0: BLACK_WINS, 1: WHITE_WINS}[result.winner]
            if result.illegal_by is not None:
                outcome = UNFINISHED
                text = f"the {result.illegal_by} answered {result.illegal_action}, which is illegal, and loses"
                comments.append(Comment(len(result.actions), text))
            yield Record(game, result.actions, players, outcome, date, self.seed, comments=tuple(comments))
