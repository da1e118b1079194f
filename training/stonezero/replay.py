"""Recent positions of self-play, and training batches drawn from them.

Rows are kept as states, not as observations: observations are made when a batch is drawn, after each row has been
turned by a symmetry of the board. The buffer itself is never stored: `stonezero.chunks` fills it again from games.

Whose each cell is in the end is kept, by cells, only for a network that learns it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezero.config import ReplayConfig

States = NDArray[np.int32]
Observe = Callable[[States, NDArray[np.float32]], Any]
Transform = Callable[[States, NDArray[np.int32], States], Any]


class ReplayError(ValueError):
    """A stored chunk that cannot be used; the message names the file."""


@dataclass(frozen=True)
class Samples:
    """Positions of self-play with their training targets."""

    states: States  # [N, S]
    search_policy: NDArray[np.float32]  # [N, A] sums to 1, zero where illegal
    legal_action_mask: NDArray[Any]  # [N, A] bool or int8
    value: NDArray[np.float32]  # [N] the game's outcome in [-1, 1] for the player to act in that row
    version: NDArray[np.int32]  # [N] of the weights that played
    owner: NDArray[np.int8] | None = None
    """[N, cells] when the game ends: 1 the row's player's, -1 the other's, 0 nobody's; None where it is not known."""

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, rows: slice) -> Samples:
        return Samples(
            self.states[rows],
            self.search_policy[rows],
            self.legal_action_mask[rows],
            self.value[rows],
            self.version[rows],
            None if self.owner is None else self.owner[rows],
        )

    @staticmethod
    def concatenate(parts: Sequence[Samples]) -> Samples:
        """All rows in order; their owners are known when those of every part are."""
        owners = [part.owner for part in parts if part.owner is not None]
        return Samples(
            states=np.concatenate([part.states for part in parts]),
            search_policy=np.concatenate([part.search_policy for part in parts]),
            legal_action_mask=np.concatenate([np.asarray(part.legal_action_mask, np.bool_) for part in parts]),
            value=np.concatenate([part.value for part in parts]),
            version=np.concatenate([part.version for part in parts]),
            owner=np.concatenate(owners) if len(owners) == len(parts) else None,
        )


@dataclass(frozen=True)
class Owner:
    """Whose each cell is when the game ends, for the player to act, where cells lie in observations."""

    target: NDArray[np.int8]  # [B, H, W] 1 the player to act's, -1 the other's, 0 nobody's or beside the board
    on_board: NDArray[np.bool_]  # [H, W] where there is a cell


@dataclass(frozen=True)
class Batch:
    """What one learner step sees."""

    observation: NDArray[np.float32]  # [B, H, W, C] seen by the player to act
    legal_action_mask: NDArray[np.bool_]  # [B, A]
    search_policy: NDArray[np.float32]  # [B, A] sums to 1, zero where illegal
    value: NDArray[np.float32]  # [B] in [-1, 1] for the player to act
    age: NDArray[np.int64]  # [B] rows added since this one
    version: NDArray[np.int32]  # [B] of the weights that played
    owner: Owner | None = None  # where it is kept

    def __len__(self) -> int:
        return len(self.value)


class ReplayBuffer:
    """The last rows of a run in preallocated rings, drawn uniformly from a window that grows by a power law."""

    def __init__(
        self,
        game: Any,
        config: ReplayConfig,
        *,
        symmetries: bool = True,
        owner: bool = False,
        observe: Observe | None = None,
        transform: Transform | None = None,
    ) -> None:
        """An empty buffer.

        Args:
            game: a `stonezoo.Game`.
            config: the window, the reuse and the capacity.
            symmetries: draw each row under a random symmetry of the game.
            owner: keep whose each cell is in the end, a byte a cell and row, and show it in batches.
            observe: `observe(states [B, S], out [B, H, W, C])`; None: the game's own.
            transform: `transform(states [B, S], symmetry [B], out [B, S])`; None: the game's own.
        """
        self.config = config
        self.total_rows = 0  # since the run began, those that were overwritten included
        self._observation_shape = tuple(game.observation_shape)
        self._num_actions = int(game.num_actions)
        self._observe = observe or _observe_with(game)
        self._transform = transform or _transform_with(game)
        # [K, A]: under symmetry k action b comes from action sources[k, b].
        tables = [np.asarray(symmetry.actions, np.int64) for symmetry in game.symmetries] if symmetries else []
        self._sources = np.array([np.argsort(table) for table in tables], np.int64).reshape(-1, self._num_actions)
        self._cells = _Cells(game, symmetries) if owner else None
        self._rings: dict[str, NDArray[Any]] = {}
        self._first_row = 0  # rows before it were never here: a resumed run does not load all of its past

    def __len__(self) -> int:
        return min(self.total_rows - self._first_row, self.config.capacity)

    @property
    def first_row(self) -> int:
        """The oldest row that is here, counted since the run began."""
        return self.total_rows - len(self)

    @property
    def window(self) -> int:
        """The rows that batches are drawn from, the latest ones (Wu 2019, section 3)."""
        return min(len(self), window_size(self.total_rows, self.config))

    def begin(self, first_row: int) -> None:
        """Say that the first row of this empty buffer will be number `first_row` of the run.

        Raises ValueError when the buffer is not empty.
        """
        if len(self):
            raise ValueError("only an empty buffer can begin elsewhere")
        self.total_rows = self._first_row = first_row

    def add(self, samples: Samples) -> None:
        """Append rows; the oldest make room.

        Raises ValueError when shapes disagree or a target is not finite.
        """
        count = len(samples)
        if count == 0:
            return
        check_samples(samples, self._num_actions)
        if self._cells is not None and (samples.owner is None or samples.owner.shape[1] != self._cells.number):
            raise ValueError(f"the rows do not say whose each of the {self._cells.number} cells is when the game ends")
        if not self._rings:
            self._allocate(samples.states.shape[1])
        if samples.states.shape[1] != self._rings["states"].shape[1]:
            raise ValueError(f"states of {samples.states.shape[1]} entries, not {self._rings['states'].shape[1]}")
        rows = np.arange(self.total_rows, self.total_rows + count)[-self.config.capacity :]
        target = rows % self.config.capacity
        source = rows - self.total_rows
        self._rings["states"][target] = samples.states[source]
        self._rings["search_policy"][target] = samples.search_policy[source]
        self._rings["mask"][target] = np.packbits(np.asarray(samples.legal_action_mask[source], np.bool_), axis=1)
        self._rings["value"][target] = samples.value[source]
        self._rings["version"][target] = samples.version[source]
        if self._cells is not None and samples.owner is not None:
            self._rings["owner"][target] = samples.owner[source]
        self.total_rows += count

    def sample(self, batch_size: int, rng: np.random.Generator) -> Batch:
        """Draw rows uniformly from the window, with replacement, each under a random symmetry.

        Raises ValueError when the buffer is empty.
        """
        if len(self) == 0:
            raise ValueError("the replay buffer is empty")
        age = rng.integers(self.window, size=batch_size)  # 0: the latest row
        slots = (self.total_rows - 1 - age) % self.config.capacity
        states = self._rings["states"][slots]  # [B, S]
        search_policy = self._rings["search_policy"][slots]  # [B, A]
        mask = self._unpack(slots)  # [B, A]
        symmetry = None
        if len(self._sources):
            symmetry = rng.integers(len(self._sources), size=batch_size).astype(np.int32)
            states, search_policy, mask = self.apply_symmetries(states, search_policy, mask, symmetry)
        observation = np.empty((batch_size, *self._observation_shape), np.float32)
        self._observe(states, observation)
        return Batch(
            observation=observation,
            legal_action_mask=mask,
            search_policy=search_policy,
            value=self._rings["value"][slots],
            age=age,
            version=self._rings["version"][slots],
            owner=None if self._cells is None else self._cells.place(self._rings["owner"][slots], symmetry),
        )

    def apply_symmetries(
        self,
        states: States,
        search_policy: NDArray[np.float32],
        mask: NDArray[np.bool_],
        symmetry: NDArray[np.int32],
    ) -> tuple[States, NDArray[np.float32], NDArray[np.bool_]]:
        """Each row [B] under its own symmetry [B] of the game: states, search policies and masks.

        The state is turned before it is observed, so that planes that say whose sides are whose come out right under
        a symmetry that exchanges the players. The value needs no change: it is for the player to act, who is
        exchanged together with the stones.
        """
        turned = np.empty_like(states)
        self._transform(states, symmetry, turned)
        sources = self._sources[symmetry]  # [B, A]
        return turned, np.take_along_axis(search_policy, sources, 1), np.take_along_axis(mask, sources, 1)

    def steps_due(self, steps_done: int, batch_size: int) -> int:
        """Learner steps that may be made now so that a row is drawn `reuse` times on average; 0 before `min_rows`."""
        if self.total_rows < self.config.min_rows:
            return 0
        return max(0, int(self.total_rows * self.config.reuse / batch_size) - steps_done)

    def latest(self, count: int) -> Samples:
        """The last `count` rows, or all there are, oldest first."""
        count = min(count, len(self))
        slots = np.arange(self.total_rows - count, self.total_rows) % self.config.capacity
        return Samples(
            states=self._rings["states"][slots],
            search_policy=self._rings["search_policy"][slots],
            legal_action_mask=self._unpack(slots),
            value=self._rings["value"][slots],
            version=self._rings["version"][slots],
            owner=None if self._cells is None else self._rings["owner"][slots],
        )

    def _allocate(self, state_size: int) -> None:
        capacity = self.config.capacity
        self._rings = {
            "states": np.zeros((capacity, state_size), np.int32),
            "search_policy": np.zeros((capacity, self._num_actions), np.float32),
            "mask": np.zeros((capacity, (self._num_actions + 7) // 8), np.uint8),
            "value": np.zeros(capacity, np.float32),
            "version": np.zeros(capacity, np.int32),
        }
        if self._cells is not None:
            self._rings["owner"] = np.zeros((capacity, self._cells.number), np.int8)

    def _unpack(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.unpackbits(self._rings["mask"][slots], axis=1, count=self._num_actions).astype(np.bool_)


class _Cells:
    """Where a game's cells go: under symmetries, and in observations."""

    def __init__(self, game: Any, symmetries: bool) -> None:
        self.number = int(game.num_cells)
        grid = np.array(game.layout.grid, np.int64)  # [H, W] the cell at each place, -1 beside the board
        self.on_board = grid >= 0  # [H, W]
        self._places = np.empty(self.number, np.int64)  # [cells] index into the flattened grid
        self._places[grid[self.on_board]] = np.flatnonzero(self.on_board)
        # [K, cells]: under symmetry k cell c shows what cell sources[k, c] did.
        tables = [np.argsort(symmetry.cells) for symmetry in game.symmetries] if symmetries else []
        self._sources = np.array(tables, np.int64).reshape(-1, self.number)

    def place(self, owner: NDArray[np.int8], symmetry: NDArray[np.int32] | None) -> Owner:
        """The owners [B, cells] of rows, each under its own symmetry [B] where given, as planes.

        The signs stay as they are, also under a symmetry that exchanges the players: what was the row's player's is
        still the row's player's when stones and player have both changed colour.
        """
        if symmetry is not None:
            owner = np.take_along_axis(owner, self._sources[symmetry], 1)
        planes = np.zeros((len(owner), self.on_board.size), np.int8)
        planes[:, self._places] = owner
        return Owner(planes.reshape(-1, *self.on_board.shape), self.on_board)


