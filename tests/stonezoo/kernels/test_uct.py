"""The pinned tree search, on a made-up game whose value is known and on small boards."""

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.players import UctPlayer
from tests.stonezoo.toy import ToyRules, exact_values, toy_state


def search(
    rules: Any, rows: list[NDArray[np.int32]], simulations: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    player = UctPlayer(SimpleNamespace(rules=rules), simulations)  # type: ignore[arg-type]
    return player.search(np.array(rows), new_streams(seed, len(rows)))


def decisive(rules: ToyRules) -> Iterator[tuple[int, ...]]:
    """Positions with an optimal action and a worse one."""
    for depth in range(rules.depth):
        for actions in itertools.product(range(rules.width), repeat=depth):
            if len(set(exact_values(rules, actions))) > 1:
                yield actions


@pytest.mark.parametrize("turn_length", [1, 2, 3])
def test_search_agrees_with_minimax_where_players_act_several_times_in_a_row(turn_length: int) -> None:
    right = total = 0
    for seed in range(8):
        rules = ToyRules(3, 5, turn_length, seed)
        positions = list(decisive(rules))
        actions, _ = search(rules, [toy_state(rules, path) for path in positions], 3_000, seed)
        for path, action in zip(positions, actions.tolist(), strict=True):
            values = exact_values(rules, path)
            right += values[action] == max(values)
            total += 1
    assert total > 400
    assert right == total


def test_every_simulation_is_counted_at_the_root_and_tries_each_action_before_any_twice() -> None:
    game = stonezoo.load_game("resolve", board_size=3)
    row = game.initial_state().row
    for simulations in (1, 2, 8, 9, 10, 100):
        actions, visits = search(game.rules, [row], simulations, seed=simulations)
        assert visits.sum() == simulations
        assert visits[0, actions[0]] == visits.max()
        assert (visits.max() <= 1) if simulations <= 9 else (visits.min() >= 1)


def test_actions_of_a_single_simulation_are_spread_evenly() -> None:
    game = stonezoo.load_game("resolve", board_size=3)
    actions, _ = search(game.rules, [game.initial_state().row] * 9_000, 1, seed=5)
    counts = np.bincount(actions, minlength=9)
    assert abs(counts - 1_000).max() < 4 * np.sqrt(1_000 * 8 / 9)  # 4 sigma


def test_of_equally_visited_actions_the_one_with_more_points_is_played() -> None:
    rules = ToyRules(3, 1, 1, 3)
    values = exact_values(rules, ())
    assert len(set(values)) > 1
    actions, visits = search(rules, [toy_state(rules, ())] * 50, 3, seed=0)
    assert (visits == 1).all()
    assert {values[action] for action in actions.tolist()} == {max(values)}


def test_a_forced_action_is_played_without_a_search() -> None:
    game = stonezoo.load_game("resolve", board_size=2)
    state = game.parse_state("XO/O. b")
    assert state.legal_actions.tolist() == [3]
    player = UctPlayer(game, 50)
    streams = new_streams(0, 1)
    before = streams.copy()
    actions, visits = player.search(state.row[None], streams)
    assert actions.tolist() == [3]
    assert visits.sum() == 0
    assert (streams == before).all()


def played(game: stonezoo.Game, text: str, simulations: int, seeds: int = 40) -> list[str]:
    """The names of the actions that searches with different seeds play."""
    state = game.parse_state(text)
    actions, _ = search(game.rules, [state.row] * seeds, simulations, seed=7)
    return [state.action_to_str(action) for action in actions]


def test_search_joins_its_sides_when_one_stone_is_missing() -> None:
    # Black (X) joins top and bottom; only a1 does it at once.
    assert set(played(stonezoo.load_game("resolve", board_size=4), "X..O/X.O./X..O/.... b", 200)) == {"a1"}


def test_search_blocks_where_the_enemy_threatens_to_join() -> None:
    # White must stop Black at a1: anywhere else loses at once.
    names = played(stonezoo.load_game("resolve", board_size=4), "X..O/X.O./X..O/.... w", 1_000)
    assert names.count("a1") == len(names)


def test_search_takes_the_stone_that_leaves_the_enemy_with_two() -> None:
    # D6: Black's three is made, and any capture wins at once, so the search need only slide into the three.
    game = stonezoo.load_game("dara", rows=3, columns=4, stones=3)
    state = game.parse_state("XX../..X./O.OO b")
    names = played(game, state.to_text(), 300)
    assert set(names) == {"c2-c3"}
