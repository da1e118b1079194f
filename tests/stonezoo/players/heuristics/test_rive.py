"""What Rive's heuristic sees."""

import numpy as np
import pytest

import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.players.heuristics.rive import RiveHeuristic
from tests.stonezoo.players.positions import positions


def by_hand(state: stonezoo.State) -> int:
    """Enemy stones minus own that the best placement takes (V5), from the stones alone, whatever holds them together.

    The stones that leave may be any as long as so many are there: it is a bound that no order of removal exceeds.
    """
    best = 0
    for action in state.legal_actions.tolist():
        after = state.copy()
        after.step(action)
        if after.phase.name == "REMOVE":
            removed = after.counters["remove"]
            merged = after.observation()[:, :, 7]
            enemy = after.observation()[:, :, 1]
            best = max(best, 2 * min(removed, int((merged * enemy).sum())) - removed)
    return best


@pytest.mark.parametrize("board_size", [2, 3, 4])
def test_reach_is_what_the_best_capture_takes(board_size: int) -> None:
    game = stonezoo.load_game("rive", board_size=board_size)
    seen = set()
    for row in positions(game):
        state = game.from_row(row)
        if state.phase.name == "PLACE":
            heuristic = RiveHeuristic(reach=1, tempo=0)
            work = np.zeros(heuristic.work_size(game.rules), np.int32)
            stones = int((state.board == state.to_play).sum() - (state.board == 1 - state.to_play).sum())
            reach = heuristic.value(game.rules, row, state.to_play, work) - 100 * stones
            assert reach == by_hand(state)
            seen.add(reach)
    assert len(seen) > 1


def test_rollouts_take_enemy_stones_where_they_may() -> None:
    # V6: Black has joined the two corners of the top row; the stone that leaves may be of either colour.
    game = stonezoo.load_game("rive", board_size=2)
    state = game.parse_state("X./.../.O b")
    state.step(3)
    assert state.phase.name == "REMOVE"
    assert len(state.legal_actions) == 2
    heuristic = RiveHeuristic()
    work = np.zeros(heuristic.work_size(game.rules), np.int32)
    for stream in new_streams(0, 30):
        action = int(heuristic.quick_action(game.rules, state.row, stream, work))
        assert state.board[action] == 1
