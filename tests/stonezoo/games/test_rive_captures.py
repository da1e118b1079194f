"""For every capture met on Rive of side 3: stone by stone goes exactly as far as V5 allows."""

from math import comb

import pytest

from stonezoo.state import State
from tests.reference.rive import Rive, capture_sets
from tests.stonezoo.games.referees import Case, load, read, rng_of

SIDE_3: Case = ("rive", {"board_size": 3})


def final_sets(state: State) -> set[frozenset[int]]:
    """The sets of cells that the engine's removals, one by one, can take away by the end of the capture."""
    stones = state.counters["remove"]
    layer = {frozenset[int](): state}
    for _ in range(stones):
        following: dict[frozenset[int], State] = {}
        for removed, reached in layer.items():
            for action in reached.legal_actions.tolist():
                key = removed | {action}
                if key not in following:
                    following[key] = reached.copy()
                    following[key].step(action)
        layer = following
    assert all(after.phase.name == "PLACE" and after.to_play == state.to_play for after in layer.values())
    return set(layer)


def check_captures(games: int, most: int, seed: int) -> int:
    """Compares the captures of random games whose combinations number at most `most`; returns how many."""
    game, rng = load(SIDE_3), rng_of("captures", seed)
    seen: set[tuple[bytes, int]] = set()
    for _ in range(games):
        state = game.initial_state()
        while not state.terminated:
            before = state.phase.name
            state.step(int(rng.choice(state.legal_actions.tolist())))
            if before != "PLACE" or state.phase.name != "REMOVE":
                continue
            referee = read(SIDE_3, state.to_text())
            assert isinstance(referee, Rive)
            key = (bytes(state.board >= 0), referee.stone)
            if key in seen or comb(len(referee.merged_group()), referee.remaining) > most:
                continue
            seen.add(key)
            expected = capture_sets(referee)
            assert final_sets(state) == expected
            assert all(referee.stone not in removed for removed in expected)
    return len(seen)


def test_captures_reach_exactly_the_sets_of_v5() -> None:
    assert check_captures(games=25, most=200, seed=0) > 100


@pytest.mark.slow
def test_all_captures_met_reach_exactly_the_sets_of_v5() -> None:
    """No capture of these games is left out."""
    assert check_captures(games=1500, most=10**9, seed=1) > 5000
