"""Alpha-beta, on a made-up game whose value is known, against plain minimax, and on small boards."""

import itertools
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.players import AlphaBetaPlayer, PlayerError, choose, make_player
from stonezoo.players.alphabeta import player as module
from stonezoo.players.alphabeta.search import SURE, WIN
from stonezoo.players.heuristics import find_heuristic
from tests.stonezoo.players.positions import every_game, positions
from tests.stonezoo.toy import ToyRules, exact_values, toy_state


def toy_player(rules: Any, depth: int, free_actions: int) -> AlphaBetaPlayer:
    game: Any = SimpleNamespace(rules=rules, name="toy")
    return AlphaBetaPlayer(game, depth, threads=1, free_actions=free_actions)


@pytest.mark.parametrize("turn_length", [1, 2, 3])
@pytest.mark.parametrize("free_actions", [0, 2])
def test_search_agrees_with_minimax_where_players_act_several_times_in_a_row(
    turn_length: int, free_actions: int
) -> None:
    for seed in range(5):
        rules = ToyRules(3, 5, turn_length, seed)
        player = toy_player(rules, 5, free_actions)
        paths = [path for depth in range(5) for path in itertools.product(range(3), repeat=depth)]
        rows = np.array([toy_state(rules, path) for path in paths])
        actions, values = player.assess(rows, new_streams(seed, len(rows)))
        for path, action, value in zip(paths, actions.tolist(), values.tolist(), strict=True):
            exact = exact_values(rules, path)
            assert exact[action] == max(exact)
            assert value == max(exact)


def minimax(state: stonezoo.State, left: int, free: int, actions: int) -> int:
    """The value for Black, as `alphabeta` defines it, by plain recursion; 0 actions left is the heuristic's value."""
    if state.terminated:
        result = WIN - actions
        return 0 if state.winner < 0 else result if state.winner == 0 else -result
    if left <= 0:
        heuristic: Any = find_heuristic(state.game.name)
        rules = state.game.rules
        return int(heuristic.value(rules, state.row, 0, np.zeros(heuristic.work_size(rules), np.int32)))
    values = []
    for action in state.legal_actions.tolist():
        after = state.copy()
        after.step(action)
        goes_on = after.to_play == state.to_play and free > 0
        values.append(minimax(after, left - (not goes_on), free - goes_on, actions + 1))
    return max(values) if state.to_play == 0 else min(values)


@pytest.mark.parametrize(
    ("name", "parameters", "depth"),
    [
        ("rive", {"board_size": 2}, 2),
        ("rive", {"board_size": 2}, 3),
        ("resolve", {"board_size": 3}, 3),
        ("resolve", {"board_size": 3, "rules": "original"}, 2),
        ("dara", {"rows": 3, "columns": 4, "stones": 3}, 2),
        ("dara", {"rows": 3, "columns": 3, "stones": 3}, 3),
    ],
)
@pytest.mark.parametrize("free_actions", [0, 1, 2])
def test_cut_offs_order_and_table_change_no_value(
    name: str, parameters: dict[str, Any], depth: int, free_actions: int
) -> None:
    game = stonezoo.load_game(name, **parameters)
    player = AlphaBetaPlayer(game, depth, free_actions=free_actions)
    rows = positions(game, count=14)
    compared = 0
    for row, found in zip(rows, player.search(rows, new_streams(1, len(rows))), strict=True):
        state = game.from_row(row)
        if len(state.legal_actions) < 2:
            assert found.action == state.legal_actions[0]
            continue
        # A result that was proven at a lower depth ends the search: then it is the lower depth's.
        assert found.value == minimax(state, found.depth, free_actions, 0)
        state.step(found.action)
        goes_on = state.to_play == game.from_row(row).to_play and free_actions > 0
        assert minimax(state, found.depth - (not goes_on), free_actions - goes_on, 1) == found.value
        compared += 1
    assert compared > 5


def test_the_nearest_win_is_taken() -> None:
    # Black (X) joins top and bottom at once only by a1, and has slower ways.
    game = stonezoo.load_game("resolve", board_size=4)
    state = game.parse_state("X..O/X.O./X..O/.... b")
    for depth in (1, 2, 3, 4):
        names = {state.action_to_str(choose(AlphaBetaPlayer(game, depth), state, seed)) for seed in range(10)}
        assert names == {"a1"}


def test_a_threat_is_blocked() -> None:
    game = stonezoo.load_game("resolve", board_size=4)
    state = game.parse_state("X..O/X.O./X..O/.... w")
    assert {state.action_to_str(choose(AlphaBetaPlayer(game, 2), state, seed)) for seed in range(10)} == {"a1"}


def test_a_capture_that_wins_is_seen_over_the_turn_that_makes_it() -> None:
    # D5, D6: Black slides into a three, then takes a stone, and White is left with two.
    game = stonezoo.load_game("dara", rows=3, columns=4, stones=3)
    state = game.parse_state("XX../..X./O.OO b")
    (found,) = AlphaBetaPlayer(game, 1).search(state.row[None], new_streams(0, 1))
    assert state.action_to_str(found.action) == "c2-c3"
    assert found.value == WIN - 2


