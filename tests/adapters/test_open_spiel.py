import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import mcts, minimax_solver
from open_spiel.python.algorithms.random_agent import RandomAgent
from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

import stonezoo
from examples import openspiel_game
from stonezoo.adapters.open_spiel import LONGEST, PREFIX, open_spiel_game, register_games
from stonezoo.core.text import PositionError
from tests.adapters.cases import CASES, every_case, results
from tests.stonezoo.games.referees import Case, load, rng_of, start, text_of


def load_as(case: Case) -> Any:
    return open_spiel_game(load(case))


def in_mid_turn(game: Any) -> Any:
    """A position whose player has acted once in its turn."""
    rng = np.random.default_rng(5)
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            mover = state.current_player()
            state.apply_action(int(rng.choice(state.legal_actions())))
            if state.current_player() == mover:
                return state


@every_case
def test_games_run_beside_the_referee_action_by_action(case: Case) -> None:
    game, rng = load_as(case), rng_of("open_spiel", case)
    repeated = 0
    for _ in range(6):
        state, referee = game.new_initial_state(), start(case)
        while not referee.over:
            assert not state.is_terminal()
            assert state.current_player() == referee.to_play
            assert state.legal_actions() == referee.legal()
            assert state.legal_actions(1 - referee.to_play) == []
            assert state.returns() == [0.0, 0.0]
            assert str(state) == state.observation_string(0) == text_of(referee)
            action, mover = rng.choice(referee.legal()), referee.to_play
            assert state.string_to_action(state.action_to_string(action)) == action
            state.apply_action(action)
            referee = referee.play(action)
            repeated += referee.to_play == mover
        assert state.is_terminal()
        assert state.current_player() == pyspiel.PlayerId.TERMINAL
        assert state.legal_actions() == []
        assert tuple(state.returns()) == results(referee)
    assert repeated


@every_case
def test_openspiels_own_simulation_test_passes_with_serialisation(case: Case) -> None:
    pyspiel.random_sim_test(load_as(case), num_sims=2, serialize=True, verbose=False)


@every_case
def test_a_position_in_mid_turn_goes_on_from_every_kind_of_copy(case: Case) -> None:
    game = load_as(case)
    state = in_mid_turn(game)
    _, serialised = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    copies = [
        state.clone(),
        pickle.loads(pickle.dumps(state)),
        game.deserialize_state(state.serialize()),
        serialised,
        game.new_initial_state(str(state)),
        game.new_initial_state(state.to_dict()),
        game.new_initial_state(state.to_struct()),
    ]
    assert [copy.history() for copy in copies] == [state.history()] * 4 + [[]] * 3
    before, action = str(state), state.legal_actions()[-1]
    state.apply_action(action)
    for copy in copies:
        assert str(copy) == before
        copy.apply_action(action)
        assert str(copy) == str(state)
        assert copy.current_player() == state.current_player()


@every_case
def test_observations_are_the_planes_channels_first_as_each_player_sees_them(case: Case) -> None:
    game = load_as(case)
    state = in_mid_turn(game)
    height, width, channels = load(case).observation_shape
    assert game.observation_tensor_shape() == [channels, height, width]
    observer = make_observation(game)
    for player in (0, 1):
        expected = state.stonezoo.observation(player).transpose(2, 0, 1)
        assert np.array_equal(np.array(state.observation_tensor(player), np.float32), expected.ravel())
        observer.set_from(state, player)
        assert np.array_equal(observer.dict["observation"], expected)


def test_the_information_state_is_the_history() -> None:
    game = load_as(CASES[0])
    state = in_mid_turn(game)
    assert state.information_state_string(0) == state.information_state_string(1) == state.history_str()
    assert make_observation(game, INFO_STATE_OBS_TYPE).string_from(state, 0) == state.history_str()
    with pytest.raises(ValueError, match="no parameters"):
        make_observation(game, None, {"planes": 3})


def test_parameters_are_the_games_own_with_its_defaults() -> None:
    assert pyspiel.load_game("python_stonezoo_rive").stonezoo == stonezoo.load_game("rive")
    given = pyspiel.load_game("python_stonezoo_resolve(board_size=5,rules=original)")
    assert given.stonezoo == stonezoo.load_game("resolve", board_size=5, rules="original")
    assert str(pickle.loads(pickle.dumps(given))) == str(given)
    with pytest.raises(ValueError, match="board_size=9 is not accepted: board_size must be an integer from 2 to 8"):
        pyspiel.load_game("python_stonezoo_rive(board_size=9)")
    with pytest.raises(pyspiel.SpielError, match="Available parameters are"):
        pyspiel.load_game("python_stonezoo_rive(size=3)")


