"""The figures of finished games against the same games replayed through the scalar state."""

from itertools import groupby
from typing import Any

import numpy as np
import pytest

from stonezero.config import SearchConfig, SelfplayConfig
from stonezero.loop.watch_games import ended_by_limit, game_scalars, repeats_alarm
from stonezero.selfplay import FinishedGame, SelfPlay
from stonezoo import load_game
from stonezoo.core.game import BLACK_WON, DRAWN, OUTCOME, WHITE_WON, endless_counter
from tests.stonezero.toy_game import ToyNetwork

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 2}),
    ("resolve", {"board_size": 3, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 4}),
]


@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_the_figures_are_those_of_the_games_replayed_one_by_one(name: str, parameters: dict[str, Any]) -> None:
    game = load_game(name, **parameters)
    config = SelfplayConfig(num_games=16, temperature_turns=99)
    games, _ = SelfPlay(game, SearchConfig(num_simulations=2), config, ToyNetwork(game.num_actions), seed=1).play(300)
    phases: list[str] = []
    turns: list[int] = []
    limited = []
    for finished in games:
        state, players = game.initial_state(), []
        for action in finished.actions:
            phases.append(state.phase.name.lower())
            players.append(state.to_play)
            state.step(action)
        turns += [len(list(run)) for _, run in groupby(players)]
        endless = endless_counter(game.rules)
        limited.append(endless is not None and state.winner < 0 and int(state.row[endless[0]]) >= endless[1])
    found = game_scalars(game, games)
    for phase in game.rules.phases:
        assert found[f"actions_{phase.name.lower()}"] == pytest.approx(phases.count(phase.name.lower()) / len(games))
    assert found["turn_length"] == pytest.approx(np.mean(turns))
    assert found["longest_turn"] == max(turns) > 1
    assert found["second_player_win_rate"] == np.mean([finished.winner == 1 for finished in games])
    assert found["limit_rate"] == np.mean(limited)
    assert (found["limit_rate"] > 0) == (name == "dara")


def test_only_a_draw_with_a_full_counter_was_ended_by_the_limit() -> None:
    game = load_game("dara", quiet_limit=4)
    endless = endless_counter(game.rules)
    assert endless is not None
    states = np.zeros((4, game.rules.state_size), np.int32)
    states[:, OUTCOME] = DRAWN, DRAWN, BLACK_WON, WHITE_WON
    states[:, endless[0]] = 4, 3, 4, 0
    assert ended_by_limit(game, states).tolist() == [True, False, False, False]
    assert not ended_by_limit(load_game("rive"), states).any()


def test_no_games_have_no_figures() -> None:
    assert game_scalars(load_game("rive", board_size=2), []) == {}


def test_repeated_games_raise_an_alarm_that_names_the_remedy() -> None:
    assert repeats_alarm(100, 95) is None
    assert repeats_alarm(19, 1) is None  # too few to say
    alarm = repeats_alarm(100, 94)
    assert alarm is not None
    assert "94 of 100" in alarm
    assert "selfplay.temperature_turns" in alarm


def test_a_turn_is_counted_once_however_many_actions_it_has() -> None:
    game = load_game("rive", board_size=2)
    state = game.initial_state()
    while not state.terminated:
        state.step(int(state.legal_actions[0]))
    finished = FinishedGame(0, state.history, state.turn, state.winner, None)
    found = game_scalars(game, [finished, finished])
    assert found["actions_place"] + found["actions_remove"] == len(state.history)