@every_game
def test_a_search_that_is_stopped_and_goes_on_finds_the_same(
    game: stonezoo.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = positions(game)[::6]
    at_once = AlphaBetaPlayer(game, 3).search(rows, new_streams(1, len(rows)))
    monkeypatch.setattr(module, "STATES_A_CALL", 1)
    in_parts = AlphaBetaPlayer(game, 3).search(rows, new_streams(1, len(rows)))
    assert [found[:3] for found in in_parts] == [found[:3] for found in at_once]
    assert max(found.depth for found in at_once) == 3


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("resolve", {"board_size": 4}), ("dara", {"rows": 3, "columns": 4, "stones": 3})],
)
@pytest.mark.parametrize("depth", [4, 5])
def test_the_table_changes_no_value(
    name: str, parameters: dict[str, Any], depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = stonezoo.load_game(name, **parameters)
    rows = positions(game)[:12]
    with_table = AlphaBetaPlayer(game, depth, threads=1).search(rows, new_streams(1, len(rows)))
    monkeypatch.setattr(module, "TABLE_ENTRIES", 1)
    without = AlphaBetaPlayer(game, depth, threads=1).search(rows, new_streams(1, len(rows)))
    assert [found.value for found in with_table] == [found.value for found in without]
    assert sum(found.states for found in with_table) < sum(found.states for found in without)


def test_a_search_knows_nothing_of_the_searches_before_it() -> None:
    game = stonezoo.load_game("resolve", board_size=4)
    rows = positions(game)
    player = AlphaBetaPlayer(game, 3, threads=1)
    first = player.search(rows, new_streams(1, len(rows)))
    assert player.search(rows, new_streams(1, len(rows))) == first  # the states looked at are counted too


def test_the_number_of_threads_changes_nothing() -> None:
    game = stonezoo.load_game("rive", board_size=3)
    rows = positions(game)
    results = []
    for threads in (1, 2, 5):
        streams = new_streams(4, len(rows))
        results.append((AlphaBetaPlayer(game, 2, threads=threads).search(rows, streams), streams.tolist()))
    assert results[0] == results[1] == results[2]


@every_game
def test_the_search_of_depth_1_is_finished_however_short_the_time(game: stonezoo.Game) -> None:
    rows = positions(game)[::12]
    hurried = AlphaBetaPlayer(game, seconds=1e-9, threads=1).search(rows, new_streams(0, len(rows)))
    shallow = AlphaBetaPlayer(game, 1, threads=1).search(rows, new_streams(0, len(rows)))
    for row, found, one in zip(rows, hurried, shallow, strict=True):
        assert found.action in game.from_row(row).legal_actions
        assert found.value == one.value or found.depth > 2 or abs(found.value) > SURE


@pytest.mark.speed
@every_game
def test_a_time_limit_is_kept(game: stonezoo.Game) -> None:
    rows = positions(game)[::12]
    player = AlphaBetaPlayer(game, seconds=0.05, threads=1)
    player.act(rows[:1], new_streams(0, 1))  # compiles
    start = time.perf_counter()
    found = player.search(rows, new_streams(0, len(rows)))
    assert time.perf_counter() - start < 0.05 * len(rows) + 1.0
    assert max(lane.depth for lane in found) > 2


@pytest.mark.parametrize(("name", "size"), [("resolve", 19), ("rive", 8)])
def test_the_largest_boards_are_searched(name: str, size: int) -> None:
    game = stonezoo.load_game(name, board_size=size)
    for depth in (1, 2):
        assert choose(AlphaBetaPlayer(game, depth), game.initial_state(), 0) in game.initial_state().legal_actions


@pytest.mark.parametrize(
    "text", ["alphabeta", "alphabeta:", "alphabeta:0", "alphabeta:-1", "alphabeta:x", "alphabeta:41", "alphabeta:2.5"]
)
def test_a_depth_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PlayerError, match=r"depths are from 1 to 40|actions to look ahead"):
        make_player(text, stonezoo.load_game("rive"))


@pytest.mark.parametrize("text", ["alphabeta:0s", "alphabeta:0.0s", "alphabeta:99999999s"])
def test_a_time_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(PlayerError, match="seconds a move are more than 0"):
        make_player(text, stonezoo.load_game("rive"))


def test_a_time_is_read() -> None:
    game = stonezoo.load_game("rive")
    assert [make_player(f"alphabeta:{limit}", game).name for limit in ("2s", "0.5s", "10s", "7")] == [
        "alphabeta:2s",
        "alphabeta:0.5s",
        "alphabeta:10s",
        "alphabeta:7",
    ]


@pytest.mark.strength
def test_a_deeper_search_is_stronger() -> None:
    from stonezero.arena import evaluate

    for name, parameters in [("rive", {"board_size": 3}), ("resolve", {"board_size": 5}), ("dara", {})]:
        game = stonezoo.load_game(name, **parameters)
        shallow, deep = make_player("alphabeta:1", game), make_player("alphabeta:4", game)
        assert evaluate(deep, shallow, game, games=60, opening_actions=3).low > 0.5
