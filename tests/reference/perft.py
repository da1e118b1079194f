"""Counts of action sequences and of turn sequences, over any of the referees."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Protocol, Self, TypeVar


class Referee(Protocol):
    """What a referee's position offers here."""

    over: bool
    winner: int
    to_play: int

    def legal(self) -> list[int]: ...

    def play(self, action: int) -> Self: ...

    def key(self) -> Hashable: ...


R = TypeVar("R", bound=Referee)


def after_actions(position: R) -> list[R]:
    """Return the positions after each legal action."""
    return [position.play(action) for action in position.legal()]


def after_turns(position: R) -> list[R]:
    """Return the positions after each whole turn, one for each chain of actions that makes a turn."""
    ends = []
    waiting = after_actions(position)
    while waiting:
        after = waiting.pop()
        if after.over or after.to_play != position.to_play:
            ends.append(after)
        else:
            waiting.extend(after_actions(after))
    return ends


def perft_actions(position: R, depth: int) -> int:
    """Return the number of sequences of `depth` actions; a finished game has no further actions."""
    return _count(position, depth, after_actions)


def perft_turns(position: R, depth: int) -> int:
    """Return the number of sequences of actions that make `depth` whole turns."""
    return _count(position, depth, after_turns)


def _count(position: R, depth: int, successors: Callable[[R], Iterable[R]]) -> int:
    if depth == 0:
        return 1
    return sum(_count(after, depth - 1, successors) for after in successors(position))


def perft_actions_merged(position: R, depth: int) -> list[int]:
    """Return `perft_actions` for 1 to `depth`; equal positions are visited once, so it trusts `key`."""
    layers = islice(_layers(position, after_actions), depth)
    return [sum(ways * len(reached.legal()) for reached, ways in layer) for layer in layers]


def perft_turns_merged(position: R, depth: int) -> list[int]:
    """Return `perft_turns` for 1 to `depth`; equal positions are visited once, so it trusts `key`."""
    layers = islice(_layers(position, after_turns), 1, depth + 1)
    return [sum(ways for _, ways in layer) for layer in layers]


def _layers(position: R, successors: Callable[[R], Iterable[R]]) -> Iterator[list[tuple[R, int]]]:
    """Yield the positions 0, 1, 2, ... steps away, each with the number of sequences that lead to it."""
    layer = [(position, 1)]
    while True:
        yield layer
        following: dict[Hashable, R] = {}
        counts: dict[Hashable, int] = {}
        for reached, ways in layer:
            for after in successors(reached):
                key = after.key()
                following[key] = after
                counts[key] = counts.get(key, 0) + ways
        layer = [(following[key], counts[key]) for key in following]
