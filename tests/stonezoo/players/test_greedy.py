"""The player who looks one action ahead."""

import numpy as np
import pytest

import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.players import AlphaBetaPlayer, GreedyPlayer, PlayerError, make_player
from stonezoo.players.heuristics import Neutral
from tests.stonezoo.players.positions import every_game, positions


@every_game
def test_its_action_is_as_good_as_that_of_a_search_of_depth_1(game: stonezoo.Game) -> None:
    rows = positions(game)[::4]
    actions = GreedyPlayer(game).act(rows, new_streams(0, len(rows)))
    search = AlphaBetaPlayer(game, 1, free_actions=0)
    for row, action, found in zip(rows, actions, search.search(rows, new_streams(1, len(rows))), strict=True):
        if len(game.from_row(row).legal_actions) > 1:
            values = _values(game, row)
            assert values[action] == values[found.action] == max(values.values())


def _values(game: stonezoo.Game, row: np.ndarray) -> dict[int, int]:  # type: ignore[type-arg]
    from stonezoo.players.heuristics import HIGHEST, find_heuristic

    heuristic = find_heuristic(game.name)
    assert heuristic is not None
    state, values = game.from_row(row), {}
    work = np.zeros(heuristic.work_size(game.rules), np.int32)
    for action in state.legal_actions.tolist():
        after = state.copy()
        after.step(action)
        if after.terminated:
            values[action] = int(after.returns[state.to_play]) * (HIGHEST + 1)
        else:
            values[action] = int(heuristic.value(game.rules, after.row, state.to_play, work))
    return values


def test_of_equal_actions_each_is_as_likely() -> None:
    game = stonezoo.load_game("resolve", board_size=3)
    draws = GreedyPlayer(game, Neutral()).act(
        np.repeat(game.initial_state().row[None], 9_000, 0), new_streams(5, 9_000)
    )
    counts = np.bincount(draws, minlength=9)
    assert abs(counts - 1_000).max() < 4 * np.sqrt(1_000 * 8 / 9)  # 4 sigma


def test_only_its_own_text_makes_it() -> None:
    game = stonezoo.load_game("rive")
    assert make_player("greedy", game).name == "greedy"
    with pytest.raises(PlayerError, match="is no player"):
        make_player("greedy:2", game)
