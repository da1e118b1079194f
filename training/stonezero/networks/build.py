"""From a configuration to a network."""

from __future__ import annotations

import importlib

import torch
from torch import nn

from stonezero.config import NetworkConfig
from stonezero.networks.resnet import ResidualNetwork
from stonezero.networks.spec import NetworkSpec


def build_network(config: NetworkConfig, spec: NetworkSpec, seed: int | None = None) -> nn.Module:
    """A new network in training mode, its weights drawn from `seed` (None: from torch's own generator).

    Raises ValueError when a network of one's own cannot be found or does not keep the contract.
    """
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        if config.module is None:
            return ResidualNetwork(config, spec)
        network = _own_class(config.module)(config, spec)
        if not isinstance(network, nn.Module):
            raise ValueError(f"network.module: {config.module} did not make a torch.nn.Module")
        check_contract(network, spec)
        return network


def check_contract(network: nn.Module, spec: NetworkSpec) -> None:
    """Raise ValueError unless the network maps [B, H, W, C] to finite logits [B, A] and values [B] in [-1, 1]."""
    batch_size = 2
    device = next((parameter.device for parameter in network.parameters()), torch.device("cpu"))
    observation = torch.zeros(batch_size, *spec.observation_shape, device=device)
    observation[..., spec.on_board_plane] = 1.0
    training = network.training
    with torch.no_grad():
        output = network.eval()(observation)
    network.train(training)
    for name, shape in (("policy_logits", (batch_size, spec.num_actions)), ("value", (batch_size,))):
        tensor = getattr(output, name, None)
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"the network must return a NetworkOutput with {name}, got {type(output).__name__}")
        if tuple(tensor.shape) != shape:
            raise ValueError(f"the network's {name} must have the shape {shape}, got {tuple(tensor.shape)}")
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"the network's {name} is not finite")
    if bool((output.value.abs() > 1).any()):
        raise ValueError("the network's value must lie in [-1, 1]")


def count_parameters(network: nn.Module) -> int:
    """The number of weights."""
    return sum(parameter.numel() for parameter in network.parameters())


def _own_class(name: str) -> type:
    module_name, _, class_name = name.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"network.module: {name} cannot be imported: {error}") from error
    if not isinstance(found, type):
        raise ValueError(f"network.module: {name} is not a class")
    return found
