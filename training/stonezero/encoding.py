"""Games of self-play as a few small arrays: actions, and of each recorded position the ply and its sparse target.

States are not stored. They are rebuilt by playing the actions again, which is faster than reading them and takes a
tenth of the room; targets are kept to the bit, and zeros are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezero.targets import Trajectory
from stonezoo.kernels.batch import mask_batch, reset_batch, step_batch
from stonezoo.state import Game

Arrays = dict[str, NDArray[Any]]

_A_GAME = ("number", "turns", "length", "rows")  # each [G]
_A_ROW = ("ply", "version", "support")  # each [N]
_FIELDS = (*_A_GAME, *_A_ROW, "actions", "target_actions", "target_values")


def encode_games(trajectories: Sequence[Trajectory]) -> Arrays:
    """Games, finished or not, as arrays for `decode_games`.

    number int64 [G], turns, length (actions) and rows int32 [G]; actions int32 of all games, one after the other; ply,
    version and support (actions whose target is not 0) int32 [N] of all rows; target_actions int32 and target_values
    float32 of all rows, one after the other.
    """
    policies = [policy for game in trajectories for policy in game.search_policies]
    supports = [np.flatnonzero(policy) for policy in policies]
    values = [policy[support] for policy, support in zip(policies, supports, strict=True)]
    return {
        "number": np.array([game.number for game in trajectories], np.int64),
        "turns": np.array([game.turns for game in trajectories], np.int32),
        "length": np.array([len(game.actions) for game in trajectories], np.int32),
        "rows": np.array([len(game.plies) for game in trajectories], np.int32),
        "actions": np.array([action for game in trajectories for action in game.actions], np.int32),
        "ply": np.array([ply for game in trajectories for ply in game.plies], np.int32),
        "version": np.array([version for game in trajectories for version in game.versions], np.int32),
        "support": np.array([len(support) for support in supports], np.int32),
        "target_actions": np.concatenate([np.zeros(0, np.int32), *supports]).astype(np.int32),
        "target_values": np.concatenate([np.zeros(0, np.float32), *values]).astype(np.float32),
    }


def decode_games(game: Game, arrays: Mapping[str, NDArray[Any]]) -> tuple[list[Trajectory], NDArray[np.int32]]:
    """The trajectories of `encode_games`, in order, and the state [G, S] after the last action of each.

    Raises ValueError when the arrays do not belong together, or an action is illegal: they may come from a file.
    """
    _check(arrays)
    lengths, rows = arrays["length"].astype(np.int64), arrays["rows"].astype(np.int64)
    row_states, last = _replay(game, arrays["actions"], lengths, np.repeat(np.arange(len(rows)), rows), arrays["ply"])
    policies = _dense(arrays, game.num_actions)  # [N, A]
    trajectories = []
    actions, firsts = _offsets(lengths), _offsets(rows)
    for index, ((start, stop), (first, end)) in enumerate(zip(pairwise(actions), pairwise(firsts), strict=True)):
        trajectories.append(
            Trajectory(
                number=int(arrays["number"][index]),
                actions=arrays["actions"][start:stop].tolist(),
                turns=int(arrays["turns"][index]),
                plies=arrays["ply"][first:end].tolist(),
                states=list(row_states[first:end]),
                search_policies=list(policies[first:end]),
                versions=arrays["version"][first:end].tolist(),
            )
        )
    return trajectories, last


def take_last(arrays: Mapping[str, NDArray[Any]], count: int) -> Arrays:
    """The last `count` games of `encode_games`' arrays, as such arrays."""
    games = max(0, len(arrays["number"]) - count)
    first_action = int(arrays["length"][:games].sum(dtype=np.int64))
    first_row = int(arrays["rows"][:games].sum(dtype=np.int64))
    first_target = int(arrays["support"][:first_row].sum(dtype=np.int64))
    return {
        **{name: arrays[name][games:] for name in _A_GAME},
        **{name: arrays[name][first_row:] for name in _A_ROW},
        "actions": arrays["actions"][first_action:],
        "target_actions": arrays["target_actions"][first_target:],
        "target_values": arrays["target_values"][first_target:],
    }


def _check(arrays: Mapping[str, NDArray[Any]]) -> None:
    for name in _FIELDS:
        if name not in arrays or arrays[name].ndim != 1:
            raise ValueError(f"games without a list of {name}")
        if arrays[name].dtype.kind not in ("f" if name == "target_values" else "iu"):
            raise ValueError(f"{name} of games is {arrays[name].dtype}")
    for name in ("length", "rows", "support"):
        if (arrays[name] < 0).any():
            raise ValueError(f"{name} of games below 0")
    counts = {
        **{name: len(arrays["number"]) for name in _A_GAME},
        **{name: int(arrays["rows"].sum(dtype=np.int64)) for name in _A_ROW},
        "actions": int(arrays["length"].sum(dtype=np.int64)),
    }
    counts["target_actions"] = counts["target_values"] = int(arrays["support"].sum(dtype=np.int64))
    for name, count in counts.items():
        if len(arrays[name]) != count:
            raise ValueError(f"{len(arrays[name])} entries of {name} in games that have {count}")
    lengths = np.repeat(arrays["length"], arrays["rows"])
    if ((arrays["ply"] < 0) | (arrays["ply"] >= lengths)).any():
        raise ValueError("a recorded position lies outside its game")


def _replay(
    game: Game,
    actions: NDArray[Any],
    lengths: NDArray[np.int64],
    row_games: NDArray[np.int64],
    row_plies: NDArray[Any],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Play all games side by side; the states [N, S] of the rows and those [G, S] at the end."""
    starts = _offsets(lengths)[:-1]
    states = np.zeros((len(lengths), game.rules.state_size), np.int32)  # [G, S]
    row_states = np.zeros((len(row_plies), game.rules.state_size), np.int32)  # [N, S]
    reset_batch(game.rules, states)
    mask = np.zeros((len(lengths), game.num_actions), np.int8)  # [G, A]
    found = np.zeros(game.num_actions, np.int32)
    order = np.argsort(row_plies, kind="stable")
    bounds = np.searchsorted(row_plies[order], np.arange(int(lengths.max(initial=0)) + 1))
    for ply, (first, end) in enumerate(pairwise(bounds.tolist())):
        rows = order[first:end]
        row_states[rows] = states[row_games[rows]]
        playing = lengths > ply
        chosen = np.full(len(lengths), -1, np.int32)
        chosen[playing] = actions[starts[playing] + ply]
        if (chosen[playing] < 0).any() or (chosen >= game.num_actions).any():
            raise ValueError(f"a game has an action outside 0 to {game.num_actions - 1} at ply {ply}")
        mask_batch(game.rules, states, found, mask)
        if not mask[playing, chosen[playing]].all():
            raise ValueError(f"a game has an illegal action at ply {ply}")
        step_batch(game.rules, states, chosen)
    return row_states, states


def _dense(arrays: Mapping[str, NDArray[Any]], num_actions: int) -> NDArray[np.float32]:
    actions = arrays["target_actions"]
    if ((actions < 0) | (actions >= num_actions)).any():
        raise ValueError(f"a target stands on an action outside 0 to {num_actions - 1}")
    policies = np.zeros((len(arrays["support"]), num_actions), np.float32)
    policies[np.repeat(np.arange(len(policies)), arrays["support"]), actions] = arrays["target_values"]
    return policies


def _offsets(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Where each part begins, and the end of the last: [len(counts) + 1]."""
    offsets: NDArray[np.int64] = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    return offsets
