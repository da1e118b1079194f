"""From texts to players."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.players import (
    FunctionPlayer,
    HumanPlayer,
    PlayerError,
    PlayerKind,
    RandomPlayer,
    UctPlayer,
    choose,
    make_player,
    registry,
)
from stonezoo.players import register_player as register

GAME = stonezoo.load_game("resolve", board_size=3)


@pytest.fixture
def fresh_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_KINDS", list(registry._KINDS))


def test_each_text_makes_its_player() -> None:
    for text, kind in [("random", RandomPlayer), ("uct:100", UctPlayer), ("human", HumanPlayer)]:
        player = make_player(text, GAME)
        assert isinstance(player, kind)
        assert player.name == text


@pytest.mark.parametrize("text", ["", "randm", "UCT:100", "random:3", "human:1", "uct-"])
def test_an_unknown_text_is_refused_with_all_that_is_accepted(text: str) -> None:
    with pytest.raises(PlayerError) as caught:
        make_player(text, GAME)
    message = str(caught.value)
    assert repr(text) in message
    for accepted in ("random", "greedy", "uct:N", "uct+:N", "alphabeta:D", "human", "py:module:function"):
        assert accepted in message


@pytest.mark.parametrize("text", ["uct", "uct:", "uct:-5", "uct:1e3", "uct:0", "uct:²", "uct:99999999999"])
def test_a_number_of_simulations_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PlayerError, match=r"simulations"):
        make_player(text, GAME)


def test_a_function_or_a_player_stands_for_itself() -> None:
    def last(observation: Any, mask: Any) -> int:
        return int(np.flatnonzero(mask)[-1])

    player = make_player(last, GAME)
    assert player.name == "last"
    assert choose(player, GAME.initial_state(), 0) == 8
    assert make_player(player, GAME) is player
    with pytest.raises(PlayerError, match="42 is no player"):
        make_player(42, GAME)


def test_a_function_is_found_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def first(observation, mask):\n    return mask.argmax()\n\nnumber = 3\n"
    (tmp_path / "agents_of_a_user.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    player = make_player("py:agents_of_a_user:first", GAME)
    assert isinstance(player, FunctionPlayer)
    assert player.name == "py:agents_of_a_user:first"
    assert choose(player, GAME.initial_state(), 0) == 0
    with pytest.raises(PlayerError, match="no function 'frist', only first"):
        make_player("py:agents_of_a_user:frist", GAME)
    with pytest.raises(PlayerError, match="no function 'number'"):
        make_player("py:agents_of_a_user:number", GAME)
    with pytest.raises(PlayerError, match="cannot be imported"):
        make_player("py:no_such_module_anywhere:first", GAME)
    for text in ("py", "py:", "py:module", "py::function"):
        with pytest.raises(PlayerError, match="py:module:function"):
            make_player(text, GAME)


@pytest.mark.usefixtures("fresh_kinds")
def test_a_registered_kind_is_tried_after_those_there_are_and_is_listed() -> None:
    kind = PlayerKind(lambda text, game: RandomPlayer(game) if text in ("dice", "human") else None, lambda: "dice")
    register(kind)
    register(kind)
    assert isinstance(make_player("dice", GAME), RandomPlayer)
    assert isinstance(make_player("human", GAME), HumanPlayer)
    with pytest.raises(PlayerError, match="dice") as caught:
        make_player("cards", GAME)
    assert str(caught.value).count("dice") == 1


def test_a_package_adds_kinds_by_its_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = PlayerKind(lambda text, game: RandomPlayer(game) if text == "dice" else None, lambda: "dice")

    def fail() -> PlayerKind:
        raise ImportError("No module named 'torch'")

    entries = [SimpleNamespace(name="cards", load=fail), SimpleNamespace(name="dice", load=lambda: kind)]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == "stonezoo.players" else [])
    assert isinstance(make_player("dice", GAME), RandomPlayer)
    with pytest.raises(PlayerError, match=r"dice; cards \(cannot be used here: No module named 'torch'\)"):
        make_player("coins", GAME)


@pytest.mark.usefixtures("fresh_kinds")
def test_a_package_that_registers_its_kind_when_its_entry_point_is_loaded_is_known_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = PlayerKind(lambda text, game: RandomPlayer(game) if text == "dice" else None, lambda: "dice")

    def load() -> PlayerKind:
        register(kind)
        return kind

    entries = [SimpleNamespace(name="dice", load=load)]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    assert isinstance(make_player("dice", GAME), RandomPlayer)
    with pytest.raises(PlayerError, match="dice") as caught:
        make_player("coins", GAME)
    assert str(caught.value).count("dice") == 1


@pytest.mark.parametrize("kind", [None, "random", RandomPlayer])
def test_what_is_no_kind_is_not_registered(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"is no PlayerKind"):
        register(kind)
    assert make_player("random", GAME).name == "random"