def test_a_games_greatest_length_is_the_proven_bound_or_what_openspiel_can_hold() -> None:
    assert load_as(CASES[0]).max_game_length() == load(CASES[0]).max_steps
    large = stonezoo.load_game("rive", board_size=8)
    assert large.max_steps is not None
    assert large.max_steps > LONGEST
    assert open_spiel_game(large).max_game_length() == LONGEST


def test_an_illegal_action_and_a_wrong_position_are_refused_and_change_nothing() -> None:
    game = pyspiel.load_game("python_stonezoo_resolve(board_size=3)")
    state = game.new_initial_state("XO./O../..X b")
    state.apply_action(4)
    with pytest.raises(stonezoo.IllegalActionError, match="S5"):
        state.apply_action(8)
    assert (str(state), state.history()) == ("XO./OX./..X b phase=swap stone=b2", [4])
    with pytest.raises(PositionError, match="column"):
        game.new_initial_state("XO./O../..X")
    with pytest.raises(ValueError, match="the one key 'position', not \\['board'\\]"):
        game.new_initial_state({"board": "XO./O../..X b"})


@pytest.mark.parametrize(
    ("name", "winning"),
    [
        ("python_stonezoo_rive(board_size=2)", [3]),
        ("python_stonezoo_resolve(board_size=3,rules=standard)", [0, 2, 3, 5, 6, 8]),
        ("python_stonezoo_resolve(board_size=3,rules=original)", [0, 2, 3, 5, 6, 8]),
    ],
)
def test_openspiels_solver_finds_the_openings_that_win(name: str, winning: list[int]) -> None:
    """It keeps positions by their text, and values by player: exact on turns of several actions."""
    solver = minimax_solver.MinimaxSolver(name)
    table = solver.solve()
    root = pyspiel.load_game(name).new_initial_state()
    values = table[str(root)].action_values
    assert table[str(root)].value == 1.0
    assert np.flatnonzero(values == 1.0).tolist() == winning
    assert set(values.tolist()) == {1.0, -1.0}


def test_openspiels_tree_search_avoids_the_swap_that_hands_the_game_to_the_other() -> None:
    game = pyspiel.load_game("python_stonezoo_resolve(board_size=3)")
    state = game.new_initial_state("XOX/O.O/... b")
    state.apply_action(4)
    assert (state.current_player(), state.legal_actions()) == (0, [1, 3, 5])  # swapping up joins White's row (S8)
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 1.4, 100, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    assert bot.step(state) in (3, 5)


def test_an_episode_of_rl_environment_rewards_the_winner_and_the_loser() -> None:
    case = CASES[0]
    env, rewards = rl_environment.Environment(load_as(case)), set()
    for seed in range(6):
        rng, referee, step = np.random.RandomState(seed), start(case), env.reset()
        agents = [RandomAgent(player, env.action_spec()["num_actions"]) for player in (0, 1)]
        while not step.last():
            player = step.observations["current_player"]
            assert player == referee.to_play
            assert step.observations["legal_actions"][player] == referee.legal()
            assert step.observations["legal_actions"][1 - player] == []
            action = int(rng.choice(referee.legal()))
            assert agents[player].step(step).action in referee.legal()
            step, referee = env.step([action]), referee.play(action)
        assert referee.over
        assert tuple(step.rewards) == results(referee)
        rewards.add(tuple(step.rewards))
    assert rewards == {(1.0, -1.0), (-1.0, 1.0)}


def test_every_registered_game_is_known_to_openspiel() -> None:
    assert register_games() == register_games() == [PREFIX + name for name in stonezoo.game_names()]
    assert set(register_games()) <= set(pyspiel.registered_names())


def test_a_process_that_used_the_games_ends_in_order() -> None:
    code = (
        "import pyspiel, stonezoo.adapters.open_spiel; game = pyspiel.load_game('python_stonezoo_rive(board_size=2)'); "
        "state = game.new_initial_state(); state.apply_action(3); state.clone(); print(state.observation_string(0))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_pickles_are_read_by_a_process_that_has_not_imported_the_adapter() -> None:
    state = in_mid_turn(load_as(CASES[1]))
    pickled = pickle.dumps((state.get_game(), state))
    code = "import pickle, sys; print(*pickle.load(sys.stdin.buffer), sep='|', end='')"
    done = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, timeout=120)
    assert done.stdout.decode() == f"{state.get_game()}|{state}", done.stderr.decode()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    openspiel_game.main(["--game", "python_stonezoo_resolve(board_size=3)", "--simulations", "20", "--games", "2"])
    assert "simulation test passed" in capsys.readouterr().out
