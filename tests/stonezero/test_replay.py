from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from stonezero.config import ReplayConfig
from stonezero.replay import Batch, ReplayBuffer, Samples, restore_rng, rng_state, window_size

CELLS = 4
ACTIONS = CELLS + 1  # a cell, or to pass
STATE_SIZE = CELLS + 1
ROTATION = np.array([1, 2, 3, 0])  # cell c moves to cell ROTATION[c]


def _powers() -> list[NDArray[np.int64]]:
    tables = [np.arange(CELLS)]
    for _ in range(3):
        tables.append(ROTATION[tables[-1]])
    return tables


GAME = SimpleNamespace(
    observation_shape=(2, 2, 3),
    num_actions=ACTIONS,
    symmetries=[
        SimpleNamespace(cells=cells, actions=np.append(cells, CELLS), swaps_players=False) for cells in _powers()
    ],
)


def observe(states: NDArray[np.int32], out: NDArray[np.float32]) -> None:
    """A ring of four cells as a 2 x 2 picture: own stones, other stones, on the board."""
    board = states[:, 1:].reshape(-1, 2, 2)
    out[..., 0], out[..., 1], out[..., 2] = board == 1, board == 2, 1.0


def transform(states: NDArray[np.int32], symmetry: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    out[:, 0] = states[:, 0]
    for lane, index in enumerate(symmetry):
        out[lane, 1 + GAME.symmetries[index].cells] = states[lane, 1:]


def make_buffer(symmetries: bool = False, **settings: Any) -> ReplayBuffer:
    config = ReplayConfig(**{"window": 1000, "capacity": 1000, "min_rows": 1, **settings})
    return ReplayBuffer(GAME, config, symmetries=symmetries, observe=observe, transform=transform)


def make_samples(count: int, first: int = 0) -> Samples:
    """Row r has r in its state's header and its version, and legal actions: pass and the empty cells."""
    rows = np.arange(first, first + count)
    states = np.empty((count, STATE_SIZE), np.int32)
    policy = np.zeros((count, ACTIONS), np.float32)
    for lane, row in enumerate(rows):
        rng = np.random.default_rng(row)
        states[lane] = row, *rng.integers(0, 3, CELLS)
    mask = np.concatenate([states[:, 1:] == 0, np.ones((count, 1), np.bool_)], axis=1)
    # The policy of an action says which cell it is, so that a wrong permutation shows.
    policy[:] = mask * np.arange(1, ACTIONS + 1)
    policy /= policy.sum(1, keepdims=True)
    value = np.where(rows % 3 == 0, 1.0, -1.0).astype(np.float32)
    return Samples(states, policy, mask, value, rows.astype(np.int32))


def assert_same(first: Batch, second: Batch) -> None:
    for name in ("observation", "legal_action_mask", "search_policy", "value", "age", "version"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_rows_come_back_as_they_went_in() -> None:
    buffer, samples = make_buffer(), make_samples(50)
    buffer.add(samples)
    batch = buffer.sample(500, np.random.default_rng(0))
    assert set(batch.version) == set(range(50))
    rows = batch.version
    np.testing.assert_array_equal(batch.search_policy, samples.search_policy[rows])
    np.testing.assert_array_equal(batch.legal_action_mask, samples.legal_action_mask[rows])
    np.testing.assert_array_equal(batch.value, samples.value[rows])
    np.testing.assert_array_equal(batch.age, 49 - rows)
    expected = np.empty_like(batch.observation)
    observe(samples.states[rows], expected)
    np.testing.assert_array_equal(batch.observation, expected)


def test_the_oldest_rows_make_room() -> None:
    buffer = make_buffer(capacity=20)
    for first in range(0, 63, 7):
        buffer.add(make_samples(7, first))
    assert (buffer.total_rows, len(buffer)) == (63, 20)
    assert set(buffer.sample(500, np.random.default_rng(0)).version) == set(range(43, 63))
    buffer.add(make_samples(90, 63))
    assert set(buffer.sample(500, np.random.default_rng(0)).version) == set(range(133, 153))
    np.testing.assert_array_equal(buffer.latest(5).version, np.arange(148, 153))


def test_the_window_follows_the_power_law() -> None:
    config = ReplayConfig(window=1000, alpha=0.75, beta=0.4)
    assert window_size(400, config) == 400
    assert window_size(1000, config) == 1000
    assert window_size(16_000, config) == int(1000 * (1 + 0.4 * (8 - 1) / 0.75))
    buffer = make_buffer(window=10, capacity=100, beta=0.0)
    buffer.add(make_samples(80))
    assert buffer.window == 10
    assert set(buffer.sample(300, np.random.default_rng(0)).version) == set(range(70, 80))


def test_each_row_is_drawn_about_equally_often() -> None:
    buffer = make_buffer()
    buffer.add(make_samples(10))
    counts = np.bincount(buffer.sample(10_000, np.random.default_rng(0)).version, minlength=10)
    assert np.abs(counts - 1000).max() < 4 * np.sqrt(10_000 * 0.1 * 0.9)  # 4 sigma


def test_symmetries_turn_state_policy_and_mask_together() -> None:
    buffer, samples = make_buffer(symmetries=True), make_samples(30)
    buffer.add(samples)
    batch = buffer.sample(600, np.random.default_rng(0))
    empty = 1.0 - batch.observation[..., 0] - batch.observation[..., 1]
    # The engine's mask of the turned state is the turned mask: here, the empty cells and the pass.
    np.testing.assert_array_equal(batch.legal_action_mask[:, :CELLS], empty.reshape(-1, CELLS) == 1)
    assert batch.legal_action_mask[:, CELLS].all()
    np.testing.assert_allclose(batch.search_policy.sum(1), 1, rtol=1e-6)
    turned = {row: set() for row in range(30)}  # type: ignore[var-annotated]
    for lane, row in enumerate(batch.version):
        original = samples.states[row, 1:]
        picture = batch.observation[lane, ..., :2].reshape(CELLS, 2) @ [1, 2]
        for index, cells in enumerate(_powers()):
            image = np.empty(CELLS, int)
            image[cells] = original
            policy = np.append(np.empty(CELLS), samples.search_policy[row, CELLS])
            policy[cells] = samples.search_policy[row, :CELLS]
            if (image == picture).all() and (policy == batch.search_policy[lane]).all():
                turned[row].add(index)
                break
        else:
            pytest.fail(f"row {row} is no rotation of itself")
    assert any(len(found) == 4 for found in turned.values())


def test_an_action_moves_to_where_the_table_says() -> None:
    buffer = make_buffer(symmetries=True)
    samples = make_samples(1)
    policy = np.array([[1, 0, 0, 0, 0]], np.float32)
    _, turned, _ = buffer.apply_symmetries(samples.states, policy, samples.legal_action_mask, np.array([1], np.int32))
    assert turned[0].argmax() == GAME.symmetries[1].actions[0] == 1


def test_sampling_goes_on_from_a_filled_buffer_and_a_saved_generator() -> None:
    buffer, rng = make_buffer(symmetries=True, capacity=64), np.random.default_rng(5)
    buffer.add(make_samples(50))
    buffer.sample(8, rng)
    buffer.add(make_samples(60, 50))
    state = rng_state(rng)
    again = make_buffer(symmetries=True, capacity=64)
    again.begin(buffer.first_row)
    again.add(buffer.latest(64))
    assert (again.total_rows, len(again), again.window) == (110, 64, buffer.window)
    assert_same(again.sample(32, restore_rng(state)), buffer.sample(32, rng))


def test_a_buffer_that_lost_its_past_draws_only_what_it_has() -> None:
    buffer = make_buffer(capacity=20)
    buffer.begin(80)
    with pytest.raises(ValueError, match="is empty"):
        buffer.sample(1, np.random.default_rng(0))
    buffer.add(make_samples(10, 80))
    assert (buffer.total_rows, buffer.first_row, len(buffer), buffer.window) == (90, 80, 10, 10)
    assert set(buffer.sample(200, np.random.default_rng(0)).version) == set(range(80, 90))
    with pytest.raises(ValueError, match="only an empty buffer"):
        buffer.begin(0)


def test_reuse_is_held() -> None:
    buffer = make_buffer(reuse=4.0, min_rows=100)
    buffer.add(make_samples(99))
    assert buffer.steps_due(0, 32) == 0
    buffer.add(make_samples(1, 99))
    assert buffer.steps_due(0, 32) == 12
    assert buffer.steps_due(12, 32) == 0
    assert buffer.steps_due(20, 32) == 0


def test_wrong_rows_are_refused() -> None:
    good = make_samples(3)
    buffer = make_buffer()
    with pytest.raises(ValueError, match="is empty"):
        buffer.sample(1, np.random.default_rng(0))
    bad_policy = good.search_policy.copy()
    bad_policy[~good.legal_action_mask] = 0.1
    for samples, message in (
        (Samples(good.states, bad_policy, good.legal_action_mask, good.value, good.version), "not zero on an illegal"),
        (Samples(good.states, good.search_policy, good.legal_action_mask, good.value * np.nan, good.version), "finite"),
        (Samples(good.states, good.search_policy[:, :4], good.legal_action_mask, good.value, good.version), "shape"),
        (Samples(good.states, good.search_policy, good.legal_action_mask, good.value[:2], good.version), "shape"),
    ):
        with pytest.raises(ValueError, match=message):
            buffer.add(samples)
    assert len(buffer) == 0


def test_samples_concatenate_in_order() -> None:
    whole = Samples.concatenate([make_samples(3), make_samples(4, 3)])
    np.testing.assert_array_equal(whole.states, make_samples(7).states)
    assert len(whole) == 7
