"""What the learner draws, labelled anew from nothing but the actions of the games that were played."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from stonezero.chunks import chunk_files, fill_buffer, read_chunk, write_chunk
from stonezero.config import ReplayConfig, SearchConfig, SelfplayConfig
from stonezero.replay import ReplayBuffer
from stonezero.selfplay import FinishedGame, SelfPlay
from stonezoo import load_game
from stonezoo.kernels.batch import mask_batch, observe_batch, transform_batch
from tests.stonezero.test_selfplay import GAMES
from tests.stonezero.toy_game import ToyNetwork

ROWS = 150
every_game = pytest.mark.parametrize(("name", "parameters"), GAMES)


class Labelled(NamedTuple):
    """A position of a game, seen through the scalar state."""

    row: NDArray[np.int32]  # [S]
    ply: int
    value: float  # how the game ended for who was to act


@functools.cache
def played(name: str, parameters: tuple[tuple[str, Any], ...]) -> list[FinishedGame]:
    game = load_game(name, **dict(parameters))
    config = SelfplayConfig(num_games=12, temperature_turns=4)
    worker = SelfPlay(game, SearchConfig(num_simulations=4), config, ToyNetwork(game.num_actions, 3), seed=1)
    return worker.play(ROWS)[0]


def label(game: Any, finished: FinishedGame) -> list[Labelled]:
    """The positions of a game with a choice, which are those that are recorded."""
    state, decisions = game.initial_state(), []
    for ply, action in enumerate(finished.actions):
        if len(state.legal_actions) > 1:
            decisions.append((state.row, ply, state.to_play))
        state.step(action)
    assert state.terminated
    return [Labelled(row, ply, state.returns[player]) for row, ply, player in decisions]


def images(game: Any, row: NDArray[np.int32]) -> NDArray[np.int32]:
    """A position under every symmetry [K, S]."""
    symmetries = game.symmetries
    cells = np.ascontiguousarray([symmetry.cells for symmetry in symmetries], np.int32)
    swaps = np.array([symmetry.swaps_players for symmetry in symmetries], np.int8)
    rows = np.tile(row, (len(symmetries), 1))
    out = np.zeros_like(rows)
    transform_batch(game.rules, rows, cells, swaps, np.arange(len(symmetries), dtype=np.int32), out)
    return out


@every_game
def test_every_row_that_is_drawn_has_the_outcome_mask_and_picture_that_the_action_log_gives_it(
    name: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    game = load_game(name, **parameters)
    games = played(name, tuple(parameters.items()))
    write_chunk(tmp_path, 0, games)
    log = [labelled for finished in read_chunk(chunk_files(tmp_path)[0][1], game) for labelled in label(game, finished)]
    buffer = ReplayBuffer(game, ReplayConfig(window=10_000, capacity=10_000, min_rows=1))
    fill_buffer(buffer, tmp_path, game, 0, len(log))
    batch = buffer.sample(200, np.random.default_rng(0))
    found = np.empty(game.num_actions, np.int32)
    for lane, age in enumerate(batch.age):
        labelled = log[len(log) - 1 - int(age)]
        assert batch.value[lane] == labelled.value
        turned = images(game, labelled.row)
        pictures = np.empty((len(turned), *game.observation_shape), np.float32)
        observe_batch(game.rules, turned, pictures)
        alike = (pictures == batch.observation[lane]).all((1, 2, 3))
        assert alike.any()
        masks = np.empty((len(turned), game.num_actions), np.int8)
        mask_batch(game.rules, turned, found, masks)
        assert (masks[alike] == batch.legal_action_mask[lane]).all()
        assert not batch.search_policy[lane][~batch.legal_action_mask[lane]].any()
    assert set(np.unique(batch.value)) >= {-1.0, 1.0}


@every_game
def test_the_mean_outcome_of_the_first_rows_is_the_rate_at_which_the_player_to_act_there_wins(
    name: str, parameters: dict[str, Any]
) -> None:
    game = load_game(name, **parameters)
    games = played(name, tuple(parameters.items()))
    values, points = [], []
    for finished in games:
        assert finished.samples is not None
        assert finished.plies[0] == 0
        values.append(float(finished.samples.value[0]))
        state = game.initial_state()
        for action in finished.actions:
            state.step(action)
        points.append({0: 1.0, 1: 0.0, -1: 0.5}[state.winner])
    assert (np.mean(values) + 1) / 2 == pytest.approx(np.mean(points))
    assert abs(np.mean(points) - 0.5) > 0.01  # else the rate of the other player would do as well
