"""Whose each cell is when the game ends: from the last board to the owner head's gradient."""

from typing import Any

import numpy as np
import pytest
import torch

from stonezero.config import LearnerConfig, NetworkConfig, ReplayConfig
from stonezero.learner import Learner, owner_error
from stonezero.networks import NetworkSpec, build_network
from stonezero.replay import Batch, ReplayBuffer, Samples
from stonezero.targets import Trajectory, make_samples
from stonezoo import load_game
from stonezoo.core.game import TO_PLAY
from stonezoo.kernels.batch import observe_batch, transform_batch
from tests.stonezero.test_selfplay import GAMES, self_play

torch.set_num_threads(1)

# From one position to the end of the game, with the last board as Black sees it, 1 a stone of Black's.
ENDS: list[tuple[str, dict[str, Any], str, list[str], list[list[int]]]] = [
    (
        "rive",
        {"board_size": 2},
        "XO/X../OX w",
        ["b2", "b3"],
        [[0, 1, -1], [1, -1, 1], [-1, 1, 0]],  # c1 c2 / b1 b2 b3 / a1 a2 in planes of 3 x 3
    ),
    ("resolve", {"board_size": 3}, "XXO/O../.X. w", ["c1", "b2"], [[1, 1, -1], [-1, 1, 0], [0, 1, -1]]),
    (
        "dara",
        {"rows": 3, "columns": 4, "stones": 3},
        "XX../O.X./.O.O w",
        ["a2-a1", "c2-c3", "xd1"],  # Black acts twice in a row
        [[1, 1, 1, 0], [0, 0, 0, 0], [-1, -1, 0, 0]],
    ),
]


def played(game: Any, text: str, actions: list[str]) -> tuple[Samples, list[int]]:
    """A row for each action, and who acts in it."""
    state, trajectory, movers = game.parse_state(text), Trajectory(0), []
    for name in actions:
        action = state.str_to_action(name)
        policy = np.zeros(game.num_actions, np.float32)
        policy[action] = 1
        trajectory.record(state.row, policy, len(movers))
        movers.append(state.to_play)
        state.step(action)
    samples = make_samples(game, trajectory, state.row)
    assert samples is not None
    return samples, movers


def make_buffer(game: Any, *, symmetries: bool, owner: bool = True) -> ReplayBuffer:
    config = ReplayConfig(capacity=5_000, window=5_000, min_rows=1)
    return ReplayBuffer(game, config, symmetries=symmetries, owner=owner)


def self_play_samples(game: Any, rows: int = 120) -> Samples:
    games, _ = self_play(game).play(rows)
    samples = Samples.concatenate([finished.samples for finished in games if finished.samples is not None])
    samples.version[:] = np.arange(len(samples))  # so that a row is known again
    return samples


@pytest.mark.parametrize(("name", "parameters", "text", "actions", "board"), ENDS, ids=[end[0] for end in ENDS])
def test_the_target_is_the_last_board_for_the_player_to_act(
    name: str, parameters: dict[str, Any], text: str, actions: list[str], board: list[list[int]]
) -> None:
    game = load_game(name, **parameters)
    samples, movers = played(game, text, actions)
    assert 0 in movers
    assert 1 in movers
    buffer = make_buffer(game, symmetries=False)
    buffer.add(samples)
    batch = buffer.sample(40, np.random.default_rng(0))
    assert batch.owner is not None
    assert batch.owner.target.dtype == np.int8
    for lane, row in enumerate(batch.version):
        expected = np.array(board) * (1 if movers[row] == 0 else -1)
        np.testing.assert_array_equal(batch.owner.target[lane], expected)
    on_board = batch.observation[..., game.rules.on_board_plane] == 1
    np.testing.assert_array_equal(on_board, np.broadcast_to(batch.owner.on_board, on_board.shape))


@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_the_target_turns_with_the_observation_players_exchanged_or_not(name: str, parameters: dict[str, Any]) -> None:
    game = load_game(name, **parameters)
    games, _ = self_play(game).play(120)
    own, other = (game.rules.planes.index(plane) for plane in ("own stones", "other stones"))
    cells = np.ascontiguousarray([symmetry.cells for symmetry in game.symmetries], np.int32)
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
    seen = np.empty((len(swaps), *game.observation_shape), np.float32)
    kinds = set()
    for finished in games[:6]:
        samples = finished.samples
        assert samples is not None
        samples.version[:] = np.arange(len(samples))
        buffer = make_buffer(game, symmetries=True)
        buffer.add(samples)
        batch = buffer.sample(60, np.random.default_rng(1))
        assert batch.owner is not None
        last = game.initial_state()
        for action in finished.actions:
            last.step(action)
        # What the engine says of each image of the row and of the last state.
        for lane, row in enumerate(batch.version):
            images = np.empty((len(swaps), samples.states.shape[1]), np.int32)
            ends = np.empty_like(images)
            index = np.arange(len(swaps), dtype=np.int32)
            transform_batch(game.rules, np.repeat(samples.states[[row]], len(swaps), 0), cells, swaps, index, images)
            transform_batch(game.rules, np.repeat(last.row[None], len(swaps), 0), cells, swaps, index, ends)
            observe_batch(game.rules, images, seen)
            found = False
            for k in index:
                final = game.from_row(ends[k]).observation(int(images[k, TO_PLAY]))
                target = final[..., own] - final[..., other]
                if (seen[k] == batch.observation[lane]).all() and (target == batch.owner.target[lane]).all():
                    found = True
                    kinds.add(bool(swaps[k]))
            assert found, f"row {row}"
    assert kinds == set(swaps.astype(bool).tolist())


