"""Openings: different, not symmetric, not lopsided, or read from a file."""

from pathlib import Path

import numpy as np
import pytest

import stonezoo
from stonezero.arena import Balance, OpeningsError, find_openings, read_openings
from stonezero.arena.balance import black_values
from stonezero.arena.openings import canonical_keys, draw_openings
from stonezoo.core.rng import new_streams
from stonezoo.record import Record, format_record

RESOLVE = stonezoo.load_game("resolve", board_size=4)
RIVE = stonezoo.load_game("rive", board_size=3)
DARA = stonezoo.load_game("dara", rows=3, columns=4, stones=3, quiet_limit=6)
GAMES = [RIVE, RESOLVE, DARA]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


@every_game
def test_openings_are_different_positions_reached_by_their_actions(game: stonezoo.Game) -> None:
    openings = draw_openings(game, 60, 4, np.random.SeedSequence(1))
    assert len({row.tobytes() for row in openings.states}) == 60
    for row, actions in zip(openings.states, openings.actions, strict=True):
        state = game.initial_state()
        for action in actions:
            state.step(action)
        assert state == game.from_row(row)
        assert not state.terminated


def test_openings_are_fixed_by_their_seed() -> None:
    assert find_openings(RIVE, 20, 2, 5).actions == find_openings(RIVE, 20, 2, 5).actions
    assert find_openings(RIVE, 20, 2, 5).actions != find_openings(RIVE, 20, 2, 6).actions


@pytest.mark.parametrize(("game", "inequivalent"), [(RIVE, 4), (RESOLVE, 4)], ids=lambda value: str(value))
def test_symmetric_openings_count_once(game: stonezoo.Game, inequivalent: int) -> None:
    # Rive 3 has 19 cells in 4 orbits of its 12 symmetries. Of Resolve's 8, four keep the sides (the others exchange the
    # players, and a lone stone shows whose turn it is): the 16 points of board 4 fall into 4 orbits of 4.
    openings = draw_openings(game, inequivalent, 1, np.random.SeedSequence(1))
    assert len(openings.states) == inequivalent
    with pytest.raises(OpeningsError, match=f"only {inequivalent} different openings of 1 random actions"):
        draw_openings(game, inequivalent + 1, 1, np.random.SeedSequence(1))


@every_game
def test_images_of_a_position_share_their_key_and_no_others(game: stonezoo.Game) -> None:
    state = game.initial_state()
    rng = np.random.default_rng(2)
    actions = []
    for _ in range(4):
        actions.append(int(rng.choice(state.legal_actions)))
        state.step(actions[-1])
    images = []
    for symmetry in game.symmetries:
        if not symmetry.swaps_players:
            image = game.initial_state()
            for action in actions:
                image.step(int(symmetry.actions[action]))
            images.append(image.row)
    keys = canonical_keys(game, np.array(images))
    assert len(set(keys)) == 1
    other = state.copy()
    other.step(int(other.legal_actions[0]))
    assert canonical_keys(game, other.row[None])[0] != keys[0]


def test_openings_are_longer_where_there_are_too_few() -> None:
    openings = find_openings(RIVE, 20, 1, 0)
    assert openings.plan.actions == 2
    assert {len(actions) for actions in openings.actions} == {2}
    assert find_openings(RIVE, 4, 1, 0).plan.actions == 1


def test_too_few_openings_are_an_error_that_says_how_many_there_are() -> None:
    tiny = stonezoo.load_game("rive", board_size=2)
    with pytest.raises(
        OpeningsError, match=r"only 2 different openings of 1 random actions .* 2000 games .* need 1000"
    ):
        find_openings(tiny, 1000, 1, 0)
    assert find_openings(tiny, 1, 0, 0).actions == ((),)


def test_openings_that_are_longer_than_any_game_are_refused_at_once() -> None:
    with pytest.raises(OpeningsError, match=r"only 0 .* ask for fewer opening actions, for all games are over by then"):
        find_openings(stonezoo.load_game("rive", board_size=2), 2, 100_000, seed=0)


def test_lopsided_openings_are_dropped_and_counted() -> None:
    even = Balance(100, 0.3, 0.7)
    openings = find_openings(DARA, 20, 6, 3, even)
    values = black_values(DARA, openings.states, 2000, new_streams(9, 20))
    unsorted = find_openings(DARA, 20, 6, 3)
    all_values = black_values(DARA, unsorted.states, 2000, new_streams(9, 20))
    assert openings.plan.dropped > 0
    assert np.abs(values - 0.5).mean() < np.abs(all_values - 0.5).mean()
    assert "dropped that uct:100 values for Black outside 0.3 to 0.7" in str(openings.plan)


