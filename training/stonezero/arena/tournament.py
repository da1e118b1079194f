"""Tournaments: everybody against everybody, or one against the rest, in a folder from which they go on after a kill."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from stonezero.arena.balance import Balance
from stonezero.arena.contestant import Contestant
from stonezero.arena.isolation import TIME_LIMIT, check_time_limit, open_contestant
from stonezero.arena.lockstep import CONCURRENT, Lockstep
from stonezero.arena.match import OPENING_ACTIONS, STREAM_SPAWN, check_distinct, check_games
from stonezero.arena.openings import Openings, find_openings, read_openings
from stonezero.arena.result import MatchResult
from stonezero.arena.storage import Share, TournamentFolder
from stonezero.players import NetworkPlayer, locate_checkpoint
from stonezero.rating import Meeting, Ratings, rate
from stonezoo import Game, load_game
from stonezoo.players import make_player

FORMAT = "stonezero/tournament@1"
TournamentProgress: TypeAlias = Callable[[str, int, int], None]  # what is under way, games finished, games in all


@dataclass(frozen=True)
class TournamentPlan:
    """Who plays whom, how often and from where; what fixes a tournament."""

    players: tuple[str, ...]  # their texts
    game: str
    parameters: Mapping[str, int | str]
    games: int  # of each meeting, even
    seed: int = 0
    opening_actions: int = OPENING_ACTIONS
    balance: Balance | None = None
    openings_file: str | None = None
    gauntlet: str | None = None  # the player that meets all others, who do not meet; None: everybody meets everybody
    time_limit: float = TIME_LIMIT  # s an action, of players that have processes of their own
    isolate: bool | None = None
    asked: tuple[str, ...] | None = None  # the texts whose simulations were chosen for `seconds_per_move`
    seconds_per_move: float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for what cannot be played."""
        check_games(self.games)
        check_time_limit(self.time_limit)
        if self.opening_actions < 0:
            raise ValueError(f"opening_actions={self.opening_actions} must not be negative")
        if len(self.players) < 2:
            raise ValueError(f"{len(self.players)} player: a tournament has two or more")
        if twice := sorted({name for name in self.players if self.players.count(name) > 1}):
            raise ValueError(f"players {', '.join(twice)} are there twice; each plays once")
        if self.gauntlet is not None and self.gauntlet not in self.players:
            raise ValueError(f"gauntlet={self.gauntlet!r} is not one of the players {', '.join(self.players)}")

    @property
    def meetings(self) -> list[tuple[int, int]]:
        """Who meets whom, by number; the gauntlet's player comes first in its meetings."""
        if self.gauntlet is None:
            return list(itertools.combinations(range(len(self.players)), 2))
        runner = self.players.index(self.gauntlet)
        return [(runner, other) for other in range(len(self.players)) if other != runner]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            **dataclasses.asdict(self),
            "players": list(self.players),
            "asked": None if self.asked is None else list(self.asked),
            "parameters": dict(self.parameters),
        }


