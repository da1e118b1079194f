import numpy as np

from stonezoo.render.drawable import hints, last_cells, status
from tests.stonezoo.render.fakes import Phase, hexagon_state, points_state, squares_state, stones


def test_the_status_names_player_phase_and_the_counters_that_are_not_zero() -> None:
    state = points_state()
    assert status(state) == "Black to swap"
    state.counters = {"full": 3, "quiet": 0, "hand_white": 12}
    assert status(state) == "Black to swap · full 3 · hand white 12"


def test_a_counter_of_the_phase_itself_stands_beside_it() -> None:
    assert status(hexagon_state()) == "White to remove 2"


def test_a_finished_game_has_a_winner_or_is_a_draw() -> None:
    state = points_state()
    state.terminated = True
    assert status(state) == "Draw"
    state.winner = 1
    assert status(state) == "White won"


def test_the_cells_of_the_last_action_end_with_its_destination() -> None:
    assert last_cells(squares_state()) == (20, 14)
    state = squares_state()
    state.history = ()
    assert last_cells(state) == ()


def test_stones_that_may_be_acted_on_are_hinted() -> None:
    assert hints(points_state()) == {7: 7, 11: 11}


def test_empty_cells_are_hinted_only_where_some_of_them_are_not_legal() -> None:
    state = points_state()
    state.phase = Phase.PLACE
    empty = np.flatnonzero(state.board < 0).astype(np.int32)
    state.legal_actions = empty
    assert hints(state) == {}
    state.legal_actions = empty[1:]
    assert list(hints(state)) == empty[1:].tolist()
    # Every empty cell may be filled, and one stone may be chosen as well.
    state.legal_actions = np.sort(np.append(empty, 12))
    assert hints(state) == {12: 12}


def test_slides_are_not_hinted() -> None:
    state = squares_state()
    state.phase = Phase.SLIDE
    state.legal_actions = np.array([state.game.slide(6, 0), state.game.slide(6, 12)], np.int32)
    assert hints(state) == {}


def test_hand_made_boards_read_as_in_the_rules() -> None:
    assert stones("XO. / ...").tolist() == [0, 1, -1, -1, -1, -1]
