"""Batch kernels against the scalar state."""

import numpy as np
import pytest

from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch, mask_batch, observe_batch, reset_batch, step_batch
from stonezoo.kernels.playout import random_games
from stonezoo.state import State
from tests.stonezoo.games.positions import random_text
from tests.stonezoo.games.referees import RULES, Case, case_id, load, rng_of

CASES: list[Case] = [
    ("rive", {"board_size": 4}),
    *(("resolve", {"board_size": 5, "rules": rules}) for rules in RULES["resolve"]),
    *(("dara", {"rows": 4, "columns": 5, "stones": 5, "quiet_limit": 4, "rules": rules}) for rules in RULES["dara"]),
]
every_case = pytest.mark.parametrize("case", CASES, ids=case_id)


def states_of(case: Case, count: int) -> list[State]:
    rng, game = rng_of(case, "batch"), load(case)
    found = []
    for _ in range(count):
        state = game.initial_state() if rng.random() < 0.3 else game.parse_state(random_text(case, rng))
        for _ in range(rng.randrange(30)):
            if state.terminated:
                break
            state.step(rng.choice(state.legal_actions.tolist()))
        found.append(state)
    return found


@every_case
def test_reset_writes_the_initial_state_over_anything(case: Case) -> None:
    game = load(case)
    rows = np.full((3, game.rules.state_size), 99, np.int32)
    reset_batch(game.rules, rows)
    assert all(game.from_row(row) == game.initial_state() for row in rows)


@every_case
def test_lanes_step_as_states_do(case: Case) -> None:
    game, rng = load(case), rng_of(case, "step")
    states = states_of(case, 40)
    rows = np.stack([state.row for state in states])
    mask, found = np.full((40, game.num_actions), 7, np.int8), np.zeros(game.num_actions, np.int32)
    seen = np.full((40, *game.observation_shape), np.nan, np.float32)
    for _ in range(25):
        mask_batch(game.rules, rows, found, mask)
        observe_batch(game.rules, rows, seen)
        assert np.array_equal(mask, [state.legal_action_mask for state in states])
        assert np.array_equal(seen, [state.observation() for state in states])
        actions = np.full(40, -1, np.int32)
        for lane, state in enumerate(states):
            if state.terminated:
                actions[lane] = rng.randrange(game.num_actions)  # a lane that is over is left alone
            elif rng.random() < 0.8:  # and a lane with a negative action waits
                actions[lane] = rng.choice(state.legal_actions.tolist())
                state.step(int(actions[lane]))
        step_batch(game.rules, rows, actions)
        assert np.array_equal(rows, [state.row for state in states])


@every_case
def test_legal_tells_legal_actions_from_all_others(case: Case) -> None:
    game = load(case)
    states = states_of(case, 30)
    rows = np.stack([state.row for state in states])
    masks = np.stack([state.legal_action_mask for state in states])
    legal = np.zeros(len(rows), np.bool_)
    for action in [*range(game.num_actions), -1, -game.num_actions, game.num_actions, 2**31 - 1, -(2**31)]:
        legal_batch(game.rules, rows, np.full(len(rows), action, np.int32), legal)
        expected = masks[:, action] == 1 if 0 <= action < game.num_actions else np.zeros(len(rows), np.bool_)
        assert np.array_equal(legal, expected), action
    assert np.array_equal(rows, [state.row for state in states])


@every_case
def test_kernels_change_nothing_that_they_only_read(case: Case) -> None:
    game = load(case)
    rows = np.stack([state.row for state in states_of(case, 30)])
    before = rows.copy()
    mask_batch(game.rules, rows, np.zeros(game.num_actions, np.int32), np.zeros((30, game.num_actions), np.int8))
    observe_batch(game.rules, rows, np.zeros((30, *game.observation_shape), np.float32))
    assert np.array_equal(rows, before)


@every_case
def test_a_batch_may_be_empty(case: Case) -> None:
    game = load(case)
    rows, lengths = np.zeros((0, game.rules.state_size), np.int32), np.zeros(0, np.int32)
    reset_batch(game.rules, rows)
    step_batch(game.rules, rows, lengths)
    mask_batch(game.rules, rows, np.zeros(game.num_actions, np.int32), np.zeros((0, game.num_actions), np.int8))
    observe_batch(game.rules, rows, np.zeros((0, *game.observation_shape), np.float32))
    assert random_games(game.rules, rows, new_streams(1, 0), lengths) == 0


@every_case
def test_random_games_end_in_states_that_texts_can_tell(case: Case) -> None:
    game = load(case)
    rows, lengths = np.zeros((200, game.rules.state_size), np.int32), np.zeros(200, np.int32)
    random_games(game.rules, rows, new_streams(5, 200), lengths)
    for row in rows:
        state = game.from_row(row)
        assert state.terminated
        assert game.parse_state(state.to_text()).row.tobytes() == row.tobytes()
