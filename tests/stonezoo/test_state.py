"""What a state promises, over random positions in mid-turn."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stonezoo
from stonezoo.state import State
from tests.stonezoo.games.positions import random_text
from tests.stonezoo.games.referees import Case, case_id, load, rng_of

CASES: list[Case] = [
    ("rive", {"board_size": 2}),
    ("rive", {"board_size": 4}),
    ("resolve", {"board_size": 4, "rules": "standard"}),
    ("resolve", {"board_size": 5, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 4, "stones": 4, "quiet_limit": 6}),
    ("dara", {"rows": 5, "columns": 6, "stones": 12, "rules": "no_drop_threes"}),
]
every_case = pytest.mark.parametrize("case", CASES, ids=case_id)
seeds = st.integers(0, 2**32 - 1)
checked = settings(max_examples=25, deadline=None, derandomize=True)


def random_state(case: Case, seed: int) -> State:
    """A state some way into a game from the start or from a random position, often in mid-turn, seldom finished."""
    rng = rng_of(case, seed)
    game = load(case)
    state = game.initial_state() if rng.random() < 0.5 else game.parse_state(random_text(case, rng))
    for _ in range(rng.randrange(60)):
        if state.terminated:
            break
        state.step(rng.choice(state.legal_actions.tolist()))
    return state


def snapshot(state: State) -> tuple[Any, ...]:
    """All that can be seen of a state."""
    return (
        state.to_text(),
        state.row.tobytes(),
        state.to_play,
        state.phase,
        state.legal_actions.tolist(),
        state.legal_action_mask.tobytes(),
        state.terminated,
        state.winner,
        state.returns,
        state.ply,
        state.turn,
        state.history,
        state.observation().tobytes(),
        state.observation(0).tobytes(),
        state.observation(1).tobytes(),
        state.board.tobytes(),
        tuple(state.marks.items()),
        tuple(state.counters.items()),
        hash(state),
        repr(state),
    )


def play_on(state: State, seed: int, plies: int = 15) -> list[tuple[Any, ...]]:
    rng, seen = rng_of(seed, "on"), [snapshot(state)]
    for _ in range(plies):
        if state.terminated:
            break
        state.step(rng.choice(state.legal_actions.tolist()))
        seen.append(snapshot(state))
    return seen


@every_case
@checked
@given(seed=seeds)
def test_a_copy_of_any_kind_goes_on_identically_and_alone(case: Case, seed: int) -> None:
    state = random_state(case, seed)
    before = snapshot(state)
    copies = [state.copy(), copy.copy(state), copy.deepcopy(state)]
    copies += [pickle.loads(pickle.dumps(state, protocol)) for protocol in (2, 4, pickle.HIGHEST_PROTOCOL)]
    for other in copies:
        assert snapshot(other) == before
        assert other == state
        assert type(other.phase) is type(state.phase)
    expected = play_on(copies[0], seed)
    for other in copies[1:]:
        assert snapshot(state) == before
        assert play_on(other, seed) == expected
    assert snapshot(state) == before
    assert play_on(state, seed) == expected


@every_case
@checked
@given(seed=seeds)
def test_undo_and_redo_pass_the_same_states(case: Case, seed: int) -> None:
    state = random_state(case, seed)
    seen, actions = [snapshot(state)], list(state.history)
    while state.history:
        assert state.undo() == actions[state.ply]
        seen.append(snapshot(state))
    assert (state.ply, state.turn, state.history) == (0, 0, ())
    with pytest.raises(IndexError, match="nothing to undo"):
        state.undo()
    assert snapshot(state) == seen[-1]
    for action, expected in zip(actions, seen[-2::-1], strict=True):
        state.step(action)
        assert snapshot(state) == expected


@every_case
@checked
@given(seed=seeds)
def test_history_ply_and_turn_tell_the_game(case: Case, seed: int) -> None:
    state = random_state(case, seed)
    again = state.copy()
    while again.history:
        again.undo()
    turn = 0
    for ply, action in enumerate(state.history):
        assert (again.ply, again.turn) == (ply, turn)
        player = again.to_play
        again.step(action)
        turn += player != again.to_play
    assert (again.turn, again.history) == (state.turn, state.history)
    assert all(type(action) is int for action in state.history)


NO_INTEGERS = [1.0, float("nan"), "3", "c3", b"3", None, True, False, np.bool_(True), (1,), [1], {}, np.array([1, 2]),
               np.array([1]), np.float32(1), np.array(1.0), np.array(True), 1j, object()]  # fmt: skip


@every_case
@checked
@given(seed=seeds)
def test_an_illegal_action_raises_and_changes_nothing(case: Case, seed: int) -> None:
    state = random_state(case, seed)
    before = snapshot(state)
    legal = set(state.legal_actions.tolist())
    count = state.game.num_actions
    tried: list[Any] = [action for action in range(count) if action not in legal]
    tried += [
        -1,
        -count,
        count,
        count + 1,
        2**31,
        -(2**31),
        2**63,
        10**30,
        np.int64(-1),
        np.uint8(255),
        np.int32(count),
    ]
    tried += [np.uint64(2**64 - 1), np.array(-1)]
    for action in tried:
        if int(action) in legal:
            continue
        with pytest.raises(stonezoo.IllegalActionError, match=rf"action {int(action)}\b"):
            state.step(action)
    assert issubclass(stonezoo.IllegalActionError, ValueError)
    for value in NO_INTEGERS:
        with pytest.raises(TypeError, match="an action is an integer"):
            state.step(value)
    assert snapshot(state) == before


@every_case
@checked
@given(seed=seeds)
def test_any_kind_of_integer_plays(case: Case, seed: int) -> None:
    state = random_state(case, seed)
    if state.terminated:
        return
    action = int(state.legal_actions[-1])
    seen = []
    for kind in (int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.array):
        if kind is np.int8 and action > 127:
            continue
        after = state.copy()
        after.step(kind(action))
        assert after.history[-1] == action
        assert type(after.history[-1]) is int
        seen.append(snapshot(after))
    assert all(other == seen[0] for other in seen)


@every_case
@checked
@given(seed=seeds)
def test_actions_have_one_name_each_in_every_phase(case: Case, seed: int) -> None:
    state = random_state(case, seed)
    names = [state.action_to_str(action) for action in range(state.game.num_actions)]
    assert len(set(names)) == len(names)
    assert [state.str_to_action(name) for name in names] == list(range(len(names)))
    taken = [name.startswith("x") for action, name in enumerate(names) if action in state.legal_actions]
    assert all(value == (state.phase.name in ("REMOVE", "TAKE")) for value in taken)
    for action in state.legal_actions.tolist():
        assert ("-" in names[action]) == (state.phase.name == "SLIDE")
        cells = state.game.action_cells(action)
        named = names[action].removeprefix("x").split("-")
        assert [state.game.layout.names[cell] for cell in cells] == named
    for wrong in ("", "z9", "A1", "a0", " a1", None, 3, "a1-a1"):
        with pytest.raises(ValueError, match="names no action"):
            state.str_to_action(wrong)  # type: ignore[arg-type]
    for number in (-1, state.game.num_actions):
        with pytest.raises(ValueError, match="is not one of"):
            state.action_to_str(number)


@every_case
@checked
@given(seed=seeds)
def test_what_a_state_hands_out_is_the_callers_own(case: Case, seed: int) -> None:
    """Writing into an array changes no state."""
    state = random_state(case, seed)
    before = snapshot(state)
    state.row[:] = 1
    state.legal_actions[:] = 0
    state.legal_action_mask[:] = 1
    state.board[:] = 0
    state.observation()[:] = 9
    state.marks.clear()
    state.counters.clear()
    assert snapshot(state) == before
    parsed = state.game.from_row(state.row)
    row = state.row
    other = state.game.from_row(row)
    row[:] = 0
    assert other == parsed


@every_case
@checked
@given(seed=seeds)
def test_equality_is_of_game_and_text_not_of_history(case: Case, seed: int) -> None:
    state, other = random_state(case, seed), random_state(case, seed + 1)
    parsed = state.game.parse_state(state.to_text())
    assert parsed == state
    assert hash(parsed) == hash(state)
    assert (parsed.ply, parsed.turn, parsed.history) == (0, 0, ())
    assert len({state, parsed, state.copy()}) == 1
    assert (state == other) == (state.to_text() == other.to_text())
    if not state.terminated:
        after = state.copy()
        after.step(int(after.legal_actions[0]))
        assert after != state
        after.undo()
        assert after == state
    assert state != state.to_text()
    assert state != None  # noqa: E711


@every_case
@checked
@given(seed=seeds)
def test_arrays_have_the_promised_types_and_order(case: Case, seed: int) -> None:
    state = random_state(case, seed)
    game = state.game
    assert (state.legal_actions.dtype, state.legal_action_mask.dtype, state.board.dtype, state.row.dtype) == (
        np.int32,
        np.int8,
        np.int8,
        np.int32,
    )
    assert state.legal_action_mask.shape == (game.num_actions,)
    assert state.board.shape == (game.num_cells,)
    assert (np.diff(state.legal_actions) > 0).all()
    assert np.array_equal(np.flatnonzero(state.legal_action_mask), state.legal_actions)
    assert state.terminated == (len(state.legal_actions) == 0)
    assert sum(state.returns) == 0
    assert state.returns == {0: (1.0, -1.0), 1: (-1.0, 1.0), -1: (0.0, 0.0)}[state.winner]
    assert isinstance(state.winner, int)
    assert isinstance(state.to_play, int)
    assert isinstance(state.phase, game.phases)
    if not state.terminated:
        assert state.winner == -1


def test_a_game_goes_on_past_the_first_rows_kept() -> None:
    """History outgrows its room several times, with undo at every size."""
    game = stonezoo.load_game("dara", quiet_limit=10_000)
    rng = rng_of("long")
    state = game.initial_state()
    texts = [state.to_text()]
    while state.ply < 700 and not state.terminated:
        state.step(rng.choice(state.legal_actions.tolist()))
        texts.append(state.to_text())
    assert state.ply > 100
    clone = pickle.loads(pickle.dumps(state))
    for text in texts[-2::-1]:
        clone.undo()
        assert clone.to_text() == text


@pytest.mark.parametrize("player", [2, -1, "0", None.__class__, 0.5, [0]])
def test_an_observer_is_a_player(player: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"player|integer"):
        stonezoo.load_game("rive", board_size=2).initial_state().observation(player)


@pytest.mark.parametrize("player", [np.int32(1), np.int8(1), np.uint64(1)])
def test_an_observer_may_be_any_integer(player: Any) -> None:
    state = stonezoo.load_game("rive", board_size=2).parse_state("X./.../.O b")
    assert np.array_equal(state.observation(player), state.observation(1))


def test_a_row_of_the_wrong_length_is_refused() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    for length in (0, 1, game.rules.state_size - 1, game.rules.state_size + 1):
        with pytest.raises(ValueError, match=r"row|shape|broadcast"):
            game.from_row(np.zeros(length, np.int32))


def test_states_of_different_rules_differ() -> None:
    text = "..../..../..../.... b"
    games = [stonezoo.load_game("resolve", board_size=4, rules=rules) for rules in ("standard", "original")]
    standard, original = (game.parse_state(text) for game in games)
    assert standard.row.tobytes() == original.row.tobytes()
    assert standard != original
    assert len({standard, original}) == 2


@pytest.mark.parametrize("action", [-1, 150, 10**30, 2.0, "c3", True, None])
def test_only_actions_touch_cells(action: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"is not one of the 150 actions|an action is an integer"):
        stonezoo.load_game("dara").action_cells(action)