def test_rows_without_owners_are_refused_by_a_buffer_that_keeps_them() -> None:
    game = load_game("rive", board_size=2)
    samples, _ = played(game, ENDS[0][2], ENDS[0][3])
    buffer = make_buffer(game, symmetries=True)
    bare = Samples(samples.states, samples.search_policy, samples.legal_action_mask, samples.value, samples.version)
    with pytest.raises(ValueError, match="do not say whose each of the 7 cells"):
        buffer.add(bare)
    assert samples.owner is not None
    for wrong, said in ((samples.owner[:, :5], "whose each of the 7 cells"), (samples.owner * 2, "-1, 0 or 1")):
        with pytest.raises(ValueError, match=said):
            buffer.add(Samples(*[getattr(bare, name) for name in vars(bare) if name != "owner"], owner=wrong))
    assert len(buffer) == 0
    plain = make_buffer(game, symmetries=True, owner=False)
    plain.add(samples)
    assert plain.sample(4, np.random.default_rng(0)).owner is None
    assert plain.latest(2).owner is None


def test_a_buffer_that_is_filled_again_shows_the_same_owners() -> None:
    game = load_game("resolve", board_size=3)
    buffer = make_buffer(game, symmetries=True)
    buffer.add(self_play_samples(game))
    again = make_buffer(game, symmetries=True)
    again.begin(buffer.first_row)
    again.add(buffer.latest(5_000))
    one, two = (some.sample(64, np.random.default_rng(3)) for some in (buffer, again))
    assert one.owner is not None
    assert two.owner is not None
    np.testing.assert_array_equal(one.owner.target, two.owner.target)


@pytest.mark.parametrize("owner", [False, True])
def test_keeping_owners_draws_the_same_rows_under_the_same_symmetries(owner: bool) -> None:
    game = load_game("rive", board_size=2)
    samples = self_play_samples(game)
    expected, buffer = make_buffer(game, symmetries=True, owner=False), make_buffer(game, symmetries=True, owner=owner)
    for some in (expected, buffer):
        some.add(samples)
    one, two = (some.sample(64, np.random.default_rng(3)) for some in (expected, buffer))
    np.testing.assert_array_equal(one.observation, two.observation)
    np.testing.assert_array_equal(one.search_policy, two.search_policy)


def test_the_loss_is_the_mean_over_the_cells_of_the_board_and_beside_it_there_is_no_gradient() -> None:
    on_board = torch.tensor([[True, True, False], [True, False, False]])
    target = torch.tensor([[[1, -1, 0], [0, 0, 0]], [[1, 1, 0], [-1, 0, 0]]], dtype=torch.int8)
    owner = torch.full((2, 2, 3), 0.5, requires_grad=True)
    loss = owner_error(owner, target, on_board)
    expected = [(0.25 + 2.25 + 0.25) / 3, (0.25 + 0.25 + 2.25) / 3]
    assert loss.tolist() == pytest.approx(expected)
    loss.sum().backward()  # type: ignore[no-untyped-call]
    assert owner.grad is not None
    assert not owner.grad[:, ~on_board].any()
    assert owner.grad[:, on_board].all()


def rive_batch(size: int = 64) -> tuple[NetworkSpec, Batch]:
    game = load_game("rive", board_size=2)
    buffer = make_buffer(game, symmetries=True)
    buffer.add(self_play_samples(game, 400))
    return NetworkSpec.from_game(game), buffer.sample(size, np.random.default_rng(0))


def learner_of(spec: NetworkSpec, head: bool = True, **settings: Any) -> tuple[Any, Learner]:
    network = build_network(NetworkConfig(preset="tiny", owner_head=head), spec, seed=0)
    return network, Learner(network, LearnerConfig(**{"warmup_steps": 0, **settings}))


def test_the_owner_is_learnt_and_its_gradient_reaches_head_and_trunk() -> None:
    spec, batch = rive_batch()
    network, learner = learner_of(spec, lr=3e-3, policy_weight=0.0, value_weight=0.0)
    first = learner.step(batch)
    assert network.owner_out.weight.grad.any()
    assert network.stem.weight.grad.any()
    assert not network.value_out.weight.grad.any()
    for _ in range(60):
        last = learner.step(batch)
    assert first["owner_loss"] == pytest.approx(1.0, abs=0.2)  # every cell of Rive's last board is somebody's
    assert last["owner_loss"] < 0.6 * first["owner_loss"]
    assert last["owner_sign"] > 0.8
    assert last["loss"] == pytest.approx(last["owner_loss"])


def test_the_weight_of_the_owner_scales_its_share_of_the_loss() -> None:
    spec, batch = rive_batch()
    reports = [learner_of(spec, owner_weight=weight)[1].step(batch) for weight in (0.0, 1.0, 2.5)]
    bare = reports[0]["policy_loss"] + reports[0]["value_loss"]
    for weight, report in zip((0.0, 1.0, 2.5), reports, strict=True):
        assert report["loss"] == pytest.approx(bare + weight * report["owner_loss"], rel=1e-5)
    network, learner = learner_of(spec, owner_weight=0.0)
    learner.step(batch)
    assert not network.owner_out.weight.grad.any()


def test_runs_without_the_head_learn_as_if_there_were_none() -> None:
    spec, batch = rive_batch()
    bare = Batch(*[getattr(batch, name) for name in vars(batch) if name != "owner"])
    _, learner = learner_of(spec, head=False)
    assert "owner_loss" not in learner.step(bare)
    with pytest.raises(ValueError, match="returned no owner"):
        learner.step(batch)
