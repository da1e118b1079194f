"""Twofold with one fault each: run as a script it prints, for each, the checks that fail.

Run it with NUMBA_DISABLE_JIT=1: what is wrong here is wrong in plain Python too, and nothing needs compiling.
"""

import dataclasses
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "twofold"))

from twofold.rules import CELLS, SECOND, TwofoldRules

from stonezoo.check import check_game, load_subject
from stonezoo.core.game import BLACK_WON, ONGOING, OUTCOME, PHASE, TO_PLAY, game_rules

calls = itertools.count()


class Sound(TwofoldRules):
    """No fault at all."""


class DescendingActions(TwofoldRules):
    checks = ("legality",)

    def legal_actions(self, state: Any, out: Any) -> int:
        count = TwofoldRules.legal_actions(self, state, out)
        out[:count] = out[:count][::-1].copy()
        return count


class OccupiedIsLegal(TwofoldRules):
    checks = ("legality",)

    def is_legal(self, state: Any, action: int) -> bool:
        return bool(state[OUTCOME] == ONGOING and 0 <= action < self.size * self.size)


class LegalityWrites(TwofoldRules):
    checks = ("legality",)

    def is_legal(self, state: Any, action: int) -> bool:
        found = TwofoldRules.is_legal(self, state, action)
        state[CELLS] = 1
        return found


class DirtyMask(TwofoldRules):
    checks = ("legality",)

    def legal_mask(self, state: Any, found: Any, mask: Any) -> None:
        for i in range(self.legal_actions(state, found)):
            mask[found[i]] = 1


class FirstSquareDrawnTwice(TwofoldRules):
    checks = ("legality",)

    def random_action(self, state: Any, stream: Any) -> int:
        action = TwofoldRules.random_action(self, state, stream)
        again = TwofoldRules.random_action(self, state, stream)
        return min(action, again)


class DirtyReset(TwofoldRules):
    checks = ("steps",)

    def reset(self, state: Any) -> None:
        last = state[-1]
        TwofoldRules.reset(self, state)
        state[-1] = last if last < 0 else 0


class RestlessStep(TwofoldRules):
    checks = ("steps",)

    def step(self, state: Any, action: int) -> None:
        TwofoldRules.step(self, state, action)
        if next(calls) % 7 == 0 and state[OUTCOME] == ONGOING:
            state[PHASE] = 1 - state[PHASE]


class IdleStep(TwofoldRules):
    checks = ("steps",)

    def step(self, state: Any, action: int) -> None:
        if action or state[CELLS + 1 :].all():
            TwofoldRules.step(self, state, action)


class NoEnd(TwofoldRules):
    checks = ("ends",)

    def step(self, state: Any, action: int) -> None:
        TwofoldRules.step(self, state, action)
        state[OUTCOME] = ONGOING


class ShortBound(TwofoldRules):
    checks = ("ends",)

    @property
    def max_steps(self) -> int:
        return 6


class OneStoneATurn(TwofoldRules):
    checks = ("referee",)

    def step(self, state: Any, action: int) -> None:
        TwofoldRules.step(self, state, action)
        if state[PHASE] == SECOND and state[OUTCOME] == ONGOING:
            state[PHASE], state[TO_PLAY] = 0, 1 - state[TO_PLAY]


class LongerLine(TwofoldRules):
    checks = ("referee",)

    def step(self, state: Any, action: int) -> None:
        TwofoldRules.step(TwofoldRules(self.size, self.line + 1), state, action)


class WinnerLoses(TwofoldRules):
    checks = ("referee",)

    def step(self, state: Any, action: int) -> None:
        TwofoldRules.step(self, state, action)
        if state[OUTCOME] in (BLACK_WON, BLACK_WON + 1):
            state[OUTCOME] = 2 * BLACK_WON + 1 - state[OUTCOME]


class UnwrittenPlane(TwofoldRules):
    checks = ("observations",)

    def observe(self, state: Any, player: int, out: Any) -> None:
        kept = out[0, 0, 0]
        TwofoldRules.observe(self, state, player, out)
        out[0, 0, 0] = kept


class BlurredSquares(TwofoldRules):
    checks = ("observations",)

    def observe(self, state: Any, player: int, out: Any) -> None:
        TwofoldRules.observe(self, state, player, out)
        out[0, :2, 1] = out[0, :2, 1].max()


class BrightPlane(TwofoldRules):
    checks = ("observations",)

    def observe(self, state: Any, player: int, out: Any) -> None:
        TwofoldRules.observe(self, state, player, out)
        out[:, :, 0] *= 2


class BoardIsAView(TwofoldRules):
    checks = ("observations",)

    def board(self, state: Any) -> Any:
        return state[CELLS:].view()


class ForgetfulImage(TwofoldRules):
    checks = ("symmetries",)

    def transform(self, state: Any, cells: Any, swaps: int, out: Any) -> None:
        TwofoldRules.transform(self, state, cells, swaps, out)
        out[TO_PLAY] = 0


class UnturnedActions(TwofoldRules):
    checks = ("symmetries",)

    def symmetries(self) -> Any:
        identity = np.arange(self.num_actions, dtype=np.int32)
        return tuple(dataclasses.replace(found, actions=identity.copy()) for found in TwofoldRules.symmetries(self))


class HalfAGroup(TwofoldRules):
    checks = ("symmetries",)

    def symmetries(self) -> Any:
        return TwofoldRules.symmetries(self)[:6]


class SilentPhase(TwofoldRules):
    checks = ("texts",)

    def text_fields(self, state: Any) -> Any:
        return []


class MutteredEnd(TwofoldRules):
    checks = ("texts",)

    def from_position(self, board: Any, to_play: int, fields: Any) -> Any:
        state = TwofoldRules.from_position(self, board, to_play, fields)
        state[OUTCOME] = ONGOING
        return state


class SameNames(TwofoldRules):
    checks = ("protocol", "texts")

    def action_name(self, phase: int, action: int) -> str:
        return "here"


class CarelessParameters(TwofoldRules):
    checks = ("protocol",)

    @classmethod
    def create(cls, **parameters: Any) -> Any:
        return cls(int(parameters.get("size") or 5), int(parameters.get("line") or 4))


class CrowdedPolicy(TwofoldRules):
    checks = ("protocol",)

    @property
    def policy_index(self) -> Any:
        return np.zeros(self.num_actions, np.int64)


class Wordy(TwofoldRules):
    """Its texts depend on how this process hashes."""

    checks = ("processes",)

    def text_fields(self, state: Any) -> Any:
        return [("phase", "second")] if state[PHASE] == SECOND else [("phase", "first")] * (hash("first") % 2)


FAULTY = tuple(TwofoldRules.__subclasses__())


def failing(rules: Any) -> list[str]:
    """The checks that fail, of those that look at this process alone, and of `checks`."""
    rules.name = rules.__name__.lower()
    game_rules(rules)
    globals()[rules.__name__] = rules
    named = f"{__name__}:{rules.__name__}"
    subject = load_subject(named, {"size": 3, "line": 3}, plies=120, referee="twofold.referee:Twofold")
    only = ["protocol", "ends", "legality", "steps", "undo", "texts", "observations", "symmetries", "referee"]
    only += [name for name in getattr(rules, "checks", ()) if name not in only]
    return [result.name for result in check_game(subject, only=only).results if result.faults]


if __name__ == "__main__":
    print(json.dumps({rules.__name__: failing(rules) for rules in FAULTY if rules.__name__ in sys.argv[1:]}))
