"""A fully connected residual network that answers alike for all symmetric images of a position.

Every hidden unit stands once for each symmetry of the board: the copy of symmetry g sees the board as g turns it, and a
layer's weight between copies g and h depends on the two only by how one turns into the other (group convolution, Cohen
and Welling 2016, over the board's symmetries). So value and policy turn with the board exactly, not only where training
has shown it, and there are as many times fewer weights as there are symmetries. Nothing is shared between places of the
board, unlike in convolutions: the weights play one size. docs/decisions/networks.md says where that pays.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from stonezero.config import PRESETS, NetworkConfig
from stonezero.networks.spec import NetworkOutput, NetworkSpec

HEAD_SCALE = 0.1  # of the heads' last layers at the start: nearly uniform policy, nearly zero value
ACTIVE_PLANES = 4  # planes that are not 0 at a cell, about: the stem's fan-in


class EquivariantNetwork(nn.Module):
    """Residual blocks of two layers each, a policy head, a value head, and on demand an owner head.

    `config.channels` are the hidden units, all copies together, rounded down to whole copies, one at least.
    """

    shown: Tensor

    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__()
        preset_blocks, preset_units = PRESETS[config.preset]
        blocks = config.blocks or preset_blocks
        group = Symmetries(spec)
        units = max(1, (config.channels or preset_units) // group.order)
        height, width, planes = spec.observation_shape
        self.on_board_plane, self.order = spec.on_board_plane, group.order
        # Which planes are looked at: the one that tells the colours apart is turned round where players are exchanged.
        shown = torch.ones(planes)
        if spec.colour_plane is not None:
            shown[spec.colour_plane] = 0.0
        self.register_buffer("shown", shown, persistent=False)

        def layers(gain: float) -> nn.ModuleList:
            fan_in = group.order * units
            return nn.ModuleList(_ToUnits(group.between, units, units, fan_in, gain) for _ in range(blocks))

        self.stem: nn.Module = _ToUnits(group.places, planes, units, fan_in=ACTIVE_PLANES * height * width)
        self.first = layers(gain=blocks**-0.5)
        self.second = layers(gain=0.0)
        self.policy: nn.Module = _ToTable(group.actions, units)
        self.value_hidden = _linear(units, units, 1.0)
        self.value_out = _linear(units, 1, HEAD_SCALE)
        self.owner: nn.Module | None = _ToTable(group.places, units) if config.owner_head else None

    def forward(self, observation: Tensor) -> NetworkOutput:
        """`observation` float32 [B, H, W, C]; the outputs are float32 whatever the weights' type."""
        x = self.stem((observation * self.shown).flatten(1).to(self.value_out.weight.dtype))  # [B, units]
        x = x.unsqueeze(1)  # [B, 1, units]: OpenVINO 2026.4 crashes while it compiles sums of such layers of rank 2
        for first, second in zip(self.first, self.second, strict=True):
            x = x + second(F.relu(first(F.relu(x))))  # [B, 1, units]
        x = F.relu(x.squeeze(1))  # [B, units]
        policy_logits = self.policy(x)  # [B, A]
        alike = x.reshape(x.shape[0], self.order, -1).mean(1)  # [B, units of one symmetry], the same for all images
        value = self.value_out(F.relu(self.value_hidden(alike)))  # [B, 1]
        owner = None
        if self.owner is not None:
            on_board = observation[..., self.on_board_plane]  # [B, H, W]
            owner = torch.tanh(self.owner(x).float()).view_as(on_board) * on_board
        return NetworkOutput(policy_logits.float(), torch.tanh(value.float()).squeeze(1), owner)

    def expanded(self) -> nn.Module:
        """An independent network with plain linear layers that answers alike: faster to call, and not to be trained."""
        other = copy.deepcopy(self)
        with torch.no_grad():
            for name, layer in list(other.named_modules()):
                if isinstance(layer, _Equivariant):
                    parent, _, leaf = name.rpartition(".")
                    other.get_submodule(parent)._modules[leaf] = layer.linear()
        return other


