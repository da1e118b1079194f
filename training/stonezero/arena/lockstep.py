"""Games between two contestants, many at once: whoever is asked answers for all games in which it is to act."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from stonezero.arena.contestant import Contestant, Fault
from stonezero.arena.openings import Openings
from stonezero.arena.result import GameResult
from stonezoo import Game
from stonezoo.core.game import BLACK, BLACK_WON, DRAWN, NO_WINNER, ONGOING, OUTCOME, TO_PLAY, WHITE
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch, step_batch

CONCURRENT = 512  # games at once: enough to fill a network's batch


class Lockstep:
    """Pairs of games; contestant 0 has Black in the first of each pair and White in the second.

    As games end, further pairs begin, so that batches stay full until the last ones. A game depends on its opening, its
    pair's number and `source` alone, not on the games beside it.
    """

    def __init__(
        self,
        game: Game,
        contestants: tuple[Contestant, Contestant],
        openings: Openings,
        source: np.random.SeedSequence,
        *,
        pairs: Sequence[int] | None = None,
        concurrent: int = CONCURRENT,
    ) -> None:
        """Plays `pairs`, by default one from each of the openings; `concurrent` games at once, at least a pair."""
        self.game = game
        self.contestants = contestants
        self.pairs = list(range(len(openings.states)) if pairs is None else pairs)
        self.openings = openings
        self.seconds = [0.0, 0.0]  # that each contestant took
        self.asked = [0, 0]  # actions that each contestant was asked for
        self._concurrent = max(2, concurrent)
        games = 2 * len(self.pairs)
        self._states = np.repeat(openings.states[self.pairs], 2, axis=0)  # [G, S]
        every = new_streams(source, 4 * len(openings.states)).reshape(-1, 4, 2)  # of each pair, game and contestant
        self._streams = every[self.pairs].reshape(games, 2, 2)  # [G, contestant, 2]
        self._colour = np.arange(games, dtype=np.int32) % 2  # of contestant 0
        self._actions = [list(openings.actions[pair]) for pair in self.pairs for _ in range(2)]
        self._faults: list[tuple[int, Fault] | None] = [None] * games  # whose, and what
        self._ongoing = np.zeros(games, np.bool_)
        self._begun = 0  # pairs

    def play(self) -> Iterator[list[GameResult]]:
        """Yields the games of pairs whose both games have ended, two a pair, as soon as they have.

        Stopping before the end leaves the other games unfinished.
        """
        waiting: set[int] = set()  # pairs begun and not yielded, by place in `pairs`
        while self._begun < len(self.pairs) or waiting:
            while self._begun < len(self.pairs) and int(self._ongoing.sum()) + 2 <= self._concurrent:
                self._ongoing[2 * self._begun : 2 * self._begun + 2] = True
                waiting.add(self._begun)
                self._begun += 1
            for contestant in (0, 1):
                self._act(contestant)
            ended = [place for place in sorted(waiting) if not self._ongoing[2 * place : 2 * place + 2].any()]
            waiting.difference_update(ended)
            if ended:
                yield [self._result(lane) for place in ended for lane in (2 * place, 2 * place + 1)]

    def _act(self, contestant: int) -> None:
        own_turn = (self._states[:, TO_PLAY] == self._colour) == (contestant == 0)
        lanes = np.flatnonzero(self._ongoing & own_turn)
        if len(lanes) == 0:
            return
        states, streams = self._states[lanes], self._streams[lanes, contestant]
        start = time.perf_counter()
        answer = self.contestants[contestant].answer(states, streams)
        self.seconds[contestant] += time.perf_counter() - start
        self.asked[contestant] += len(lanes)
        self._streams[lanes, contestant] = streams
        given = answer.actions
        actions = np.where((given >= 0) & (given < self.game.num_actions), given, 0).astype(np.int32)
        legal = np.empty(len(lanes), np.bool_)
        legal_batch(self.game.rules, states, actions, legal)
        legal &= actions == given
        legal[list(answer.faults)] = False
        step_batch(self.game.rules, states, np.where(legal, actions, -1).astype(np.int32))
        self._states[lanes] = states
        self._ongoing[lanes] = legal & (states[:, OUTCOME] == ONGOING)
        for place, (lane, action) in enumerate(zip(lanes.tolist(), given.tolist(), strict=True)):
            if legal[place]:
                self._actions[lane].append(action)
            else:
                illegal = Fault("illegal", f"answered {action}, which is illegal", action)
                self._faults[lane] = (contestant, answer.faults.get(place, illegal))

    def _result(self, lane: int) -> GameResult:
        pair, colour = self.pairs[lane // 2], int(self._colour[lane])
        outcome = int(self._states[lane, OUTCOME])
        fault = self._faults[lane]
        if fault is not None:
            loser = colour if fault[0] == 0 else 1 - colour
            winner = WHITE if loser == BLACK else BLACK
        else:
            winner = NO_WINNER if outcome == DRAWN else outcome - BLACK_WON
        return GameResult(
            pair=pair,
            player_is_black=colour == BLACK,
            winner=winner,
            actions=tuple(self._actions[lane]),
            opening=len(self.openings.actions[pair]),
            start=self.openings.starts[pair],
            fault_by=None if fault is None else ("player", "opponent")[fault[0]],
            fault=None if fault is None else fault[1],
        )
