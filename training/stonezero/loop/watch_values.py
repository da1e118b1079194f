"""How well a network foretells games that it has not learnt from yet."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from stonezero.players.network import Evaluate
from stonezero.replay import Samples
from stonezoo.kernels.batch import observe_batch
from stonezoo.state import Game

Floats = NDArray[np.float32]

BINS = 10  # of values, over [-1, 1]
REMEMBERED = 4_096  # predictions that the calibration is taken over, the latest


class Reliability:
    """The latest predictions beside what came of them."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._values: deque[float] = deque(maxlen=remembered)
        self._outcomes: deque[float] = deque(maxlen=remembered)

    def add(self, value: Floats, outcome: Floats) -> None:
        """Keep predictions [N] in [-1, 1] with the outcomes [N] for the same player."""
        self._values.extend(value.tolist())
        self._outcomes.extend(outcome.tolist())

    def bins(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Rows, mean predicted value and mean outcome of each tenth of [-1, 1], lowest first; NaN where there is none.

        Returns:
            int64 [BINS], float64 [BINS], float64 [BINS].
        """
        value, outcome = np.array(self._values), np.array(self._outcomes)
        index = np.clip(((value + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1)
        rows = np.bincount(index, minlength=BINS)
        some = np.where(rows > 0, rows, np.nan)
        predicted = np.bincount(index, value, minlength=BINS) / some
        found = np.bincount(index, outcome, minlength=BINS) / some
        return rows, predicted, found

    def values(self) -> NDArray[np.float64]:
        """The predictions [N] that are remembered."""
        return np.array(self._values)

    def scalars(self) -> dict[str, float]:
        """What TensorBoard shows: `error` (mean |predicted - outcome| of the bins, by rows), and of each bin with rows
        `predicted_<bin>` and `outcome_<bin>`, bin 0 from -1 to -0.8.
        """
        rows, predicted, outcome = self.bins()
        total = max(1, int(rows.sum()))
        scalars = {"error": float(np.nansum(rows * np.abs(predicted - outcome)) / total)}
        for b in np.flatnonzero(rows).tolist():
            scalars[f"predicted_{b}"] = float(predicted[b])
            scalars[f"outcome_{b}"] = float(outcome[b])
        return scalars


def foretell(
    game: Game, evaluate: Evaluate, samples: Samples, rows: int, batch_size: int
) -> tuple[dict[str, float], Floats, Floats]:
    """What a network says of positions whose game has ended but which it has not learnt from.

    Args:
        game: of the samples.
        evaluate: the network that played them.
        samples: [N] at least one; `rows` of them are taken, evenly over all.
        rows: the most to take.
        batch_size: positions in one call of the network.

    Returns:
        The scalars `value_loss` (squared error), `value_correlation`, `value_sign` (share of right signs where the game
        was not drawn), `policy_kl` (search policy against prior, nats), `prior_entropy` and `target_entropy` (nats);
        the values [M] and the outcomes [M].
    """
    taken = np.unique(np.linspace(0, len(samples) - 1, min(rows, len(samples))).astype(np.int64))
    states = np.ascontiguousarray(samples.states[taken])
    observations = np.empty((len(states), *game.observation_shape), np.float32)
    observe_batch(game.rules, states, observations)
    parts = [evaluate(observations[start : start + batch_size]) for start in range(0, len(states), batch_size)]
    policy_logits = np.concatenate([logits for logits, _ in parts]).astype(np.float64)  # [M, A]
    value = np.concatenate([value for _, value in parts])  # [M]
    mask = np.asarray(samples.legal_action_mask[taken], np.bool_)  # [M, A]
    target, outcome = samples.search_policy[taken].astype(np.float64), samples.value[taken]
    log_prior = np.where(mask, policy_logits, -np.inf)
    log_prior -= log_prior.max(1, keepdims=True)
    log_prior -= np.log(np.exp(log_prior).sum(1, keepdims=True))
    prior = np.exp(log_prior)
    log_prior = np.where(mask, log_prior, 0.0)
    target_entropy = -(target * np.log(np.where(target > 0, target, 1.0))).sum(1)
    decided = outcome != 0
    scalars = {
        "value_loss": np.mean((value - outcome) ** 2),
        "value_correlation": _correlation(value, outcome),
        "value_sign": np.mean(np.sign(value[decided]) == outcome[decided]) if decided.any() else 0.5,
        "policy_kl": np.mean(-(target * log_prior).sum(1) - target_entropy),
        "prior_entropy": np.mean(-(prior * log_prior).sum(1)),
        "target_entropy": np.mean(target_entropy),
    }
    return {name: float(number) for name, number in scalars.items()}, value, outcome


def _correlation(value: Floats, outcome: Floats) -> float:
    """Pearson's correlation; 0 where one of the two does not vary."""
    a, b = value - value.mean(), outcome - outcome.mean()
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / scale if scale > 0 else 0.0
