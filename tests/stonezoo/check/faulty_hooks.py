"""Twofold with what it may say to the solver, one fault each: run as a script it prints what `solver` finds.

Run it with NUMBA_DISABLE_JIT=1, as faulty.py.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "twofold"))

from twofold.rules import CELLS, SECOND, TwofoldRules

from stonezoo.check import check_game, load_subject
from stonezoo.core.game import BLACK_WON, DRAWN, MARK, ONGOING, OUTCOME, PHASE, TO_PLAY, game_rules

CENTRE, CORNERS = 4, (0, 2, 6, 8)  # of 3 x 3


def write_contents(rules: Any, state: Any, cells: Any, rest: Any) -> None:
    """What stands on each square, as the player to act sees it."""
    for cell in range(rules.size * rules.size):
        stone = int(state[CELLS + cell])
        cells[cell] = 0 if stone == 0 else 1 if stone == 1 + state[TO_PLAY] else 2
    rest[0] = 0


def write_legal(rules: Any, state: Any, out: Any) -> int:
    """The legal actions, one after the other."""
    count = 0
    for action in range(rules.size * rules.size):
        if rules.is_legal(state, action):
            out[count] = action
            count += 1
    return count


class Saying(TwofoldRules):
    """All that is right: the colours are alike, since only who acts and the phase tell the players apart."""

    rest_size = 1
    colours_alike = True

    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)


class RestAlone(TwofoldRules):
    rest_size = 1


class ContentsAlone(TwofoldRules):
    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)


class Filling(Saying):
    """The stones on the board are a layer: none ever leaves."""

    def layer(self, state: Any) -> int:
        return sum(state[CELLS + cell] != 0 for cell in range(self.size * self.size))


class Emptying(Saying):
    def layer(self, state: Any) -> int:
        return sum(state[CELLS + cell] == 0 for cell in range(self.size * self.size))


class FirstCorner(Saying):
    def layer(self, state: Any) -> int:
        return int(state[CELLS] != 0)


class NoEntry(TwofoldRules):
    endless_counter = (2, 10)


class AbsoluteColours(Saying):
    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)
        for cell in range(self.size * self.size):
            cells[cell] = state[CELLS + cell]


class TooMuch(Saying):
    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)
        cells[0] += 3 * MARK


class Unwritten(Saying):
    rest_size = 2


class Overflowing(Saying):
    """Where the arrays are views into larger ones, what is beside them changes."""

    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)
        if rest.base is not None and len(rest.base) == 3:
            rest.base[2, 0] = 7


class ContentsWrites(Saying):
    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)
        state[CELLS] = 1


class PlacesInRest(Saying):
    """Right as a key, but a symmetric position has another."""

    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)
        rest[0] = state[CELLS]


class MarkStays(Saying):
    """A mark that does not move with the board."""

    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)
        cells[0] += MARK


class _Remembering(TwofoldRules):
    """A full board is Black's if the first stone of the game went to the centre. The row's last entry remembers."""

    @property
    def state_size(self) -> int:
        return CELLS + self.size * self.size + 1

    def board(self, state: Any) -> Any:
        return TwofoldRules.board(self, state[:-1])

    def step(self, state: Any, action: int) -> None:
        first = not state[CELLS:-1].any()
        if first:
            state[-1] = int(action == CENTRE)
        TwofoldRules.step(self, state, action)
        if state[OUTCOME] == DRAWN and state[-1]:
            state[OUTCOME] = BLACK_WON

    def transform(self, state: Any, cells: Any, swaps: int, out: Any) -> None:
        TwofoldRules.transform(self, state, cells, swaps, out)
        out[-1] = state[-1]


class Remembering(_Remembering):
    """It says so: right."""

    rest_size = 1

    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)
        rest[0] = state[-1]


class Forgetting(_Remembering):
    rest_size = 1

    def contents(self, state: Any, cells: Any, rest: Any) -> None:
        write_contents(self, state, cells, rest)


class BlacksBoard(Saying):
    """A stone on a corner ends the turn, and a full board is Black's: the colours are not alike."""

    colours_alike = False

    def step(self, state: Any, action: int) -> None:
        if action in CORNERS:
            state[PHASE] = SECOND
        TwofoldRules.step(self, state, action)
        if state[OUTCOME] == DRAWN:
            state[OUTCOME] = BLACK_WON


class BlacksBoardAlike(BlacksBoard):
    colours_alike = True