@dataclass(frozen=True)
class TournamentResult:
    """What came out; its JSON is described in docs/arena.md."""

    plan: TournamentPlan
    rules_id: str
    matches: tuple[MatchResult, ...]  # in the order of `plan.meetings`
    ratings: Ratings

    def to_dict(self) -> dict[str, Any]:
        """Everything but the games, for JSON."""
        names = self.plan.players
        return {
            "format": FORMAT,
            "plan": self.plan.to_dict(),
            "rules_id": self.rules_id,
            "openings": dataclasses.asdict(self.matches[0].openings),
            "ratings": [{**rating._asdict(), **self.totals(rating.name)} for rating in self.ratings.players],
            "first_player_elo": self.ratings.advantage._asdict(),
            "draw_rate": self.ratings.draw_rate,
            "confidence": self.ratings.confidence,
            "replicates": self.ratings.replicates,
            "superiority": [
                [None if i == j else self.ratings.superiority(i, j) for j in range(len(names))]
                for i in range(len(names))
            ],
            "matches": [match.to_dict() for match in self.matches],
        }

    def match(self, first: str, second: str) -> tuple[MatchResult, bool] | None:
        """The match of two players, and whether `first` is its player; None when they did not meet."""
        for match in self.matches:
            if (match.player, match.opponent) in ((first, second), (second, first)):
                return match, match.player == first
        return None

    def totals(self, name: str) -> dict[str, Any]:
        """What one player did in all its games: scores with each colour, faults, seconds an action (in batches)."""
        black, white, faults, seconds, actions = [0.0, 0], [0.0, 0], dict[str, int](), 0.0, 0
        for match in self.matches:
            if name not in (match.player, match.opponent):
                continue
            mine = match.player == name
            for total, own, others in (
                (black, match.as_black, match.as_white),
                (white, match.as_white, match.as_black),
            ):
                tally = own if mine else others  # the opponent is Black where the player is White
                total[0] += tally.games * (tally.score if mine else 1 - tally.score)
                total[1] += tally.games
            for kind, count in (match.player_faults if mine else match.opponent_faults).items():
                faults[kind] = faults.get(kind, 0) + count
            seconds += match.player_seconds if mine else match.opponent_seconds
            actions += match.player_actions if mine else match.opponent_actions
        return {
            "score_as_black": black[0] / black[1],
            "score_as_white": white[0] / white[1],
            "faults": faults,
            "seconds_an_action": seconds / actions if actions else None,
        }


def run_tournament(
    plan: TournamentPlan,
    folder: str | Path,
    *,
    anchor: str | None = None,
    concurrent: int = CONCURRENT,
    progress: TournamentProgress | None = None,
) -> TournamentResult:
    """Plays a tournament, or goes on with the one in `folder`, and returns what came out.

    Every finished pair of games is written whole at once. After a kill at any time the same call goes on: no finished
    pair is lost, and none is counted twice. Games depend on the plan alone, so that the result is the same (for players
    that a seed fixes). A run's folder stands for the checkpoint that was its newest when the tournament began.

    Args:
        plan: what to play.
        folder: new, or of this very plan.
        anchor: the player whose rating is 0; None: the players' mean is.
        concurrent: games at once.
        progress: called when games have ended.

    Raises:
        TournamentError: (a ValueError) the folder holds another tournament or something else, or is in use.
        ValueError: a player cannot be made, or there are too few openings.
        RepeatedGamesError: fewer than 95% of the games of a meeting are distinct; they stay in the folder.
    """
    game = load_game(plan.game, **plan.parameters)
    with TournamentFolder.open(
        folder, plan.to_dict(), game, lambda: _choose(plan, game, progress), lambda: pin_players(plan.players, game)
    ) as store:
        openings = store.openings
        shares = {meeting: store.read(meeting) for meeting in plan.meetings}
        done = sum(len(share.results) for shared in shares.values() for share in shared)
        total = plan.games * len(plan.meetings)
        contestants: dict[int, Contestant] = {}
        try:
            for meeting in plan.meetings:
                done = _play(
                    plan, game, openings, meeting, shares[meeting], store, contestants, concurrent, done, progress
                )
            matches = tuple(_match(plan, game, openings, meeting, shares[meeting]) for meeting in plan.meetings)
        finally:
            for contestant in contestants.values():
                contestant.close()
        if progress is not None:
            progress("rating", total, total)
        return TournamentResult(plan, game.rules_id, matches, rate_matches(plan, matches, anchor))


def pin_players(texts: Sequence[str], game: Game) -> dict[str, str]:
    """Texts that name the checkpoint, for those of `texts` that name a run's folder and so its newest checkpoint.

    Raises:
        ValueError: the checkpoint cannot be used.
    """
    pinned = {}
    for text in texts:
        before, colon, after = text.rpartition(":")
        for name, rest in ((text, ""), (before, colon + after)):
            try:
                found = locate_checkpoint(name) if name else None
            except FileNotFoundError:
                continue
            folder = Path(name).expanduser()
            moves = found is not None and found != folder and folder.parent in found.parents and found.exists()
            # A text such as `random` is no folder's name, though a folder may be called so.
            if moves and isinstance(make_player(text, game), NetworkPlayer):
                pinned[text] = f"{found}{rest}"
            break
    return pinned


