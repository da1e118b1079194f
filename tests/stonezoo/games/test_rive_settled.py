"""When captures are over on Rive, the outcome is settled: `RiveRules.settled_outcome` against play and minimax."""

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezoo.check.hints import hints_batch
from stonezoo.core.game import BLACK_WON, ONGOING, OUTCOME, TO_PLAY, WHITE_WON
from stonezoo.state import Game, State
from tests.stonezoo.games.referees import rng_of
from tests.stonezoo.games.stories import play, position
from tests.stonezoo.solve.truth import truth_of


def settled_rows(game: Game, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """The settled outcomes int32 [B] of rows [B, S]."""
    found, counts = (np.zeros(len(rows), np.int32) for _ in range(2))
    actions = np.zeros((len(rows), game.num_actions), np.int32)
    hints_batch(game.rules, rows, found, np.zeros(len(rows), np.int64), counts, actions)
    return found


def settled(state: State) -> int:
    return int(settled_rows(state.game, state.row[np.newaxis])[0])


def rive(text: str, size: int) -> int:
    return settled(position("rive", text, board_size=size))


def test_one_group_that_every_empty_cell_touches_is_filled_in_turn() -> None:
    assert rive("XX/XOO/.. b", 2) == BLACK_WON  # 3 to 2, and one more each
    assert rive("XX/OOO/.. b", 2) == WHITE_WON
    assert rive("XX/OOX/.O w", 2) == WHITE_WON  # 3 to 3: White has the last cell
    assert rive("XX/OOX/.O b", 2) == BLACK_WON


def test_an_empty_cell_that_touches_nothing_begins_a_group() -> None:
    assert rive("../.../.. b", 2) == ONGOING
    assert rive("X./.../.. w", 2) == ONGOING
    assert rive("XXX/OXOO/OO.../X.../... b", 3) == ONGOING  # a3 touches none


def test_a_second_group_will_be_captured() -> None:
    assert rive("XO/.../XO b", 2) == ONGOING
    assert rive("XXXX/OOOOO/....../......./XXXXXX/OOOOO/XXXX b", 4) == ONGOING  # though no cell touches both yet


def test_a_capture_under_way_settles_nothing() -> None:
    state = play(position("rive", "XO/.../XO b", board_size=2), "b2")
    assert state.phase.name == "REMOVE"
    assert settled(state) == ONGOING


def test_on_side_2_it_agrees_with_minimax_everywhere() -> None:
    truth = truth_of(("rive", {"board_size": 2}))
    going = np.flatnonzero(truth.rows[:, OUTCOME] == ONGOING)
    rows = np.ascontiguousarray(truth.rows[going])
    found = settled_rows(truth.game, rows)
    known = np.flatnonzero(found)
    values = np.where(found[known] == BLACK_WON + rows[known, TO_PLAY], 1, -1)
    assert np.array_equal(values, truth.values[going[known]])
    assert len(known) > 0.3 * len(rows)


@pytest.mark.parametrize(("size", "games"), [(3, 60), (4, 40), (5, 10), (6, 3)])
def test_once_settled_no_capture_comes_and_the_end_is_as_said(size: int, games: int) -> None:
    game, rng = stonezoo.load_game("rive", board_size=size), rng_of("settled", size)
    cells_left = []
    for _ in range(games):
        state, said = game.initial_state(), ONGOING
        while not state.terminated:
            now = settled(state)
            if said != ONGOING:
                assert now == said
                assert state.phase.name == "PLACE"
            elif now != ONGOING:
                said = now
                cells_left.append(int((state.board < 0).sum()))
            state.step(int(rng.choice(state.legal_actions.tolist())))
        assert said == int(state.row[OUTCOME])
    assert np.mean(cells_left) > size  # it is seen early
