"""Whole steps of many games in one call: what `stonezoo.VectorGame` and the one-seat environments are made of.

Serial over lanes; a lane touches nothing of another's, its random stream included.
"""

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, StateRow, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.core.rng import randint

REST, ACT, ANSWER, BEGIN = 0, 1, 2, 3  # what a lane has to do in a call of `seat_lanes`
RANDOM_SEAT, ALTERNATE_SEAT = 2, 3  # how a new game finds the learner's seat; 0 and 1 are fixed seats
BY_LEARNER, BY_OPPONENT, IN_OPENING = 0, 1, 2  # whose action was illegal; the last is the opponent's too


@jit
def _play_or_lose(rules: Rules, state: StateRow, action: int) -> bool:
    """Plays a legal action; any other loses the game for who is to act. Returns whether the action was illegal."""
    if rules.is_legal(state, action):
        rules.step(state, action)
        return False
    state[OUTCOME] = BLACK_WON + 1 - state[TO_PLAY]
    return True


@jit
def _reward(state: StateRow, player: int) -> float:
    """What a finished game is worth to `player`: 1, -1, or 0 for a draw."""
    if state[OUTCOME] == DRAWN:
        return 0.0
    return 1.0 if state[OUTCOME] == BLACK_WON + player else -1.0


@jit
def _show_lanes(
    rules: Rules,
    states: NDArray[np.int32],
    players: NDArray[np.int64],
    found: NDArray[np.int32],
    masks: NDArray[np.int8],
    observations: NDArray[np.float32],
) -> None:
    """Writes what players[b] sees, and the legal actions: all ones when the game is over."""
    for lane in range(states.shape[0]):
        rules.observe(states[lane], int(players[lane]), observations[lane])
    for lane in range(states.shape[0]):
        if states[lane, OUTCOME] == ONGOING:
            rules.legal_mask(states[lane], found, masks[lane])
        else:
            masks[lane] = 1


@jit
def _step_lanes(
    rules: Rules,
    first: StateRow,
    states: NDArray[np.int32],
    actions: NDArray[np.int64],
    autoreset: int,
    found: NDArray[np.int32],
    rewards: NDArray[np.float32],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    to_play: NDArray[np.int64],
    masks: NDArray[np.int8],
    observations: NDArray[np.float32],
) -> None:
    for lane in range(states.shape[0]):
        state = states[lane]
        rewards[lane, 0] = 0.0
        rewards[lane, 1] = 0.0
        illegal[lane] = False
        if state[OUTCOME] == ONGOING:
            illegal[lane] = _play_or_lose(rules, state, int(actions[lane]))
            if state[OUTCOME] != ONGOING:
                rewards[lane, 0] = _reward(state, 0)
                rewards[lane, 1] = _reward(state, 1)
        terminated[lane] = state[OUTCOME] != ONGOING
        if autoreset and state[OUTCOME] != ONGOING:
            copy_row(first, state)
        to_play[lane] = state[TO_PLAY]
    _show_lanes(rules, states, to_play, found, masks, observations)


@jit
def _begin(
    first: StateRow, state: StateRow, stream: NDArray[np.int64], seats: NDArray[np.int64], lane: int, seating: int
) -> None:
    """Starts a new game, and seats the learner."""
    copy_row(first, state)
    if seating == RANDOM_SEAT:
        seats[lane] = randint(stream, 2)
    elif seating == ALTERNATE_SEAT:
        seats[lane] = 1 - seats[lane]
    else:
        seats[lane] = seating


@jit
def _seat_lanes(
    rules: Rules,
    first: StateRow,
    states: NDArray[np.int32],
    streams: NDArray[np.int64],
    seats: NDArray[np.int64],
    opening: NDArray[np.bool_],
    todo: NDArray[np.int8],
    actions: NDArray[np.int64],
    seating: int,
    same_step: int,
    inside: int,
    found: NDArray[np.int32],
    waiting: NDArray[np.int64],
    rewards: NDArray[np.float32],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    final: NDArray[np.float32],
    masks: NDArray[np.int8],
    observations: NDArray[np.float32],
) -> int:
    count = 0
    for lane in range(states.shape[0]):
        task = int(todo[lane])
        if task == REST:
            continue
        state = states[lane]
        if task == BEGIN:
            _begin(first, state, streams[lane], seats, lane, seating)
            opening[lane] = True
        else:
            if task == ACT:
                opening[lane] = False
            if state[OUTCOME] == ONGOING and _play_or_lose(rules, state, int(actions[lane])):
                who = BY_LEARNER if task == ACT else IN_OPENING if opening[lane] else BY_OPPONENT
                illegal[who, lane] = True
        while True:
            if state[OUTCOME] != ONGOING and not opening[lane]:
                terminated[lane] = True
                rewards[lane] = _reward(state, int(seats[lane]))
                if same_step:
                    rules.observe(state, int(seats[lane]), final[lane])
                    _begin(first, state, streams[lane], seats, lane, seating)
                    opening[lane] = True
            if state[OUTCOME] != ONGOING or state[TO_PLAY] == seats[lane]:
                break
            if not inside:
                waiting[count] = lane
                count += 1
                break
            rules.step(state, rules.random_action(state, streams[lane]))
    if count == 0:
        _show_lanes(rules, states, seats, found, masks, observations)
    return count


step_lanes = kernel(_step_lanes)
"""step_lanes(rules, first int32 [S], states int32 [B, S], actions int64 [B], autoreset, found int32 [A] (work space),
rewards float32 [B, 2], terminated bool [B], illegal bool [B], to_play int64 [B], masks int8 [B, A], observations
float32 [B, H, W, C]): plays an action in each lane that is not over; an illegal one loses. Then, if `autoreset` is 1,
lanes that are over start again from `first`. `rewards` (Black's, White's), `terminated` and `illegal` say what the
action did; lanes that were over before are terminated without reward. The rest shows the state afterwards to who is to
act; masks are all ones where the game is over."""
seat_lanes = kernel(_seat_lanes)
"""seat_lanes(rules, first int32 [S], states int32 [B, S], streams int64 [B, 2], seats int64 [B], opening bool [B], todo
int8 [B], actions int64 [B], seating, same_step, inside, found int32 [A] (work space), waiting int64 [B], rewards
float32 [B], terminated bool [B], illegal bool [3, B], final float32 [B, H, W, C], masks int8 [B, A], observations
float32 [B, H, W, C]) -> how many lanes wait for the opponent; they are listed in `waiting`.

Each lane does what `todo` says: REST, ACT (the learner's action), ANSWER (the opponent's) or BEGIN (a new game, seated
as `seating` says). An illegal action loses and is noted in illegal[BY_LEARNER, BY_OPPONENT or IN_OPENING, lane]. When a
game ends, `terminated` and `rewards` (the learner's), which the caller has set to False and 0, say so; with `same_step`
the lane's last observation is kept in `final` and a new game begins. `opening` holds until the learner has acted in a
game: what ends before is told at the learner's first action, which is then not played. With `inside` the opponent is
random and plays here until it is the learner's turn, so that no lane waits. When none waits, `observations` is what the
learner sees, and `masks` are the legal actions, all ones when the game is over."""