class Symmetries:
    """The group of a board's symmetries, as index tables."""

    def __init__(self, spec: NetworkSpec) -> None:
        """Raises ValueError when the symmetries of `spec` are no group."""
        height, width, _ = spec.observation_shape
        places = height * width
        identity = tuple(range(places)), tuple(range(spec.num_actions))
        images = [(*moved, *acted) for moved, acted in spec.symmetries or (identity,)]
        number = {image: k for k, image in enumerate(images)}
        moved = np.array([image[:places] for image in images], np.int64)  # [K, places]
        acted = np.array([image[places:] for image in images], np.int64)  # [K, A]

        def find(places_of: NDArray[np.int64], actions_of: NDArray[np.int64]) -> int:
            found = number.get((*places_of.tolist(), *actions_of.tolist()))
            if found is None:
                raise ValueError("the symmetries of the board are no group: two of them make one that is not there")
            return found

        self.order = len(images)  # K
        inverse = [find(np.argsort(moved[k]), np.argsort(acted[k])) for k in range(self.order)]
        self.places = torch.from_numpy(moved[inverse])  # [K, places], by symmetry k: what comes to lie at each place
        self.actions = torch.from_numpy(acted[inverse])  # [K, A], likewise
        self.between = torch.tensor(  # [K, K]: the symmetry that turns the first into the second
            [[find(moved[i][moved[k]], acted[i][acted[k]]) for k in range(self.order)] for i in inverse]
        )


class _Equivariant(nn.Module, ABC):
    """A linear layer whose matrix is made of fewer weights, each of which stands in it several times."""

    bias: Tensor | None

    @abstractmethod
    def matrix(self) -> tuple[Tensor, Tensor | None]:
        """The matrix [out, in] and what is added [out]."""

    def linear(self) -> nn.Linear:
        """The same layer written out, without gradient."""
        matrix, bias = self.matrix()
        plain = nn.Linear(matrix.shape[1], matrix.shape[0], bias is not None, dtype=matrix.dtype, device=matrix.device)
        plain.weight.data.copy_(matrix)
        if bias is not None:
            plain.bias.data.copy_(bias)
        return plain

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, *self.matrix())


class _ToUnits(_Equivariant):
    """From planes of places, or from hidden units (the copies are the places then), to hidden units."""

    table: Tensor

    def __init__(self, table: Tensor, features: int, units: int, fan_in: int, gain: float = 1.0) -> None:
        """`features` are those of a place; `table` [K, places] says which weight each symmetry's copy has for it."""
        super().__init__()
        self.register_buffer("table", table, persistent=False)
        self.weight = nn.Parameter(_normal(units, table.shape[1], features, fan_in=fan_in, gain=gain))
        self.bias = nn.Parameter(torch.zeros(units))

    def matrix(self) -> tuple[Tensor, Tensor]:
        full = self.weight[:, self.table].transpose(0, 1)  # [K, units, places, features]
        return full.flatten(2).flatten(0, 1), cast(Tensor, self.bias).repeat(len(self.table))


class _ToTable(_Equivariant):
    """From hidden units to one number for each action, or each place."""

    table: Tensor

    def __init__(self, table: Tensor, units: int) -> None:
        super().__init__()
        self.register_buffer("table", table, persistent=False)  # [K, entries]
        order, entries = table.shape
        self.weight = nn.Parameter(_normal(units, entries, fan_in=order * units, gain=HEAD_SCALE))
        self.bias = None

    def matrix(self) -> tuple[Tensor, None]:
        full = self.weight[:, self.table]  # [units, K, entries]
        return full.permute(2, 1, 0).flatten(1), None


def _linear(in_features: int, out_features: int, gain: float) -> nn.Linear:
    layer = nn.Linear(in_features, out_features)
    layer.weight.data.copy_(_normal(out_features, in_features, fan_in=in_features, gain=gain))
    layer.bias.data.zero_()
    return layer


def _normal(*shape: int, fan_in: int, gain: float = 1.0) -> Tensor:
    """He et al. 2015, times `gain`."""
    return torch.randn(shape) * (gain * math.sqrt(2.0 / fan_in))