class Shy(Saying):
    """A stone on a corner closes the centre for one action, unless nothing else is empty. The key does not say so."""

    @property
    def state_size(self) -> int:
        return CELLS + self.size * self.size + 1

    def board(self, state: Any) -> Any:
        return TwofoldRules.board(self, state[:-1])

    def step(self, state: Any, action: int) -> None:
        TwofoldRules.step(self, state, action)
        state[-1] = int(action in CORNERS)

    def is_legal(self, state: Any, action: int) -> bool:
        closed = action == CENTRE and state[-1] == 1 and (state[CELLS:-1] == 0).sum() > 1
        return TwofoldRules.is_legal(self, state, action) and not closed

    def legal_actions(self, state: Any, out: Any) -> int:
        return write_legal(self, state, out)

    def transform(self, state: Any, cells: Any, swaps: int, out: Any) -> None:
        TwofoldRules.transform(self, state, cells, swaps, out)
        out[-1] = state[-1]


class Counting(TwofoldRules):
    """Four actions in a row on corners or edges draw the game; the row's last entry counts them."""

    @property
    def state_size(self) -> int:
        return CELLS + self.size * self.size + 1

    @property
    def endless_counter(self) -> tuple[int, int]:
        return CELLS + self.size * self.size, 4

    def board(self, state: Any) -> Any:
        return TwofoldRules.board(self, state[:-1])

    def rises(self, state: Any, action: int) -> int:
        return 0 if action == CENTRE else int(state[-1]) + 1

    def step(self, state: Any, action: int) -> None:
        count = self.rises(state, action)
        TwofoldRules.step(self, state, action)
        state[-1] = count
        if state[OUTCOME] == ONGOING and count >= 4:
            state[OUTCOME] = DRAWN

    def transform(self, state: Any, cells: Any, swaps: int, out: Any) -> None:
        TwofoldRules.transform(self, state, cells, swaps, out)
        out[-1] = state[-1]


class CountsInTwos(Counting):
    def rises(self, state: Any, action: int) -> int:
        return 0 if action == CENTRE else int(state[-1]) + 1 + action % 2


class LateDraw(Counting):
    """It says 3 and draws at 4."""

    @property
    def endless_counter(self) -> tuple[int, int]:
        return CELLS + self.size * self.size, 3


class CountIsLaw(Counting):
    """The centre is closed once the count is 2."""

    def is_legal(self, state: Any, action: int) -> bool:
        return TwofoldRules.is_legal(self, state, action) and (action != CENTRE or state[-1] < 2)

    def legal_actions(self, state: Any, out: Any) -> int:
        return write_legal(self, state, out)


class CountIsThePhase(Counting):
    """A high count ends the turn."""

    def step(self, state: Any, action: int) -> None:
        if state[-1] == 3:
            state[PHASE] = SECOND
        Counting.step(self, state, action)


class WrongEntry(TwofoldRules):
    """A square is no counter."""

    endless_counter = (CELLS, 5)


class Settling(Saying):
    """Drawn when both colours stand in all rows of three: right."""

    def settled_outcome(self, state: Any) -> int:
        board = state[CELLS : CELLS + 9].reshape(3, 3)
        rows = [*board, *board.T, board.diagonal(), board[::-1].diagonal()]
        return DRAWN if all(1 in row and 2 in row for row in rows) else ONGOING


class SettlesNothing(Saying):
    """What it returns is no outcome."""

    def settled_outcome(self, state: Any) -> int:
        return 7 if state[CELLS + CENTRE] else ONGOING


class SettlesTooEarly(Saying):
    """The centre does not win."""

    def settled_outcome(self, state: Any) -> int:
        return BLACK_WON if state[CELLS + CENTRE] == 1 else ONGOING


class SettlesByHand(Saying):
    def settled_outcome(self, state: Any) -> int:
        state[CELLS] = 1
        return ONGOING


class UsesTheFull(Saying):
    """All squares, the full ones too."""

    def useful_actions(self, state: Any, out: Any) -> int:
        out[:9] = range(9)
        return 9


class LeavesOutTheLast(Saying):
    """As if the last square were worth nothing."""

    def useful_actions(self, state: Any, out: Any) -> int:
        count = write_legal(self, state, out)
        return count - 1 if out[count - 1] == 8 else count


class Boasting(Saying):
    def promise(self, state: Any) -> int:
        return 100_000


def found(rules: Any) -> list[str]:
    """What the check `solver` says."""
    rules.name = rules.__name__.lower()
    game_rules(rules)
    subject = load_subject(f"{__name__}:{rules.__name__}", {"size": 3, "line": 3}, plies=80)
    (result,) = check_game(subject, only=["solver"]).results
    return [result.skipped] if result.skipped else [fault.message for fault in result.faults]


if __name__ == "__main__":
    print(json.dumps({name: found(globals()[name]) for name in sys.argv[1:]}))
