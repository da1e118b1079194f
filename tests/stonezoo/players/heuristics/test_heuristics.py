"""What holds for the heuristics of all games."""

from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import transform_batch
from stonezoo.players import GreedyPlayer, PlayerError, make_player
from stonezoo.players.heuristics import (
    HIGHEST,
    Neutral,
    find_heuristic,
    heuristic_names,
    register_heuristic,
)
from tests.stonezoo.players.positions import every_game, positions
from tests.stonezoo.toy import ToyRules


def value(game: stonezoo.Game, row: Any, player: int) -> int:
    heuristic: Any = find_heuristic(game.name)
    work = np.random.default_rng(0).integers(-9, 9, heuristic.work_size(game.rules)).astype(np.int32)
    return int(heuristic.value(game.rules, row, player, work))


@every_game
def test_values_are_bounded_and_what_is_good_for_one_player_is_as_bad_for_the_other(game: stonezoo.Game) -> None:
    values = []
    for row in positions(game):
        before = row.copy()
        values.append(value(game, row, 0))
        assert abs(values[-1]) <= HIGHEST
        assert value(game, row, 1) == -values[-1]
        assert (row == before).all()
    assert len(set(values)) > 5


@every_game
def test_the_image_of_a_state_under_a_symmetry_has_its_value(game: stonezoo.Game) -> None:
    rows = positions(game, count=25)
    cells = np.stack([symmetry.cells for symmetry in game.symmetries])
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
    for number in range(len(cells)):
        images = np.zeros_like(rows)
        transform_batch(game.rules, rows, cells, swaps, np.full(len(rows), number, np.int32), images)
        for row, image in zip(rows, images, strict=True):
            assert value(game, image, int(swaps[number])) == value(game, row, 0)


@every_game
def test_quick_actions_are_legal(game: stonezoo.Game) -> None:
    heuristic: Any = find_heuristic(game.name)
    work = np.zeros(heuristic.work_size(game.rules), np.int32)
    for row, stream in zip(positions(game), new_streams(0, 60), strict=False):
        legal = game.from_row(row).legal_actions.tolist()
        for _ in range(5):
            assert int(heuristic.quick_action(game.rules, row, stream, work)) in legal


def test_the_registry_knows_the_games_that_have_a_heuristic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stonezoo.players.heuristics._HEURISTICS", {})
    game = stonezoo.load_game("rive", board_size=2)
    assert find_heuristic("rive") is None
    with pytest.raises(PlayerError, match="rive has no heuristic"):
        make_player("greedy", game)
    assert make_player("alphabeta:2", game).name == "alphabeta:2"
    register_heuristic("rive", Neutral())
    assert heuristic_names() == ["rive"]
    assert isinstance(make_player("greedy", game), GreedyPlayer)


def test_a_game_without_heuristic_is_played_by_the_neutral_one() -> None:
    rules = ToyRules(3, 4, 2, 1)
    row = np.zeros(rules.state_size, np.int32)
    assert Neutral().value(rules, row, 0, np.zeros(1, np.int32)) == 0
    actions = {int(Neutral().quick_action(rules, row, stream, np.zeros(1, np.int32))) for stream in new_streams(0, 50)}
    assert actions == {0, 1, 2}
