"""Games drawn from a seed as digests, to be compared over processes: `python -m stonezoo.check.replay SPEC`."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.subject import load_subject
from stonezoo.core.rng import new_streams
from stonezoo.kernels.choose import random_batch
from stonezoo.state import Game


class Spec(NamedTuple):
    """What to play: `games` games of at most `plies` actions, drawn from `seed`."""

    target: str
    parameters: dict[str, Any]
    seed: int
    games: int
    plies: int


def replay(game: Game, spec: Spec) -> list[tuple[int, int, str]]:
    """Returns, for every ply of every game, its number, the action drawn (-1 at the end) and a digest of the state."""
    found = []
    streams = new_streams(spec.seed, spec.games)
    for number in range(spec.games):
        state = game.initial_state()
        for ply in range(spec.plies + 1):
            digest = hashlib.sha256(state.to_text().encode())
            arrays: list[NDArray[Any]] = [state.row, state.legal_actions, state.legal_action_mask]
            for array in [*arrays, *(state.observation(player) for player in (0, 1))]:
                digest.update(array.tobytes())
            action = np.array([-1], np.int32)
            if not state.terminated and ply < spec.plies:
                random_batch(game.rules, state.row[np.newaxis], streams[number : number + 1], action)
            found.append((number, int(action[0]), digest.hexdigest()[:16]))
            if action[0] < 0:
                break
            state.step(int(action[0]))
    return found


if __name__ == "__main__":
    chosen = Spec(**json.loads(sys.argv[1]))
    print(json.dumps(replay(load_subject(chosen.target, chosen.parameters).game, chosen)))
