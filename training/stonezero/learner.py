"""Gradient steps on batches of self-play.

Loss = policy_weight * cross-entropy(search policy, prior) + value_weight * (value - outcome)^2, and with an owner head
+ owner_weight * mean over the cells of (owner - final owner)^2, by AdamW with warm-up and clipping. An average of the
weights over recent steps is kept for play.

The owner's loss is the mean over the cells, as in KataGo, where its weight equals the outcome's (Wu 2019, appendix B).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stonezero.config import LearnerConfig
from stonezero.networks import NetworkOutput
from stonezero.replay import Batch

ILLEGAL_LOGIT = -1e9
"""Stands for -infinity before the softmax: finite, for -infinity times 0 is NaN."""

FINAL_LR = 0.1  # of the cosine schedule, as a share of the full step size
CALIBRATION_BINS = 10  # of values, over [-1, 1]


def masked_log_softmax(policy_logits: Tensor, legal_action_mask: Tensor) -> Tensor:
    """Log-probabilities [B, A] over the legal actions; on illegal ones a large negative number without gradient."""
    return F.log_softmax(policy_logits.masked_fill(~legal_action_mask, ILLEGAL_LOGIT), dim=1)  # [B, A]


def policy_cross_entropy(policy_logits: Tensor, legal_action_mask: Tensor, search_policy: Tensor) -> Tensor:
    """Cross-entropy [B] in nats. Its gradient on illegal logits is exactly 0."""
    log_prior = masked_log_softmax(policy_logits, legal_action_mask)  # [B, A]
    return -torch.where(legal_action_mask, search_policy * log_prior, 0.0).sum(1)  # [B]


def entropy(log_probabilities: Tensor) -> Tensor:
    """Entropy [B] in nats of log-probabilities [B, A]."""
    return -(log_probabilities.exp() * log_probabilities).sum(1)  # [B]


def owner_error(owner: Tensor, target: Tensor, on_board: Tensor) -> Tensor:
    """Squared error [B] of owners [B, H, W] in [-1, 1], mean over the cells where `on_board` bool [H, W] says so.

    Its gradient beside the board is exactly 0.
    """
    error = torch.where(on_board, owner - target, 0.0)  # [B, H, W]
    return error.square().sum(dim=(1, 2)) / on_board.sum()  # [B]


def calibration_error(value: Tensor, outcome: Tensor) -> float:
    """Expected calibration error: |mean value - mean outcome| of each bin of values, weighted by its rows; 0 to 2."""
    bins = ((value + 1) / 2 * CALIBRATION_BINS).long().clamp(0, CALIBRATION_BINS - 1)  # [B]
    sums = torch.zeros(CALIBRATION_BINS, device=value.device).index_add_(0, bins, value - outcome)  # [bins]
    return float(sums.abs().sum() / len(value))


class Learner:
    """A network under training, its optimiser and its averaged weights."""

    def __init__(
        self,
        network: nn.Module,
        config: LearnerConfig,
        *,
        device: torch.device | str = "cpu",
    ) -> None:
        """Train `network` in place, on `device`."""
        self.config = config
        self.device = torch.device(device)
        self.steps = 0
        self._network = network.to(self.device).train()
        self._average = {name: tensor.detach().clone() for name, tensor in self._network.state_dict().items()}
        self._optimiser = torch.optim.AdamW(_parameter_groups(self._network, config.weight_decay), lr=config.lr)

    def step(self, batch: Batch, progress: float = 0.0) -> dict[str, float]:
        """One gradient step; returns what TensorBoard shows of it.

        `progress`: the share of the run that is behind, 0 to 1, for the schedule of the step size.

        Keys: loss, policy_loss (cross-entropy, nats), policy_kl (search policy against prior), value_loss (squared
        error), prior_entropy, target_entropy, value_mean, outcome_mean, value_calibration_error, value_correlation,
        grad_norm (before clipping), grad_clipped (1 where it was clipped), lr, replay_age (mean, rows),
        replay_age_steps (mean, learner steps since the weights that played the rows); where the batch shows owners
        also owner_loss (squared error) and owner_sign (share of right signs among the cells that end as somebody's).

        Raises:
            FloatingPointError: the loss or its gradient is not finite; the weights are as they were.
            ValueError: the batch shows owners, but the network has no owner head.
        """
        observation = torch.from_numpy(batch.observation).to(self.device)  # [B, H, W, C]
        mask = torch.from_numpy(batch.legal_action_mask).to(self.device)  # [B, A]
        search_policy = torch.from_numpy(batch.search_policy).to(self.device)  # [B, A]
        outcome = torch.from_numpy(batch.value).to(self.device)  # [B]

        self._network.train()
        output: NetworkOutput = self._network(observation)
        policy_loss = policy_cross_entropy(output.policy_logits, mask, search_policy).mean()
        value_loss = F.mse_loss(output.value, outcome)
        loss = self.config.policy_weight * policy_loss + self.config.value_weight * value_loss
        owned: dict[str, float] = {}
        if batch.owner is not None:
            if output.owner is None:
                raise ValueError("network.owner_head is true, but the network returned no owner")
            target = torch.from_numpy(batch.owner.target).to(self.device)  # [B, H, W]
            on_board = torch.from_numpy(batch.owner.on_board).to(self.device)  # [H, W]
            owner_loss = owner_error(output.owner, target, on_board).mean()
            loss = loss + self.config.owner_weight * owner_loss
            right = _right_signs(output.owner.detach(), target)
            owned = {"owner_loss": float(owner_loss.detach()), "owner_sign": right}

        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        grad_norm = float(nn.utils.clip_grad_norm_(self._network.parameters(), self.config.clip_norm).detach())
        if not math.isfinite(float(loss.detach())) or not math.isfinite(grad_norm):
            raise FloatingPointError(f"learner step {self.steps + 1}: the loss or its gradient is not finite")
        lr = self.learning_rate(self.steps + 1, progress)
        for group in self._optimiser.param_groups:
            group["lr"] = lr
        self._optimiser.step()
        self.steps += 1
        self._update_average()

        with torch.no_grad():
            prior_entropy = entropy(masked_log_softmax(output.policy_logits, mask)).mean()
            target_entropy = torch.special.entr(search_policy).sum(1).mean()
            value = output.value.detach()
            cross_entropy = float(policy_loss)
        return {
            "loss": float(loss.detach()),
            "policy_loss": cross_entropy,
            "policy_kl": cross_entropy - float(target_entropy),
            "value_loss": float(value_loss.detach()),
            "prior_entropy": float(prior_entropy),
            "target_entropy": float(target_entropy),
            "value_mean": float(value.mean()),
            "outcome_mean": float(outcome.mean()),
            "value_calibration_error": calibration_error(value, outcome),
            "value_correlation": _correlation(value, outcome),
            "grad_norm": grad_norm,
            "grad_clipped": float(grad_norm > self.config.clip_norm),
            "lr": lr,
            "replay_age": float(np.mean(batch.age)),
            "replay_age_steps": self.steps - 1 - float(np.mean(batch.version)),
            **owned,
        }

    def learning_rate(self, step: int, progress: float = 0.0) -> float:
        """The step size of step number `step`, counted from 1: linear warm-up, then constant or cosine over the run.

        `progress`: the share of the run that is behind; the cosine is at a tenth of the full step size from 1 on.
        """
        config = self.config
        lr = config.lr
        if config.schedule == "cosine":
            done = min(1.0, max(0.0, progress))
            lr *= FINAL_LR + (1 - FINAL_LR) * 0.5 * (1 + math.cos(math.pi * done))
        return lr * min(1.0, step / config.warmup_steps) if config.warmup_steps else lr

    def begin(self, weights: Mapping[str, Tensor]) -> None:
        """Take over weights, as the averaged ones too, before the first step; ValueError after it."""
        if self.steps:
            raise ValueError(f"the learner has made {self.steps} steps; it cannot begin with other weights")
        self._network.load_state_dict(weights)
        for name, tensor in self._average.items():
            tensor.copy_(weights[name])

    def weights(self) -> dict[str, Tensor]:
        """A copy on the processor of the weights under training."""
        return {name: tensor.detach().cpu().clone() for name, tensor in self._network.state_dict().items()}

    def average_weights(self) -> dict[str, Tensor]:
        """A copy on the processor of the averaged weights, for play."""
        return {name: tensor.cpu().clone() for name, tensor in self._average.items()}

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on, torch's random state included; for `load_state_dict`."""
        return {
            "steps": self.steps,
            "network": self.weights(),
            "average": self.average_weights(),
            "optimiser": self._optimiser.state_dict(),
            "torch_rng": torch.get_rng_state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`, bit for bit on the same machine in deterministic mode."""
        self._network.load_state_dict(state["network"])
        for name, tensor in self._average.items():
            tensor.copy_(state["average"][name])
        self._optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["torch_rng"])
        self.steps = int(state["steps"])

    @torch.no_grad()
    def _update_average(self) -> None:
        # The decay rises with the steps, so that the first weights, which know nothing, are soon forgotten.
        decay = min(self.config.ema_decay, self.steps / (self.steps + 10))
        for name, tensor in self._network.state_dict().items():
            if tensor.is_floating_point():
                self._average[name].lerp_(tensor, 1 - decay)
            else:
                self._average[name].copy_(tensor)


def _parameter_groups(network: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Weight decay for kernels and matrices, none for biases and scales."""
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in parameters if parameter.ndim > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in parameters if parameter.ndim <= 1], "weight_decay": 0.0},
    ]


def _right_signs(owner: Tensor, target: Tensor) -> float:
    """The share of cells whose sign is right among those that end as somebody's; 1/2, as by chance, without any."""
    owned = target != 0  # [B, H, W]
    right = (owner.sign() == target) & owned
    return float(right.sum()) / float(owned.sum()) if bool(owned.any()) else 0.5


def _correlation(value: Tensor, outcome: Tensor) -> float:
    """Pearson's correlation; 0 where one of the two does not vary."""
    value, outcome = value - value.mean(), outcome - outcome.mean()
    scale = float(value.norm() * outcome.norm())
    return float(value @ outcome) / scale if scale > 0 else 0.0
