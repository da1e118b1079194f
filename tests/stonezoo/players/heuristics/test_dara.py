"""What Dara's heuristic sees."""

import numpy as np
import pytest

import stonezoo
from stonezoo.core.bits import WORD
from stonezoo.games.dara import NORTH, action_at
from stonezoo.players.heuristics.dara import DaraHeuristic, capturing
from tests.stonezoo.players.positions import positions

GAMES = [{}, {"rows": 8, "columns": 9, "stones": 20}, {"rows": 4, "columns": 4, "stones": 5, "rules": "no_drop_threes"}]


@pytest.mark.parametrize("parameters", GAMES, ids=["5x6", "8x9", "4x4"])
def test_slides_that_capture_are_those_that_make_a_three(parameters: dict[str, int]) -> None:
    game = stonezoo.load_game("dara", **parameters)
    words = 1 if game.num_cells + game.parameters["rows"] <= WORD else 2  # type: ignore[operator]
    found_some = 0
    for row in positions(game, count=110):
        state = game.from_row(row)
        if state.phase.name != "SLIDE":
            continue
        found = set()
        for word in range(words):
            for direction, cells in enumerate(capturing(game.rules, row, state.to_play, word)):
                for bit in range(WORD):
                    if cells >> bit & 1:
                        found.add(int(action_at(game.rules, NORTH + direction, word * WORD + bit)))
        # D5: the slide leaves the stone in a run of exactly three, which the planes of the observation show.
        making = set()
        for action in state.legal_actions.tolist():
            after = state.copy()
            after.step(action)
            if not after.terminated:
                target = game.action_cells(action)[-1]
                threes = after.observation(state.to_play)[:, :, 10].reshape(-1)
                if threes[target]:
                    making.add(action)
        ended = {a for a in found - making if _ends(state, a)}
        assert found - ended == making
        found_some += len(making)
    assert found_some > 10


def _ends(state: stonezoo.State, action: int) -> bool:
    after = state.copy()
    after.step(action)
    return after.terminated


def test_rollouts_make_a_three_where_they_can() -> None:
    game = stonezoo.load_game("dara")
    state = game.parse_state("....../....../XX.X../....../O.O..O b")
    heuristic = DaraHeuristic()
    from stonezoo.core.rng import new_streams

    for stream in new_streams(0, 30):
        action = int(heuristic.quick_action(game.rules, state.row, stream, np.zeros(1, np.int32)))
        assert state.action_to_str(action) == "d3-c3"