def window_size(total_rows: int, config: ReplayConfig) -> int:
    """Rows in the window after `total_rows`: c (1 + beta ((N / c)^alpha - 1) / alpha), at least all of the first c."""
    if total_rows <= config.window:
        return total_rows
    ratio = total_rows / config.window
    return int(config.window * (1 + config.beta * (ratio**config.alpha - 1) / config.alpha))


def rng_state(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's state in numbers, texts and dicts, for `restore_rng`, JSON and a training state."""
    return dict(rng.bit_generator.state)


def restore_rng(state: dict[str, Any]) -> np.random.Generator:
    """A generator that goes on where `rng_state` was taken. Raises ValueError when it is not a PCG64's state."""
    bit_generator = np.random.PCG64()
    bit_generator.state = state  # type: ignore[assignment]
    return np.random.Generator(bit_generator)


def _observe_with(game: Any) -> Observe:
    from stonezoo.kernels.batch import observe_batch

    return lambda states, out: observe_batch(game.rules, states, out)


def _transform_with(game: Any) -> Transform:
    from stonezoo.kernels.batch import transform_batch

    cells = np.ascontiguousarray([symmetry.cells for symmetry in game.symmetries], np.int32)  # [K, cells]
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)  # [K]
    return lambda states, symmetry, out: transform_batch(game.rules, states, cells, swaps, symmetry, out)


def check_samples(samples: Samples, num_actions: int) -> None:
    """Raises ValueError when shapes disagree, or a target is not finite or stands on an illegal action."""
    count = len(samples)
    shapes = {
        "states": (count, samples.states.shape[-1]),
        "search_policy": (count, num_actions),
        "legal_action_mask": (count, num_actions),
        "value": (count,),
        "version": (count,),
    }
    if samples.owner is not None:
        shapes["owner"] = (count, samples.owner.shape[-1])
        if (np.abs(samples.owner) > 1).any():
            raise ValueError("owner must be -1, 0 or 1")
    for name, shape in shapes.items():
        actual = getattr(samples, name).shape
        if actual != shape:
            raise ValueError(f"{name} has the shape {actual}, expected {shape}")
    if not (np.isfinite(samples.search_policy).all() and np.isfinite(samples.value).all()):
        raise ValueError("a training target is not finite")
    if samples.search_policy[~np.asarray(samples.legal_action_mask, np.bool_)].any():
        raise ValueError("search_policy is not zero on an illegal action")
