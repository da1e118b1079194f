"""How values depend on the limit on endless play, against tables made under each limit."""

import numpy as np
import pytest

import stonezoo
from stonezoo.core.game import endless_counter
from stonezoo.solve import Table
from stonezoo.solve.limits import limit_report
from stonezoo.solve.memory import read_memory
from tests.stonezoo.games.graph import reachable
from tests.stonezoo.solve.truth import CASES, truth_of


def test_every_look_is_what_a_table_under_that_limit_says() -> None:
    """Dara 3 x 3 with 3 stones (D7), states without quiet slides."""
    game = stonezoo.load_game("dara", rows=3, columns=3, stones=3)
    report = limit_report(game)
    entry = endless_counter(game.rules)[0]
    rows = reachable(stonezoo.load_game("dara", rows=3, columns=3, stones=3, quiet_limit=7)).rows
    rows = rows[(rows[:, 2] == 0) & (rows[:, entry] == 0)]
    unlimited = Table.build(game).values(rows)
    smallest = {}
    for limit in (1, 2, 3, 4, 5, 6):
        table = Table.build(
            stonezoo.load_game("dara", rows=3, columns=3, stones=3, quiet_limit=limit), with_counter=True
        )
        smallest[limit] = int((table.values(rows) != unlimited).sum())
    assert report.enough == min(limit for limit, changed in smallest.items() if changed == 0) == 5
    for limit, look in report.looks.items():
        if limit in smallest:
            assert (look.drawn > 0) == (smallest[limit] > 0)


def test_the_start_needs_less_than_all_positions_do() -> None:
    """Dara 3 x 4: the outer openings lose from a limit of 6 on, as tables with the count in the state say too."""
    game = stonezoo.load_game("dara", rows=3, columns=4, stones=3)
    report = limit_report(game)
    assert (report.start_enough, report.enough) == (6, 11)
    for limit, holds in ((5, False), (6, True)):
        small = stonezoo.load_game("dara", rows=3, columns=4, stones=3, quiet_limit=limit)
        values = Table.build(small, with_counter=True).action_values(small.initial_state().row[None])[0, :12]
        assert (values.tolist() == [-1, 0, 0, -1] * 3) == holds


@pytest.mark.parametrize("case", CASES[1:5])
def test_a_full_board_of_resolve_is_never_needed_for_long(case: tuple[str, dict[str, object]]) -> None:
    """S9: on boards up to 3 x 3 nothing is drawn, and one counted turn is enough."""
    report = limit_report(truth_of(case).game)
    assert (report.enough, report.start_enough) == (1, 1)
    first = truth_of(case).rows[:, endless_counter(truth_of(case).game.rules)[0]] == 0
    assert (np.abs(truth_of(case).values[first]) == 1).all()


def test_a_game_that_cannot_go_on_for_ever_has_no_limit() -> None:
    report = limit_report(stonezoo.load_game("rive", board_size=2))
    assert (report.enough, report.looks) == (0, {})
    assert report.decided == 215


def test_amounts_of_memory_are_written_in_plain_digits() -> None:
    with pytest.raises(ValueError, match=r"is no amount of memory, such as 4G"):
        read_memory("\u0664G")
