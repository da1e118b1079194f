"""Games of a network against itself: lanes advance in lockstep, and a lane whose game has ended begins the next.

Nothing is thrown away when an iteration ends: unfinished games stay in their lanes. Else short games would fill the
replay buffer first.
"""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stonezero.config import SearchConfig, SelfplayConfig
from stonezero.encoding import decode_games, encode_games
from stonezero.replay import Samples, restore_rng, rng_state
from stonezero.search import Search, SearchResult
from stonezero.tally import RunningMean, Statistics, Totals, summarise
from stonezero.targets import Trajectory, make_samples, winner_of
from stonezoo.core.game import ONGOING, OUTCOME, TO_PLAY
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.record import Record, format_record
from stonezoo.state import Game

SPAWN_KEY = 0  # of self-play among all that draws from the run's seed


class VersionedEvaluator(Protocol):
    """A network as self-play needs it; see `stonezero.evaluator.Evaluator`."""

    @property
    def version(self) -> int:
        """Of the weights."""

    def __call__(self, observations: NDArray[np.float32], /) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """policy_logits [R, A] and value [R] for the player to act, of observations [R, H, W, C]."""


@dataclass(frozen=True)
class FinishedGame:
    """One game of self-play with what is learnt from it."""

    number: int  # unique among the games of one start of a run
    actions: tuple[int, ...]  # from the initial state
    turns: int
    winner: int  # 0, 1, or -1 for a draw
    samples: Samples | None  # None: no position was recorded
    plies: tuple[int, ...] = ()  # actions before each row of `samples`

    @classmethod
    def from_trajectory(cls, game: Game, trajectory: Trajectory, final_state: NDArray[np.int32]) -> FinishedGame:
        """The game that a trajectory has become, over in `final_state` [S]."""
        return cls(
            number=trajectory.number,
            actions=tuple(trajectory.actions),
            turns=trajectory.turns,
            winner=winner_of(int(final_state[OUTCOME])),
            samples=make_samples(game, trajectory, final_state),
            plies=tuple(trajectory.plies),
        )

    @property
    def num_rows(self) -> int:
        """Positions to learn from."""
        return 0 if self.samples is None else len(self.samples)

    def trajectory(self) -> Trajectory:
        """What it was made from."""
        rows = self.samples
        return Trajectory(
            number=self.number,
            actions=list(self.actions),
            turns=self.turns,
            plies=list(self.plies),
            states=[] if rows is None else list(rows.states),
            search_policies=[] if rows is None else list(rows.search_policy),
            versions=[] if rows is None else rows.version.tolist(),
        )


