"""Matches and tournaments for people: tables, Markdown, records in a file."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from stonezero.arena.report import fault_lines
from stonezero.arena.result import MatchResult, Tally
from stonezero.arena.sheet import Sheet
from stonezero.arena.tournament import TournamentResult
from stonezero.rating import elo_difference
from stonezero.run import write_atomic
from stonezoo.record import Record, write_record

WIDEST_CROSS_TABLE = 10  # players; more do not fit a terminal, and are in the Markdown all the same


def describe_game(game: str, parameters: Mapping[str, int | str]) -> str:
    """A game with its parameters, in a line."""
    return f"{game} ({', '.join(f'{key}={value}' for key, value in parameters.items())})"


def match_sheet(match: MatchResult) -> Sheet:
    """The player's wins, draws and losses in all and per colour."""

    def row(name: str, tally: Tally, *more: str) -> list[str]:
        return [name, str(tally.wins), str(tally.draws), str(tally.losses), f"{tally.score:.3f}", *more]

    everything = Tally(match.wins, match.draws, match.losses)
    difference, low, high = (_elo(elo_difference(score)) for score in (match.score, match.low, match.high))
    doubt = f"{match.low:.3f}–{match.high:.3f}", f"{difference} [{low}, {high}]"
    return Sheet(
        f"{match.player} against {match.opponent}, {describe_game(match.game, match.parameters)}",
        ["", "won", "drawn", "lost", "score", "95% interval", "Elo"],
        [
            row("all", everything, *doubt),
            row("as Black", match.as_black, "", ""),
            row("as White", match.as_white, "", ""),
        ],
    )


def match_notes(match: MatchResult) -> list[str]:
    """What belongs below the table of a match."""
    notes = [
        f"{match.games} games, {match.distinct_games} distinct, {match.mean_length:.0f} actions each; openings: "
        f"{match.openings}",
        f"pairs by points 0, ½, 1, 1½, 2: {', '.join(map(str, match.pairs))}",
        f"a move took {match.player} {_cost(match.player_seconds, match.player_actions)}, {match.opponent} "
        f"{_cost(match.opponent_seconds, match.opponent_actions)} (in batches)",
    ]
    if match.seconds_per_move is not None:
        notes.append(f"simulations chosen for {match.seconds_per_move:g} s a move")
    if match.sprt is not None:
        notes.append(str(match.sprt))
    return notes + fault_lines(match)


def rating_sheet(result: TournamentResult) -> Sheet:
    """The players by their rating, the best first."""
    rows = []
    for rating in sorted(result.ratings.players, key=lambda rating: -rating.elo):
        totals = result.totals(rating.name)
        seconds = totals["seconds_an_action"]
        rows.append(
            [
                rating.name,
                _elo(rating.elo),
                f"{_elo(rating.low)} to {_elo(rating.high)}",
                str(rating.games),
                f"{rating.score:.3f}",
                f"{totals['score_as_black']:.3f}",
                f"{totals['score_as_white']:.3f}",
                str(sum(totals["faults"].values())),
                "" if seconds is None else f"{1000 * seconds:.2g}",
            ]
        )
    interval = f"{result.ratings.confidence:.0%} interval"
    headings = ["player", "Elo", interval, "games", "score", "as Black", "as White", "faults", "ms a move"]
    return Sheet(describe_game(result.plan.game, result.plan.parameters), headings, rows)


def cross_sheet(result: TournamentResult) -> Sheet:
    """What each player scored against each other, the best first."""
    order = [rating.name for rating in sorted(result.ratings.players, key=lambda rating: -rating.elo)]
    rows = []
    for name in order:
        row = [name]
        for other in order:
            found = result.match(name, other) if name != other else None
            row.append("" if found is None else f"{found[0].score if found[1] else 1 - found[0].score:.3f}")
        rows.append(row)
    return Sheet("score of the row against the column", ["", *order], rows)


def tournament_notes(result: TournamentResult) -> list[str]:
    """What belongs below the tables of a tournament."""
    ratings, plan = result.ratings, result.plan
    advantage = ratings.advantage
    games = sum(match.games for match in result.matches)
    zero = "the mean" if ratings.anchor is None else ratings.anchor
    notes = [
        f"the first player's advantage: {_elo(advantage.score)} Elo, {_elo(advantage.low)} to {_elo(advantage.high)}; "
        f"draws between equals: {ratings.draw_rate:.1%}",
        f"{games} games in pairs with colours swapped, {plan.games} a meeting; openings: {result.matches[0].openings}",
        f"Bradley-Terry with draws and a first-player term, {zero} at 0; intervals by {ratings.replicates} bootstrap "
        "replicates over pairs",
    ]
    if plan.seconds_per_move is not None:
        notes.append(f"simulations chosen for {plan.seconds_per_move:g} s a move")
    return notes + [line for match in result.matches for line in fault_lines(match)]


def markdown(sheets: Iterable[Sheet], notes: Iterable[str]) -> str:
    """Tables and notes as one Markdown text."""
    return "\n".join([*(sheet.markdown() for sheet in sheets), *(f"- {note}" for note in notes), ""])


def write_records(path: str | Path, records: Iterable[Record]) -> None:
    """Writes games as records into one file, whole or not at all."""
    text = io.StringIO()
    for record in records:
        write_record(text, record)
    write_atomic(path, text.getvalue())


def _elo(value: float) -> str:
    if math.isfinite(value):
        return f"{round(value):+d}"
    return "-∞" if value < 0 else "+∞"


def _cost(seconds: float, actions: int) -> str:
    return f"{1000 * seconds / actions:.2g} ms" if actions else "no time"
