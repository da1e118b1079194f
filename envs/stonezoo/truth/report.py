"""Measurements as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from stonezoo.core.game import PLAYER_NAMES
from stonezoo.truth.result import Share, Truth
from stonezoo.truth.versus import Versus


def truth_table(truths: Sequence[Truth]) -> Table:
    """A table with a column a player and a row a share, to be printed by rich."""
    table = Table(box=None, pad_edge=False)
    table.add_column("share of best actions", no_wrap=True)
    for truth in truths:
        table.add_column(truth.player, justify="right", overflow="fold")
    table.add_row("all decisive positions", *(_show(truth.optimal) for truth in truths))
    table.add_row("95% interval", *(f"{truth.optimal.low:.3f}-{truth.optimal.high:.3f}" for truth in truths))
    table.add_row("choosing uniformly", *(f"{truth.uniform:.3f}" for truth in truths))
    table.add_row("right sign of the value", *(_show(truth.value_signs) for truth in truths))
    for name in dict.fromkeys(name for truth in truths for name in truth.by_phase):
        table.add_row(f"phase {name}", *(_show(truth.by_phase.get(name)) for truth in truths))
    for name in dict.fromkeys(name for truth in truths for name in truth.by_distance):
        label = name if name == "drawn" else f"{name} actions to the end"
        table.add_row(label, *(_show(truth.by_distance.get(name)) for truth in truths))
    table.add_row("decisive positions", *(f"{truth.decisive:,}" for truth in truths))
    return table


def versus_line(name: str, seats: Sequence[Versus]) -> str:
    """A player's results against best play, in a line."""
    words = [
        f"as {PLAYER_NAMES[seat.seat]} (worth {seat.value:+d}) {seat.wins}/{seat.draws}/{seat.losses}" for seat in seats
    ]
    return f"{name} against best play, wins/draws/losses: {', '.join(words)}"


def _show(share: Share | None) -> str:
    return "" if share is None else f"{share.value:.3f}"
