"""Contestants: players as the arena asks them. What fails costs the game in which it failed, and no other."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from stonezero.player_process import describe_error, read_actions
from stonezoo.players import Player, UnsolvedError

FaultKind: TypeAlias = Literal["illegal", "crash", "time"]
FAULT_KINDS: tuple[FaultKind, ...] = ("illegal", "crash", "time")
LONGEST_REASON = 200  # letters


class Fault(NamedTuple):
    """Why a player lost a game that the rules had not decided."""

    kind: FaultKind  # an illegal action; an exception or the end of its process; no answer in time
    reason: str  # one printable line without braces, as comments of records want it
    action: int | None = None  # the illegal one


class Answer(NamedTuple):
    """What a contestant answers to a batch."""

    actions: NDArray[np.int64]  # [B], not checked; of no meaning where there is a fault
    faults: dict[int, Fault]  # by lane


class Contestant(Protocol):
    """Plays as `stonezoo.players.Player` does, but says of each lane why it has no action."""

    name: str

    def answer(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> Answer:
        """Answers states int32 [B, S], none of them over; advances random streams int64 [B, 2] in place."""
        ...

    def close(self) -> None:
        """Ends what the contestant holds; it answers no more."""
        ...


def plain_line(text: str) -> str:
    """A text as one printable line without braces, cut to LONGEST_REASON letters."""
    line = " ".join(text.split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    line = line.replace("{", "(").replace("}", ")")
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"


def crash(error: BaseException) -> Fault:
    """The fault of a player that raised an error."""
    return Fault("crash", plain_line(describe_error(error)))


class InProcess:
    """A player of this process: fast, with a batch at once, but what hangs hangs everything."""

    def __init__(self, player: Player, forgiving: bool) -> None:
        """Where `forgiving`, an error costs the game; otherwise it is raised, as a fault of the program."""
        self.name = player.name
        self._player = player
        self._forgiving = forgiving

    def answer(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> Answer:
        """See `Contestant`. A batch that fails is asked again lane by lane."""
        if not self._forgiving:
            return Answer(read_actions(self._player, states.copy(), streams), {})
        before = streams.copy()
        try:
            return Answer(read_actions(self._player, states.copy(), streams), {})
        except UnsolvedError:
            raise  # a perfect player that gives up: a game that it lost would tell nothing
        except Exception as error:
            if len(states) == 1:
                return Answer(np.zeros(1, np.int64), {0: crash(error)})
        streams[:] = before
        actions, faults = np.zeros(len(states), np.int64), {}
        for lane in range(len(states)):
            alone = self.answer(states[lane : lane + 1], streams[lane : lane + 1])
            actions[lane] = alone.actions[0]
            if alone.faults:
                faults[lane] = alone.faults[0]
        return Answer(actions, faults)

    def close(self) -> None:
        """Nothing to end: the player is the caller's."""


def as_contestant(player: Player | Contestant) -> Contestant:
    """A contestant as it is, a player as one whose errors are raised."""
    if hasattr(player, "answer"):
        return cast(Contestant, player)
    return InProcess(player, forgiving=False)
