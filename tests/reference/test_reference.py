"""The referees against the counts, the known values and the lengths of random games that the rules state."""

import copy
import random
from collections.abc import Callable
from statistics import mean, stdev

import pytest

from .dara import Dara
from .perft import after_actions, perft_actions, perft_actions_merged, perft_turns, perft_turns_merged
from .play import random_game
from .resolve import Resolve
from .rive import Rive
from .solve import can_win, minimax, retrograde

RESOLVE_RULES = ["standard", "original"]
DARA_RULES = ["standard", "no_drop_threes"]


# Counts from the start ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (Rive.initial(board_size=2), [7, 24, 72, 204, 600, 1296, 2496]),
        (Rive.initial(board_size=3), [19, 258, 2340, 12768]),
        (Resolve.initial(board_size=3), [9, 72, 504, 3024, 15024]),
        (Resolve.initial(board_size=3, rules="original"), [9, 72, 504, 3024, 15024]),
        (Resolve.initial(board_size=4), [16, 240, 3360]),
        (Dara.initial(), [30, 870, 24360]),
        (Dara.initial(rows=3, columns=3, stones=3), [9, 72, 504, 3024, 15120]),
        (Dara.initial(rows=3, columns=3, stones=3, rules="no_drop_threes"), [9, 72, 504, 3024, 14040]),
    ],
)
def test_action_counts_found_one_by_one(start: Rive | Resolve | Dara, expected: list[int]) -> None:
    assert [perft_actions(start, depth + 1) for depth in range(len(expected))] == expected


RESOLVE_3_ACTIONS = [9, 72, 504, 3024, 15024, 57360, 162720, 280512]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (Rive.initial(board_size=3), [19, 258, 2340, 12768, 38880, 210240]),
        (Resolve.initial(board_size=3), [*RESOLVE_3_ACTIONS, 310656, 226800]),
        (Resolve.initial(board_size=3, rules="original"), [*RESOLVE_3_ACTIONS, 311232, 230832]),
        (Resolve.initial(board_size=4), [16, 240, 3360, 43680]),
        (Resolve.initial(board_size=4, rules="original"), [16, 240, 3360, 43680]),
        (Dara.initial(), [30, 870, 24360, 657720]),
        (
            Dara.initial(rows=3, columns=3, stones=3),
            [9, 72, 504, 3024, 15120, 60480, 181440, 518832],
        ),
        (
            Dara.initial(rows=3, columns=3, stones=3, rules="no_drop_threes"),
            [9, 72, 504, 3024, 14040, 52272, 158112, 470016],
        ),
    ],
)
def test_action_counts_with_equal_positions_merged(start: Rive | Resolve | Dara, expected: list[int]) -> None:
    assert perft_actions_merged(start, len(expected)) == expected


@pytest.mark.slow
def test_dara_counts_five_deep() -> None:
    assert perft_actions_merged(Dara.initial(), 5) == [30, 870, 24360, 657720, 17100720]


def test_resolve_turn_counts() -> None:
    small, larger = Resolve.initial(board_size=3), Resolve.initial(board_size=4)
    expected = [9, 72, 504, 3056, 15600, 63696, 196128, 384864, 323472]
    assert perft_turns_merged(small, 9) == expected
    assert [perft_turns(small, depth + 1) for depth in range(5)] == expected[:5]
    assert perft_turns_merged(larger, 4) == [16, 240, 3360, 43752]


# Known values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RESOLVE_RULES)
def test_resolve_3_is_won_exactly_by_opening_on_an_outer_column(rules: str) -> None:
    memo: dict[object, int] = {}
    openings = [minimax(after, memo) for after in after_actions(Resolve.initial(board_size=3, rules=rules))]
    assert openings == [1, -1, 1] * 3


@pytest.mark.slow
@pytest.mark.parametrize("rules", RESOLVE_RULES)
def test_resolve_4_is_won_by_the_second_player(rules: str) -> None:
    """One opening of each kind that turning the board upside down or left to right makes equal."""
    start = Resolve.initial(board_size=4, rules=rules)
    memo: dict[object, bool] = {}
    assert all(can_win(start.play(opening), 1, memo) for opening in (5, 4, 1, 0))


def test_rive_2_is_won_exactly_by_opening_in_the_centre() -> None:
    memo: dict[object, int] = {}
    openings = [minimax(after, memo) for after in after_actions(Rive.initial(board_size=2))]
    assert openings == [-1, -1, -1, 1, -1, -1, -1]


def without_quiet(position: Dara) -> Dara:
    """Return the position with the counter of D7 at 0, so that no draw by D7 ever comes."""
    fresh = copy.copy(position)
    fresh.quiet = 0
    return fresh


def dara_opening_values(start: Dara) -> list[int]:
    values = retrograde(start, without_quiet)
    return [values[after.key()] for after in after_actions(start)]


@pytest.mark.parametrize("rules", DARA_RULES)
def test_dara_3_by_3_is_a_draw(rules: str) -> None:
    assert dara_opening_values(Dara.initial(rows=3, columns=3, stones=3, rules=rules)) == [0] * 9


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "row"), [("standard", [-1, 0, 0, -1]), ("no_drop_threes", [0, 0, 0, 0])])
def test_dara_3_by_4_is_a_draw(rules: str, row: list[int]) -> None:
    assert dara_opening_values(Dara.initial(rows=3, columns=4, stones=3, rules=rules)) == row * 3


# Random play, for scale -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "expected", "games"),
    [
        (lambda: Rive.initial(board_size=3), 57, 300),
        (lambda: Rive.initial(board_size=4), 190, 60),
        (lambda: Rive.initial(board_size=5), 470, 20),
        (lambda: Resolve.initial(board_size=5), 24, 300),
        (lambda: Resolve.initial(board_size=9), 81, 60),
        (lambda: Resolve.initial(board_size=13), 174, 20),
    ],
)
def test_random_games_have_the_length_the_rules_give(
    start: Callable[[], Rive | Resolve], expected: int, games: int
) -> None:
    """The mean lies within 4 standard errors of the stated one, and 3% for its rounding."""
    rng = random.Random(0)
    lengths = [len(random_game(start(), rng)) - 1 for _ in range(games)]
    assert abs(mean(lengths) - expected) <= 4 * stdev(lengths) / games**0.5 + 0.03 * expected


def test_random_games_of_dara_have_the_length_the_rules_give() -> None:
    """24 drops, then between 57 and 135 further actions in the mean."""
    rng = random.Random(0)
    games = [random_game(Dara.initial(), rng) for _ in range(40)]
    assert 57 <= mean(len(game) - 1 - 24 for game in games) <= 135
