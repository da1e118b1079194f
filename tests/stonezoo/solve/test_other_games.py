"""A game that declares nothing for the solver: Twofold, of the tutorial, with draws and turns of two actions."""

import sys
from pathlib import Path

import numpy as np
import pytest

import stonezoo
from stonezoo import games
from stonezoo.solve import Search, Table
from stonezoo.state import Game, State

sys.path.append(str(Path(__file__).parents[3] / "examples" / "twofold"))


@pytest.fixture
def twofold(monkeypatch: pytest.MonkeyPatch) -> Game:
    from twofold.rules import TwofoldRules

    monkeypatch.setitem(games._GAMES, "twofold", TwofoldRules)
    return stonezoo.load_game("twofold", size=3, line=3)


def minimax(state: State, memo: dict[bytes, int]) -> int:
    """The value for the player to act."""
    key = state.row.tobytes()
    if key not in memo:
        if state.terminated:
            memo[key] = 0 if state.winner < 0 else 1 if state.winner == state.to_play else -1
        else:
            values = []
            for action in state.legal_actions.tolist():
                after = state.copy()
                after.step(action)
                value = minimax(after, memo)
                values.append(value if after.to_play == state.to_play else -value)
            memo[key] = max(values)
    return memo[key]


def test_it_is_solved_all_the_same(twofold: Game) -> None:
    memo: dict[bytes, int] = {}
    minimax(twofold.initial_state(), memo)
    rows = np.array([np.frombuffer(key, np.int32) for key in memo])
    assert set(memo.values()) == {-1, 0, 1}
    assert Table.build(twofold).values(rows).tolist() == list(memo.values())
    search = Search(twofold, 1 << 20)
    assert [search.value(row) for row in rows[::7]] == list(memo.values())[::7]
