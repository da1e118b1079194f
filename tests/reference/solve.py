"""Values of small games with best play, over any of the referees. Values are Black's: 1 won, 0 drawn, -1 lost."""

from collections.abc import Callable, Hashable

from .perft import R, after_actions

WINNER_VALUE = {0: 1, 1: -1, -1: 0}


def minimax(position: R, memo: dict[Hashable, int]) -> int:
    """Return the value of a position of a game that cannot repeat positions; `memo` keeps every value found."""
    if position.over:
        return WINNER_VALUE[position.winner]
    key = position.key()
    if key not in memo:
        values = [minimax(after, memo) for after in after_actions(position)]
        memo[key] = max(values) if position.to_play == 0 else min(values)
    return memo[key]


def can_win(position: R, player: int, memo: dict[Hashable, bool]) -> bool:
    """Say whether the player can force a win, a draw not being one, in a game that cannot repeat positions.

    It stops at the first action that decides a position, so it reaches further than `minimax`.
    """
    if position.over:
        return position.winner == player
    key = position.key()
    if key not in memo:
        afters = after_actions(position)
        afters.sort(key=lambda after: not after.over)  # ends of the game first: they are decided already
        if position.to_play == player:
            memo[key] = any(can_win(after, player, memo) for after in afters)
        else:
            memo[key] = all(can_win(after, player, memo) for after in afters)
    return memo[key]


def retrograde(start: R, forget: Callable[[R], R]) -> dict[Hashable, int]:
    """Return the value of every position reachable from `start`, by key, in a game that may go on for ever.

    A position has a value other than 0 only if a player can force the end of the game; all others are drawn.
    `forget` drops from a position what makes repeated ones differ, such as a counter.
    """
    start = forget(start)
    player: dict[Hashable, int] = {}
    children: dict[Hashable, list[Hashable]] = {}
    values: dict[Hashable, int] = {}
    waiting = [start]
    seen = {start.key()}
    while waiting:
        position = waiting.pop()
        key = position.key()
        if position.over:
            values[key] = WINNER_VALUE[position.winner]
            continue
        player[key] = position.to_play
        afters = [forget(after) for after in after_actions(position)]
        children[key] = [after.key() for after in afters]
        for after in afters:
            if after.key() not in seen:
                seen.add(after.key())
                waiting.append(after)
    changed = True
    while changed:
        changed = False
        for key in [key for key in children if key not in values]:
            best = 1 if player[key] == 0 else -1
            known = [values.get(child) for child in children[key]]
            if best in known:
                values[key] = best
            elif all(value == -best for value in known):
                values[key] = -best
            changed |= key in values
    return {key: values.get(key, 0) for key in seen}
