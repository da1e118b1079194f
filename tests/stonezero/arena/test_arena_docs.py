"""docs/arena.md describes every field of the JSON that the commands print."""

import re
from pathlib import Path
from typing import Any

from stonezero.arena.tournament import TournamentPlan, run_tournament

TEXT = (Path(__file__).parents[3] / "docs" / "arena.md").read_text(encoding="utf-8")


def test_every_field_of_a_result_is_described_and_no_other(tmp_path: Path) -> None:
    plan = TournamentPlan(("random", "uct:2"), "rive", {"board_size": 2}, games=4)
    values = run_tournament(plan, tmp_path / "t").to_dict()
    matches, tournament = re.findall(r"\n(\| field \|.*?)\n\n", TEXT + "\n\n", re.DOTALL)
    assert first_column(matches) == set(values["matches"][0])
    assert first_column(tournament) == set(values)
    for table, fields in (
        (tournament, values["plan"]),
        (tournament, values["ratings"][0]),
        (matches, values["openings"]),
    ):
        assert_named(table, fields)


def first_column(table: str) -> set[str]:
    return {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}


def assert_named(table: str, fields: dict[str, Any]) -> None:
    assert not [field for field in fields if f"`{field}`" not in table]


def test_the_defaults_that_are_stated_are_the_programs() -> None:
    from stonezero.arena import Balance
    from stonezero.arena.isolation import TIME_LIMIT
    from stonezero.arena.lockstep import CONCURRENT
    from stonezero.arena.match import MIN_DISTINCT, OPENING_ACTIONS, SPRT_CONCURRENT
    from stonezero.rating.ratings import PRIOR_PAIRS, REPLICATES

    assert f"Up to {CONCURRENT} games go on at once ({SPRT_CONCURRENT} with" in TEXT
    assert f"(default {OPENING_ACTIONS})" in TEXT
    assert f"`{Balance().search}`" in TEXT
    assert f"default {Balance().low} to {Balance().high}" in TEXT
    assert f"fewer than {MIN_DISTINCT:.0%} are distinct" in TEXT
    assert f"({TIME_LIMIT:.0f} s by default)" in TEXT
    assert f"{REPLICATES:,} replicates" in TEXT
    assert PRIOR_PAIRS == 0.5
    assert "Half a pair a meeting" in TEXT
