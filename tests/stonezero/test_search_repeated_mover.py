"""Players act several times in a row: the search against exact values, and the fault that this must show."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezero.search
from stonezero.config import SearchConfig
from stonezero.evaluator import UniformEvaluator
from stonezoo.core.game import TO_PLAY
from tests.stonezero.search_copy import search_with
from tests.stonezero.toy_game import after, legal, minimax, start, toy_game

SIMULATIONS = 300
SALTS = range(40)

# Values as each player sees them, negated at every step up the tree: right only where players alternate.
ALWAYS_NEGATE = [
    ("return 1.0 if pool.halves[2 * at + PLAYER] == 0 else -1.0", "return 1.0"),
    ("pool.numbers[at + VALUE] = 1.0", "pool.numbers[at + VALUE] = 1.0 - 2.0 * state[TO_PLAY]"),
    ("pool.numbers[at + VALUE] = -1.0", "pool.numbers[at + VALUE] = -1.0 + 2.0 * state[TO_PLAY]"),
    ("[pair + VALUE_SUM] += value\n", "[pair + VALUE_SUM] += value * (-1.0) ** (int(tree.use[b, DEPTH]) - k)\n"),
]


@pytest.fixture
def faulty_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class `Search` from a copy of the sources that always negates."""
    return search_with({"tree.py": ALWAYS_NEGATE}, tmp_path, monkeypatch)


def decisive_positions(turn_length: int, num_turns: int) -> list[tuple[Any, Any, dict[int, float]]]:
    """(game, state, value of each action for the player to act) where some action is best and another is not.

    Positions at the start, and after one action: in mid-turn where turns are long.
    """
    found = []
    for salt in SALTS:
        game = toy_game(salt, width=2, turn_length=turn_length, num_turns=num_turns, full=True)
        for actions in ((), (0,)):
            state = start(game, actions)
            sign = 1 if state[TO_PLAY] == 0 else -1
            values = {a: sign * minimax(game, after(game, state, a)) for a in legal(game, state)}
            if len(set(values.values())) > 1:
                found.append((game, state, values))
    return found


def share_of_best_moves(search_class: Any, turn_length: int, num_turns: int, algorithm: str) -> float:
    positions = decisive_positions(turn_length, num_turns)
    assert len(positions) > 15
    right = 0
    for game, state, values in positions:
        search = search_class(game, SearchConfig(algorithm=algorithm), 1, SIMULATIONS)
        action = int(search.run(np.ascontiguousarray(state[None]), UniformEvaluator(2)).action[0])
        right += values[action] == max(values.values())
    return right / len(positions)


@pytest.mark.parametrize("algorithm", ["gumbel", "puct"])
def test_search_finds_the_best_move_where_players_act_three_times_in_a_row(algorithm: str) -> None:
    assert share_of_best_moves(stonezero.search.Search, 3, 2, algorithm) >= 0.95


def test_search_finds_the_best_move_where_players_alternate() -> None:
    assert share_of_best_moves(stonezero.search.Search, 1, 6, "gumbel") >= 0.95


@pytest.mark.slow
def test_a_search_that_always_negates_fails_where_players_act_three_times_in_a_row(faulty_search: Any) -> None:
    assert share_of_best_moves(faulty_search, 3, 2, "gumbel") < 0.8
    assert share_of_best_moves(faulty_search, 1, 6, "gumbel") >= 0.95  # the fault shows nowhere else