def rate_matches(plan: TournamentPlan, matches: Sequence[MatchResult], anchor: str | None = None) -> Ratings:
    """Ratings from the matches of a tournament's meetings."""
    meetings = [
        Meeting.of(
            first,
            second,
            [
                (black.points, white.points)
                for black, white in zip(match.results[::2], match.results[1::2], strict=True)
            ],
        )
        for (first, second), match in zip(plan.meetings, matches, strict=True)
    ]
    return rate(plan.players, meetings, anchor=anchor, seed=plan.seed)


def _choose(plan: TournamentPlan, game: Game, progress: TournamentProgress | None) -> Openings:
    if progress is not None:
        progress("choosing openings", 0, plan.games * len(plan.meetings))
    if plan.openings_file is not None:
        return read_openings(plan.openings_file, game, plan.games // 2)
    return find_openings(game, plan.games // 2, plan.opening_actions, plan.seed, plan.balance)


def _play(
    plan: TournamentPlan,
    game: Game,
    openings: Openings,
    meeting: tuple[int, int],
    shares: list[Share],
    store: TournamentFolder,
    contestants: dict[int, Contestant],
    concurrent: int,
    done: int,
    progress: TournamentProgress | None,
) -> int:
    """Plays what is missing of a meeting and adds it to `shares`; returns the games done in all."""
    finished = {result.pair for share in shares for result in share.results}
    missing = [pair for pair in range(plan.games // 2) if pair not in finished]
    first, second = (plan.players[number] for number in meeting)
    if missing:
        for number in meeting:
            if number not in contestants:
                text = plan.players[number]
                contestants[number] = open_contestant(
                    store.played.get(text, text), game, time_limit=plan.time_limit, isolate=plan.isolate
                )
        lockstep = Lockstep(
            game,
            (contestants[meeting[0]], contestants[meeting[1]]),
            openings,
            np.random.SeedSequence(plan.seed, spawn_key=(STREAM_SPAWN, *meeting)),
            pairs=missing,
            concurrent=concurrent,
        )
        start, seconds, asked = time.perf_counter(), [0.0, 0.0], [0, 0]
        for results in lockstep.play():
            now = time.perf_counter()
            share = Share(
                tuple(results),
                now - start,
                tuple(new - old for new, old in zip(lockstep.seconds, seconds, strict=True)),
                tuple(new - old for new, old in zip(lockstep.asked, asked, strict=True)),
            )
            start, seconds, asked = now, list(lockstep.seconds), list(lockstep.asked)
            store.write(meeting, share)
            shares.append(share)
            done += len(results)
            if progress is not None:
                progress(f"{first} against {second}", done, plan.games * len(plan.meetings))
    check_distinct(_match(plan, game, openings, meeting, shares))
    return done


def _match(
    plan: TournamentPlan, game: Game, openings: Openings, meeting: tuple[int, int], shares: Sequence[Share]
) -> MatchResult:
    results = [result for share in shares for result in share.results]
    results.sort(key=lambda result: (result.pair, not result.player_is_black))
    return MatchResult.from_games(
        player=plan.players[meeting[0]],
        opponent=plan.players[meeting[1]],
        game=game,
        seed=plan.seed,
        openings=openings.plan,
        results=results,
        seconds=sum(share.seconds for share in shares),
        contestant_seconds=[sum(share.contestant_seconds[side] for share in shares) for side in (0, 1)],
        contestant_actions=[sum(share.contestant_actions[side] for share in shares) for side in (0, 1)],
        seconds_per_move=plan.seconds_per_move,
    )
