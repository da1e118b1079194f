"""The engine against the referees, ply by ply.

STONEZOO_TEST_PLIES says how many plies the slow test compares (default 5 million).
"""

import os
from itertools import count

import pytest

from tests.stonezoo.games.positions import random_text
from tests.stonezoo.games.referees import RULES, Case, case_id, load, play_beside, read, rng_of, start

PLIES_VARIABLE = "STONEZOO_TEST_PLIES"
PLIES = 30_000  # of all cases together, from the start of the game
FROM_POSITIONS = 8_000  # from random positions
STYLES = ("uniform", "uniform", "long", "chain")


def dara(rows: int, columns: int, stones: int, rules: str = "standard", quiet_limit: int = 100) -> Case:
    parameters = {"rows": rows, "columns": columns, "stones": stones, "rules": rules, "quiet_limit": quiet_limit}
    return "dara", parameters


CASES: list[Case] = [
    *(("rive", {"board_size": n}) for n in (2, 3, 4, 5)),
    *(("resolve", {"board_size": n, "rules": rules}) for n in (2, 3, 4, 5, 7, 9) for rules in RULES["resolve"]),
    *(dara(5, 6, 12, rules) for rules in RULES["dara"]),
    *(dara(3, 3, 3, rules, 4) for rules in RULES["dara"]),
    *(dara(3, 4, 3, rules, 20) for rules in RULES["dara"]),
    *(dara(4, 4, 7, rules, 10) for rules in RULES["dara"]),
    dara(1, 10, 4, quiet_limit=7),
    dara(10, 1, 4, quiet_limit=7),
    dara(1, 7, 3, "no_drop_threes", 3),
    dara(9, 1, 3, "no_drop_threes", 1),
    dara(2, 7, 6, quiet_limit=30),
    dara(6, 5, 14, "no_drop_threes"),
    dara(10, 10, 49, quiet_limit=10),
    dara(10, 10, 25, "no_drop_threes", 50),
]
LARGE: list[Case] = [
    *(("rive", {"board_size": n}) for n in (6, 7, 8)),
    *(("resolve", {"board_size": n, "rules": rules}) for n in (13, 19) for rules in RULES["resolve"]),
]


def compare_games(case: Case, plies: int, seed: object) -> None:
    game, rng = load(case), rng_of(case, seed)
    left = plies
    for number in count():
        if left <= 0:
            return
        style = STYLES[number % len(STYLES)]
        left -= play_beside(game.initial_state(), start(case), left, style, rng)


def compare_from_positions(case: Case, plies: int, seed: object) -> None:
    game, rng = load(case), rng_of(case, seed)
    left = plies
    for number in count():
        if left <= 0:
            return
        text = random_text(case, rng)
        left -= 1 + play_beside(game.parse_state(text), read(case, text), 40, STYLES[number % len(STYLES)], rng)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_random_games_go_as_the_referee_says(case: Case) -> None:
    often = 4 if case in (("rive", {"board_size": 4}), ("rive", {"board_size": 5})) else 1  # captures of every kind
    compare_games(case, often * -(-PLIES // len(CASES)), seed=0)


@pytest.mark.parametrize("case", LARGE, ids=case_id)
def test_random_games_on_large_boards_go_as_the_referee_says(case: Case) -> None:
    compare_games(case, 500, seed=0)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_play_from_random_positions_goes_as_the_referee_says(case: Case) -> None:
    compare_from_positions(case, FROM_POSITIONS // len(CASES), seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_millions_of_plies_go_as_the_referee_says(case: Case) -> None:
    plies = int(os.environ.get(PLIES_VARIABLE, "5000000")) // len(CASES)
    compare_games(case, plies * 3 // 4, seed=1)
    compare_from_positions(case, plies - plies * 3 // 4, seed=1)