class SelfPlay:
    """One worker's lanes. Two workers, or two games, never share a stream of random numbers."""

    def __init__(
        self,
        game: Game,
        search: SearchConfig,
        config: SelfplayConfig,
        evaluate: VersionedEvaluator,
        *,
        seed: int,
        worker: int = 0,
        num_workers: int = 1,
    ) -> None:
        """Begin a game in each of `config.num_games` lanes.

        Args:
            game: what is played.
            search: of every decision; with `full_search_fraction` below 1 the other turns are searched cheaply.
            config: lanes, temperature and openings.
            evaluate: the network; its `version` is written into each row.
            seed: of the run.
            worker: number of this worker within the run.
            num_workers: of the run; game `number` of the run belongs to worker `number % num_workers`.
        """
        # Fixed.
        self.game = game
        self.config = config
        self._search_config = search
        self._seed, self._worker, self._num_workers = seed, worker, num_workers
        # Owned elsewhere.
        self._evaluate = evaluate
        # Changed. Since this worker was made, what belongs to unfinished games included:
        self.actions = 0
        self.recorded = 0  # positions
        self.busy_seconds = 0.0
        self.search_seconds = 0.0  # of them within searches, network calls included
        B = config.num_games
        self._search = Search(game, search, B)
        self._states = np.zeros((B, game.rules.state_size), np.int32)  # [B, S]
        self._streams = np.zeros((B, 2), np.int64)
        self._full = np.ones(B, np.bool_)  # whether the turn under way is searched in full
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SPAWN_KEY, worker)))
        self._next_number = worker
        self._mean_surprise = RunningMean()
        self._simulations = 0
        self._trajectories: list[Trajectory] = []
        self._lock = threading.Lock()  # of the next two: another thread may take games
        self._ended: list[FinishedGame] = []  # since they were last taken
        self._ended_rows = 0
        reset_batch(game.rules, self._states)
        for lane in range(B):
            self._trajectories.append(self._begin(lane))
        self._draw_full(np.ones(B, np.bool_))

    @property
    def simulations(self) -> int:
        """Made since the run began."""
        return self._simulations

    @property
    def ended_rows(self) -> int:
        """Rows in the games that `take` would return."""
        return self._ended_rows

    def play(self, rows: int, progress: Callable[[int], object] | None = None) -> tuple[list[FinishedGame], Statistics]:
        """Advance until the games that have ended hold at least `rows` rows; they come in the order of their ends.

        `progress` is called after each action of all lanes with the rows so far. It may take a `snapshot`: the
        games that have ended are in it until this returns.
        """
        start, before = time.perf_counter(), Totals.of([self])
        while self._ended_rows < rows:
            self.advance()
            if progress is not None:
                progress(self._ended_rows)
        spent = Totals.of([self]).since(before)
        games = self.take()
        return games, summarise(games, spent, time.perf_counter() - start)

    def take(self) -> list[FinishedGame]:
        """The games that have ended since they were last taken, in the order of their ends; also amid `advance`."""
        with self._lock:
            games, self._ended, self._ended_rows = self._ended, [], 0
        return games

    def advance(self) -> None:
        """Play one action in every lane; the games that it ends wait for `take`."""
        began = time.perf_counter()
        search, states, version = self._search_config, self._states, self._evaluate.version
        turns = np.array([trajectory.turns for trajectory in self._trajectories])
        warm = self._full & (turns < self.config.temperature_turns)
        start = time.perf_counter()
        result = self._search.run(
            states,
            self._evaluate,
            num_simulations=np.where(self._full, search.num_simulations, search.cheap_simulations).astype(np.int32),
            noise=self._full,
            temperature=np.where(warm, self.config.temperature, 0.0),
            streams=self._streams,
        )
        self.search_seconds += time.perf_counter() - start
        self._simulations += int(result.visit_counts.sum())
        copies = self._copies(result)
        self.recorded += int(copies.sum())
        for lane, trajectory in enumerate(self._trajectories):
            for _ in range(copies[lane]):
                trajectory.record(states[lane], result.search_policy[lane], version)
            trajectory.actions.append(int(result.action[lane]))
        to_play = states[:, TO_PLAY].copy()
        step_batch(self.game.rules, states, result.action)
        changed = states[:, TO_PLAY] != to_play
        for lane in np.flatnonzero(changed).tolist():
            self._trajectories[lane].turns += 1
        for lane in np.flatnonzero(states[:, OUTCOME] != ONGOING).tolist():
            self._keep(self._finish(lane))
            self._trajectories[lane] = self._begin(lane)
            changed[lane] = True
        self._draw_full(changed)
        self.actions += len(states)
        self.busy_seconds += time.perf_counter() - began

    def snapshot(self) -> bytes:
        """All that the next game depends on, for `restore`: games under way, and those that were not taken."""
        trajectories = [*self._trajectories, *(game.trajectory() for game in self._ended)]
        members: dict[str, Any] = {
            "streams": self._streams,
            "full": self._full,
            "counters": np.array([self._next_number, self._simulations], np.int64),
            "surprise": np.array([self._mean_surprise.total, self._mean_surprise.weight]),
            "rng": np.frombuffer(json.dumps(rng_state(self._rng)).encode(), np.uint8),
            **encode_games(trajectories),
        }
        file = io.BytesIO()
        np.savez_compressed(file, **members)
        return file.getvalue()

    def restore(self, snapshot: bytes) -> None:
        """Go on from a `snapshot` of a worker with the same game and number of lanes, bit for bit.

        Raises ValueError, with nothing changed, when it is of another game or number of lanes.
        """
        with np.load(io.BytesIO(snapshot), allow_pickle=False) as file:
            arrays: dict[str, NDArray[Any]] = {name: file[name] for name in file.files}
        B = len(self._states)
        if len(arrays["streams"]) != B:
            raise ValueError(f"the snapshot holds {len(arrays['streams'])} lanes, this worker has {B}")
        trajectories, states = decode_games(self.game, arrays)
        ended = [
            FinishedGame.from_trajectory(self.game, trajectory, state)
            for trajectory, state in zip(trajectories[B:], states[B:], strict=True)
        ]
        rng = restore_rng(json.loads(arrays["rng"].tobytes()))
        self._states[:], self._streams[:], self._full[:] = states[:B], arrays["streams"], arrays["full"]
        self._next_number, self._simulations = map(int, arrays["counters"])
        self._mean_surprise = RunningMean(*map(float, arrays["surprise"]))
        self._rng, self._trajectories = rng, trajectories[:B]
        self.take()
        for finished in ended:
            self._keep(finished)

    def _keep(self, finished: FinishedGame) -> None:
        with self._lock:
            self._ended.append(finished)
            self._ended_rows += finished.num_rows

    def _begin(self, lane: int) -> Trajectory:
        """Start the next game in a lane, with its own stream and opening."""
        number = self._next_number
        self._next_number += self._num_workers
        # The stream is fixed by (run's seed, worker, game) and no two games share one.
        sequence = np.random.SeedSequence(self._seed, spawn_key=(SPAWN_KEY, self._worker, number))
        self._streams[lane] = new_streams(sequence, 1)[0]
        trajectory = Trajectory(number)
        state = self.game.initial_state()
        if self.config.random_opening_actions:
            while True:
                for _ in range(int(self._rng.integers(self.config.random_opening_actions + 1))):
                    if not state.terminated:
                        state.step(self._rng.choice(state.legal_actions))
                if not state.terminated:
                    break
                state = self.game.initial_state()
            trajectory.actions.extend(state.history)
            trajectory.turns = state.turn
        self._states[lane] = state.row
        return trajectory

    def _copies(self, result: SearchResult) -> NDArray[np.int64]:
        """How often each lane's position is recorded [B]: once where it was searched in full, more where it surprises.

        Policy surprise weighting (KataGo, KataGoMethods.md): a share `surprise_weight` of the rows is given out in
        proportion to the divergence of the search policy from the prior, so that the mean is one row a position.
        """
        recorded = result.searched & self._full  # [B]
        copies = recorded.astype(np.int64)
        share = self.config.surprise_weight
        if share and recorded.any():
            target = result.search_policy[recorded]
            prior = np.maximum(result.prior[recorded], np.finfo(np.float32).tiny)  # it may have underflowed
            surprise = np.where(target > 0, target * np.log(np.maximum(target, 1e-30) / prior), 0.0).sum(1)  # nats
            self._mean_surprise.add(surprise)
            weight = 1 - share + share * surprise / max(self._mean_surprise.value, 1e-9)
            copies[recorded] = np.floor(weight + self._rng.random(len(weight)))
        return copies

    def _finish(self, lane: int) -> FinishedGame:
        return FinishedGame.from_trajectory(self.game, self._trajectories[lane], self._states[lane])

    def _draw_full(self, begins: NDArray[np.bool_]) -> None:
        """Playout cap: decide once a turn, in the lanes [B] where one begins, whether it is searched in full."""
        fraction = self._search_config.full_search_fraction
        if fraction < 1:
            self._full[begins] = self._rng.random(int(begins.sum())) < fraction


def game_records(game: Game, games: Sequence[FinishedGame], name: str, game_id: Callable[[int], str]) -> str:
    """Finished games as text records, one after the other; `name` is the player of both sides.

    `game_id` makes a game's unique id of its number; it stands in a comment at the beginning.
    """
    texts = []
    for finished in games:
        state = game.initial_state()
        for action in finished.actions:
            state.step(action)
        comments = [(0, f"game {game_id(finished.number)}")]
        texts.append(format_record(Record.from_state(state, players=(name, name), comments=comments)))
    return "\n".join(texts)
