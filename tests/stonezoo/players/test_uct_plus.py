"""The stronger tree search, on a made-up game whose value is known and on small boards."""

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.core.game import TO_PLAY
from stonezoo.core.rng import new_streams
from stonezoo.players import PlayerError, UctPlusPlayer, choose, make_player
from stonezoo.players.heuristics import find_heuristic
from stonezoo.players.uct_plus import player as module
from tests.stonezoo.players.positions import every_game, positions
from tests.stonezoo.toy import ToyRules, exact_values, toy_state


def toy_player(rules: Any, simulations: int) -> UctPlusPlayer:
    game: Any = SimpleNamespace(rules=rules, name="toy")
    return UctPlusPlayer(game, simulations)


@pytest.mark.parametrize("turn_length", [1, 2, 3])
def test_results_are_proven_where_players_act_several_times_in_a_row(turn_length: int) -> None:
    for seed in range(8):
        rules = ToyRules(3, 5, turn_length, seed)
        paths = [path for depth in range(5) for path in itertools.product(range(3), repeat=depth)]
        rows = np.array([toy_state(rules, path) for path in paths])
        actions, visits, values = toy_player(rules, 3_000).search(rows, new_streams(seed, len(rows)))
        for path, action, value in zip(paths, actions.tolist(), values.tolist(), strict=True):
            exact = exact_values(rules, path)
            assert exact[action] == max(exact)
            assert value == max(exact)
        assert (visits.sum(1) < 3_000).all()  # a proven root ends the search


@pytest.mark.parametrize("turn_length", [2, 3])
def test_few_simulations_prefer_what_is_good_for_who_acts(turn_length: int) -> None:
    right = total = 0
    for seed in range(4):
        rules = ToyRules(3, 7, turn_length, seed)
        paths = [path for depth in range(4) for path in itertools.product(range(3), repeat=depth)]
        exact = {path: exact_values(rules, path) for path in paths}
        decisive = [path for path in paths if len(set(exact[path])) > 1]
        if decisive:
            rows = np.array([toy_state(rules, path) for path in decisive])
            actions = toy_player(rules, 40).act(rows, new_streams(seed, len(rows)))
            right += sum(
                exact[path][action] == max(exact[path]) for path, action in zip(decisive, actions, strict=True)
            )
            total += len(decisive)
    assert total > 100
    assert right > 0.72 * total  # 0.80 and 0.76; where the walk maximises for Black alone 0.65 and 0.63


@pytest.mark.parametrize(("name", "parameters"), [("rive", {}), ("resolve", {"board_size": 7}), ("dara", {})])
def test_values_have_the_sign_of_the_heuristics_where_it_is_sure(name: str, parameters: dict[str, Any]) -> None:
    game = stonezoo.load_game(name, **parameters)
    heuristic: Any = find_heuristic(game.name)
    work = np.zeros(heuristic.work_size(game.rules), np.int32)
    rows = np.concatenate([positions(game, seed=seed) for seed in range(3)])
    for player in (0, 1):
        own = rows[rows[:, TO_PLAY] == player]
        said = np.array([heuristic.value(game.rules, row, player, work) for row in own])
        sure = abs(said) >= 250
        _, _, values = UctPlusPlayer(game, 20).search(own[sure], new_streams(0, int(sure.sum())))
        searched = values != 0
        assert searched.sum() > 5
        assert (np.sign(values) == np.sign(said[sure]))[searched].mean() > 0.7


@every_game
def test_simulations_are_counted_at_the_root_and_values_lie_in_their_range(game: stonezoo.Game) -> None:
    rows = positions(game)
    for simulations in (1, 17, 100):
        actions, visits, values = UctPlusPlayer(game, simulations).search(rows, new_streams(0, len(rows)))
        assert (abs(values) <= 1).all()
        for row, action, counts, value in zip(rows, actions, visits, values, strict=True):
            legal = game.from_row(row).legal_actions
            assert counts.sum() == counts[legal].sum()
            if len(legal) == 1:
                assert (action, counts.sum(), value) == (legal[0], 0, 0.0)
            elif abs(value) < 1 and value != 0:
                # The first simulation after an expansion goes to a child: none is spent on the root.
                assert counts.sum() == simulations


