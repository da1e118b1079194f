"""What a network's answer must look like."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from stonezero.networks.spec import NetworkSpec


class Fault(NamedTuple):
    """One thing that is wrong with a network."""

    message: str  # what was expected and what was found
    remedy: str


def output_faults(output: Any, spec: NetworkSpec, batch_size: int, owner_head: bool) -> list[Fault]:
    """What is wrong with an answer to `batch_size` observations; with `owner_head` owners are asked for too."""
    height, width, _ = spec.observation_shape
    tensors = {"policy_logits": (batch_size, spec.num_actions), "value": (batch_size,)}
    if owner_head:
        tensors["owner"] = (batch_size, height, width)
    found = []
    for name, shape in tensors.items():
        tensor = getattr(output, name, None)
        if not isinstance(tensor, Tensor):
            asked = ", for network.owner_head is true" if name == "owner" else ""
            found.append(
                Fault(
                    f"the network must return a NetworkOutput with {name}{asked}, got {type(output).__name__}"
                    + (f" with {type(tensor).__name__}" if hasattr(output, name) else ""),
                    "return stonezero.networks.NetworkOutput(policy_logits, value), and owner with network.owner_head",
                )
            )
        elif tuple(tensor.shape) != shape:
            found.append(
                Fault(f"the network's {name} must have the shape {shape}, got {tuple(tensor.shape)}", _SHAPES[name])
            )
        elif tensor.dtype != torch.float32:
            found.append(Fault(f"the network's {name} must be float32, got {tensor.dtype}", f"return {name}.float()"))
        elif not bool(torch.isfinite(tensor).all()):
            found.append(
                Fault(
                    f"the network's {name} is not finite",
                    "look for a division by zero or a logarithm of zero; do not mask with infinities, illegal actions "
                    "are masked outside",
                )
            )
        elif name != "policy_logits" and bool((tensor.abs() > 1).any()):
            found.append(
                Fault(
                    f"the network's {name} must lie in [-1, 1], got {float(tensor.abs().max()):g} in absolute value",
                    "end that head in torch.tanh",
                )
            )
    return found


_SHAPES = {
    "policy_logits": "one logit for each of spec.num_actions actions; from planes [B, P, H, W] they are "
    "planes.flatten(1).index_select(1, policy_index)",
    "value": "drop the last axis: value.squeeze(1)",
    "owner": "one plane without an axis of its own: owner.squeeze(1), for each place of the observation",
}