def test_where_nearly_all_openings_are_lopsided_it_is_an_error_only_if_even_ones_were_asked_for() -> None:
    with pytest.raises(
        OpeningsError, match=r"only 0 openings .* not lopsided .* uct:100 values for Black outside 0 to 0\.01"
    ):
        find_openings(RESOLVE, 5, 3, 1, Balance(100, 0.0, 0.01))
    openings = find_openings(RESOLVE, 5, 3, 1, Balance(100, 0.0, 0.01, required=False))
    assert openings.actions == find_openings(RESOLVE, 5, 3, 1).actions
    assert openings.plan.balance is None
    assert str(openings.plan).endswith("lopsided ones too")
    tiny = stonezoo.load_game("rive", board_size=2)  # few openings and all of them lopsided
    assert len(find_openings(tiny, 2, 2, 0, Balance(required=False)).states) == 2


def test_a_won_position_is_worth_1_to_its_winner_whoever_is_to_act() -> None:
    # Resolve 4, Black joins top and bottom: one more stone does it, or White has all but joined left and right.
    black = RESOLVE.parse_state("X.O./X.O./XO../.O.. b")
    white = RESOLVE.parse_state("X.X./OOO./..X./X... w")
    values = black_values(RESOLVE, np.array([black.row, white.row]), 2000, new_streams(1, 2))
    assert values[0] > 0.9
    assert values[1] < 0.1


def test_a_band_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.7 to 0\.3"):
        Balance(100, 0.7, 0.3)


def test_openings_are_read_from_records_and_from_positions(tmp_path: Path) -> None:
    found = find_openings(DARA, 5, 3, 7)
    states = [DARA.from_row(row) for row in found.states]
    records = tmp_path / "openings.txt"
    records.write_text("\n".join(format_record(Record(DARA, actions)) for actions in found.actions))
    positions = tmp_path / "positions.txt"
    positions.write_text("# five openings\n\n" + "\n".join(state.to_text() for state in states) + "\n")
    of_records, of_positions = read_openings(records, DARA), read_openings(positions, DARA, 5)
    assert of_records.actions == found.actions
    assert [DARA.from_row(row) for row in of_records.states] == states
    assert [DARA.from_row(row) for row in of_positions.states] == states
    assert of_positions.actions == ((),) * 5
    assert of_positions.starts == tuple(state.to_text() for state in states)
    assert len(read_openings(records, DARA, 2).states) == 2
    assert str(of_records.plan) == f"from {records}"


def test_files_of_openings_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "positions.txt"
    state = DARA.initial_state()
    state.step(0)
    twin = DARA.initial_state()
    twin.step(3)  # the other end of the row
    file.write_text(f"{state.to_text()}\n{twin.to_text()}\n")
    with pytest.raises(OpeningsError, match="openings 1 and 2 are the same position or symmetric"):
        read_openings(file, DARA)
    file.write_text(state.to_text())
    with pytest.raises(OpeningsError, match="has 1 openings, but 8 games in pairs need 4"):
        read_openings(file, DARA, 4)
    file.write_text(format_record(Record(RIVE, (0,))))
    with pytest.raises(OpeningsError, match=r"opening 1 is of .*rive"):
        read_openings(file, DARA)
    with pytest.raises(OpeningsError, match=r"cannot be read as a file of openings: .*directory"):
        read_openings(tmp_path, DARA)
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(OpeningsError, match=r"positions\.txt cannot be read as a file of openings"):
        read_openings(file, DARA)
    file.write_text("")
    with pytest.raises(OpeningsError, match="has 0 openings"):
        read_openings(file, DARA)
    file.write_text(f"{state.to_text()}\n\nnonsense\n")
    with pytest.raises(OpeningsError, match=r"positions\.txt: line 3: position text, column 9: a position is"):
        read_openings(file, DARA)
    file.write_text(format_record(Record(DARA, (0,))).replace("1. ", "2. "))
    with pytest.raises(OpeningsError, match=r"positions\.txt: game record, line \d+, column \d+: "):
        read_openings(file, DARA)