def test_the_most_visited_action_is_played_while_nothing_is_proven() -> None:
    game = stonezoo.load_game("resolve", board_size=5)
    for seed in range(10):
        actions, visits, _ = UctPlusPlayer(game, 50).search(game.initial_state().row[None], new_streams(seed, 1))
        assert visits[0, actions[0]] == visits.max()


def test_a_win_at_once_is_taken_without_a_simulation() -> None:
    game = stonezoo.load_game("resolve", board_size=4)
    state = game.parse_state("X..O/X.O./X..O/.... b")
    actions, visits, values = UctPlusPlayer(game, 100).search(np.repeat(state.row[None], 20, 0), new_streams(0, 20))
    assert {state.action_to_str(action) for action in actions} == {"a1"}
    assert visits.sum() == 0
    assert (values == 1.0).all()


def test_a_threat_is_blocked_and_lost_actions_are_not_visited_again() -> None:
    game = stonezoo.load_game("resolve", board_size=4)
    state = game.parse_state("X..O/X.O./X..O/.... w")
    actions, visits, _ = UctPlusPlayer(game, 200).search(np.repeat(state.row[None], 20, 0), new_streams(0, 20))
    assert {state.action_to_str(action) for action in actions} == {"a1"}
    others = np.delete(visits, state.str_to_action("a1"), axis=1)
    assert others.max() <= 1


def test_a_small_tree_is_full_without_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    game = stonezoo.load_game("rive", board_size=3)
    rows = positions(game)[::10]
    monkeypatch.setattr(module, "MAX_NODES", 100)
    monkeypatch.setattr(module, "MAX_PATH", 6)
    actions, visits, _ = UctPlusPlayer(game, 200).search(rows, new_streams(0, len(rows)))
    for row, action in zip(rows, actions, strict=True):
        assert action in game.from_row(row).legal_actions
    assert visits.sum(1).max() == 200


def test_rollouts_may_be_weighed_in_and_cut_short() -> None:
    game = stonezoo.load_game("rive", board_size=3)
    heuristic: Any = find_heuristic("rive")
    rows = positions(game)[::10]
    seen = set()
    for share, length in [(0.0, 0), (0.5, 0), (1.0, 0), (1.0, 5)]:
        settings = heuristic.settings._replace(rollout_share=share, rollout_actions=length, expand_after=1)
        _, _, values = UctPlusPlayer(game, 30, settings=settings).search(rows, new_streams(0, len(rows)))
        assert (abs(values) <= 1).all()
        seen.add(tuple(values))
    assert len(seen) == 4


def test_the_number_of_threads_changes_nothing() -> None:
    game = stonezoo.load_game("rive", board_size=3)
    rows = positions(game)
    results = []
    for threads in (1, 2, 5):
        streams = new_streams(4, len(rows))
        found = UctPlusPlayer(game, 30, threads=threads).search(rows, streams)
        results.append([*(part.tolist() for part in found), streams.tolist()])
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("text", ["uct+", "uct+:", "uct+:x", "uct+:0", "uct+:-5", "uct+:1e3", "uct+:99999999999"])
def test_a_number_of_simulations_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PlayerError, match="simulations"):
        make_player(text, stonezoo.load_game("rive"))


@pytest.mark.parametrize(("name", "size"), [("resolve", 19), ("rive", 8)])
def test_the_largest_boards_are_searched(name: str, size: int) -> None:
    game = stonezoo.load_game(name, board_size=size)
    assert choose(UctPlusPlayer(game, 20), game.initial_state(), 0) in game.initial_state().legal_actions


@pytest.mark.strength
def test_it_is_stronger_than_the_pinned_search_with_as_many_simulations() -> None:
    from stonezero.arena import evaluate

    for name, parameters in [("rive", {"board_size": 3}), ("resolve", {"board_size": 5}), ("dara", {})]:
        game = stonezoo.load_game(name, **parameters)
        match = evaluate(make_player("uct+:100", game), make_player("uct:100", game), game, games=60, opening_actions=3)
        assert match.low > 0.6
