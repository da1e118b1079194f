"""Values of every reachable state of small games, by the referees alone: the count of endless play is in the state."""

import functools
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.state import Game
from tests.reference.perft import Referee
from tests.stonezoo.games.graph import reachable
from tests.stonezoo.games.referees import Case, load, read

WINNER_VALUE = {0: 1, 1: -1, -1: 0}
NO_DISTANCE = -1

CASES: list[Case] = [
    ("rive", {"board_size": 2}),
    ("resolve", {"board_size": 2, "rules": "standard"}),
    ("resolve", {"board_size": 2, "rules": "original"}),
    ("resolve", {"board_size": 3, "rules": "standard"}),
    ("resolve", {"board_size": 3, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 3, "rules": "standard"}),
    ("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 3, "rules": "no_drop_threes"}),
]


class Truth(NamedTuple):
    """Every reachable state of a game: rows int32 [N, S]; for the player to act, values int8 [N], distances int32 [N]
    (-1 for draws) and values of actions int8 [N, A] (-2 where illegal)."""

    game: Game
    rows: NDArray[np.int32]
    values: NDArray[np.int8]
    distances: NDArray[np.int32]
    action_values: NDArray[np.int8]


def judge(position: Referee, memo: dict[Hashable, tuple[int, int]]) -> tuple[int, int]:
    """Black's value and the distance under best play: shortest win, longest loss."""
    if position.over:
        value = WINNER_VALUE[position.winner]
        return value, 0 if value else NO_DISTANCE
    key = position.key()
    if key not in memo:
        found = [judge(position.play(action), memo) for action in position.legal()]
        sign = 1 if position.to_play == 0 else -1
        best = max(sign * value for value, _ in found)
        lengths = [distance for value, distance in found if sign * value == best]
        length = NO_DISTANCE if best == 0 else 1 + (min(lengths) if best > 0 else max(lengths))
        memo[key] = sign * best, length
    return memo[key]


@functools.cache
def _truth(name: str, parameters: tuple[tuple[str, int | str], ...]) -> Truth:
    case = (name, dict(parameters))
    game = load(case)
    rows = reachable(game).rows
    values, distances = np.zeros(len(rows), np.int8), np.zeros(len(rows), np.int32)
    action_values = np.full((len(rows), game.num_actions), -2, np.int8)
    memo: dict[Hashable, tuple[int, int]] = {}
    for i, row in enumerate(rows):
        referee = read(case, game.from_row(row).to_text())
        sign = 1 if referee.to_play == 0 else -1
        value, distances[i] = judge(referee, memo)
        values[i] = sign * value
        for action in referee.legal():
            action_values[i, action] = sign * judge(referee.play(action), memo)[0]
    return Truth(game, rows, values, distances, action_values)


def truth_of(case: Case) -> Truth:
    """The truth about every reachable state of a case; found once a process."""
    return _truth(case[0], tuple(case[1].items()))
