"""Anybody's function as a player."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.players import FunctionPlayer, PlayerError, choose, make_player

GAME = stonezoo.load_game("rive", board_size=2)
STATE = GAME.parse_state("X./.../.. b")  # V3: three legal cells


def answering(answer: Any) -> FunctionPlayer:
    return FunctionPlayer(GAME, lambda observation, mask: answer, "py:me:answer")


def test_a_function_sees_what_the_player_to_act_sees_and_the_legal_actions() -> None:
    seen = []
    player = FunctionPlayer(
        GAME, lambda *arguments: seen.append(arguments) or int(STATE.legal_actions[0]), "py:me:look"
    )
    choose(player, STATE, 0)
    ((observation, mask),) = seen
    assert observation.dtype == np.float32
    assert (observation == STATE.observation()).all()
    assert mask.dtype == np.int8
    assert (mask == STATE.legal_action_mask).all()


@pytest.mark.parametrize("answer", [5, np.int64(5), np.array(5), np.array([5]), [5]])
def test_an_action_number_of_any_type_is_played(answer: Any) -> None:
    assert choose(answering(answer), STATE, 0) == 5


@pytest.mark.parametrize(("answer", "passed_on"), [(0, 0), (-1, -1), (7, -1), (2**40, -1)])
def test_an_illegal_action_is_handed_on_for_others_to_judge(answer: int, passed_on: int) -> None:
    assert choose(answering(answer), STATE, 0) == passed_on


def test_probabilities_are_drawn_from_and_those_of_illegal_actions_are_dropped() -> None:
    legal = STATE.legal_actions
    weights = np.full(GAME.num_actions, 10.0, np.float32)
    weights[legal] = [0.0, 0.5, 1.5]
    draws = answering(weights).act(np.repeat(STATE.row[None], 4_000, 0), new_streams(1, 4_000))
    counts = np.bincount(draws, minlength=GAME.num_actions)
    assert counts[legal[0]] == 0
    assert counts[legal[1]] + counts[legal[2]] == 4_000
    assert abs(counts[legal[2]] - 3_000) < 4 * np.sqrt(4_000 * 0.25 * 0.75)  # 4 sigma


@pytest.mark.parametrize(
    "answer",
    [
        None,
        5.0,
        "5",
        [0.5, 0.5],
        np.full(7, np.nan),
        np.full(7, -1.0),
        np.zeros(7),
        np.ones((1, 7)),
        np.ones(7, bool),
        [1, [2]],
    ],
    ids=str,
)
def test_any_other_answer_is_refused_with_what_was_expected(answer: Any) -> None:
    with pytest.raises(PlayerError, match=r"py:me:answer answered .*probabilities"):
        choose(answering(answer), STATE, 0)


def test_a_mask_that_the_function_writes_into_changes_nothing() -> None:
    def vandal(observation: Any, mask: Any) -> Any:
        mask[:] = 0
        return np.ones(len(mask))

    player = FunctionPlayer(GAME, vandal, "py:me:vandal")
    assert choose(player, STATE, 0) in STATE.legal_actions


@pytest.mark.parametrize("text", ["def act(o, m)\n", "raise RuntimeError('not today')\n"], ids=["syntax", "raises"])
def test_a_module_that_cannot_be_imported_is_no_player(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_agent_of_a_test.py").write_text(text)
    with pytest.raises(PlayerError, match=r"'broken_agent_of_a_test' cannot be imported: (SyntaxError|RuntimeError): "):
        make_player("py:broken_agent_of_a_test:act", GAME)
