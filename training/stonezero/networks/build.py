"""From a configuration to a network."""

from __future__ import annotations

import inspect

import torch
from torch import nn

from stonezero.config import DENSE, NetworkConfig
from stonezero.networks.dense import EquivariantNetwork
from stonezero.networks.outputs import output_faults
from stonezero.networks.resnet import ResidualNetwork
from stonezero.networks.spec import NetworkSpec
from stonezoo.players.function import import_here


def build_network(config: NetworkConfig, spec: NetworkSpec, seed: int | None = None) -> nn.Module:
    """A new network in training mode, its weights drawn from `seed` (None: from torch's own generator).

    Raises ValueError when a network of one's own cannot be found or its outputs are not what they must be;
    `stonezero check-network` looks closer.
    """
    network = make_network(config, spec, seed)
    if config.module is not None:
        _check_outputs(network, config, spec)
    return network


def make_network(config: NetworkConfig, spec: NetworkSpec, seed: int | None = None) -> nn.Module:
    """As `build_network`, without a look at the outputs."""
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        if config.module is None:
            return EquivariantNetwork(config, spec) if config.preset == DENSE else ResidualNetwork(config, spec)
        made = own_class(config.module)(config, spec)
        if not isinstance(made, nn.Module):
            raise ValueError(f"network.module: {config.module} did not make a torch.nn.Module")
        return made.train()


def count_parameters(network: nn.Module) -> int:
    """The number of weights."""
    return sum(parameter.numel() for parameter in network.parameters())


def _check_outputs(network: nn.Module, config: NetworkConfig, spec: NetworkSpec) -> None:
    """Raises ValueError unless the network answers an empty board as it must."""
    batch_size = 2
    device = next((parameter.device for parameter in network.parameters()), torch.device("cpu"))
    observation = torch.zeros(batch_size, *spec.observation_shape, device=device)
    observation[..., spec.on_board_plane] = 1.0
    with torch.no_grad():
        output = network.eval()(observation)
    network.train()
    for fault in output_faults(output, spec, batch_size, config.owner_head):
        raise ValueError(f"network.module: {config.module}: {fault.message}; {fault.remedy}")


def own_class(name: str) -> type:
    """The class of `module:Class`. Raises ValueError when there is none, or it takes other arguments."""
    module_name, _, class_name = name.partition(":")
    try:
        found = getattr(import_here(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"network.module: {name} cannot be imported: {error}; it is looked for as Python finds modules, and in the "
            "current folder"
        ) from error
    if not isinstance(found, type):
        raise ValueError(f"network.module: {name} is not a class")
    try:
        inspect.signature(found).bind(None, None)
    except TypeError as error:
        raise ValueError(f"network.module: {name} must be made as Class(config, spec): {error}") from error
    return found
