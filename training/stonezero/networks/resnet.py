"""A residual network that plays any board size with one set of weights.

Everything is a convolution or a pooling over the whole board. Activations are masked by the on-board plane after each
convolution, so a board inside a larger tensor gives the same output. Global pooling follows KataGo (Wu 2019, section
3.3): mean, mean times the board's width, and maximum. There is no normalisation, hence nothing that differs between
training and play; instead each residual branch starts at zero (Fixup, Zhang et al. 2019).
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stonezero.config import PRESETS, NetworkConfig
from stonezero.networks.spec import NetworkOutput, NetworkSpec

POOLING_EVERY = 2  # every second block pools, the last of each pair
WIDTH_OFFSET, WIDTH_SCALE = 8.0, 10.0  # board widths 3 to 19 map to about -0.5 to 1.1
HEAD_SCALE = 0.1  # of the heads' last layers at the start: nearly uniform policy, nearly zero value


def pool(x: Tensor, area: Tensor) -> Tensor:
    """[B, 3C] of x [B, C, H, W] >= 0, masked: mean over the board, the same times its width, maximum.

    `area` [B, 1] float32 is the number of cells on the board.
    """
    mean = x.sum(dim=(2, 3), dtype=torch.float32) / area  # [B, C]
    width = (area.sqrt() - WIDTH_OFFSET) / WIDTH_SCALE  # [B, 1]
    maximum = x.amax(dim=(2, 3)).float()  # [B, C]
    return torch.cat((mean, mean * width, maximum), dim=1).to(x.dtype)  # [B, 3C]


class Block(nn.Module):
    """Pre-activation residual block; with `pooling`, what the whole board says is added inside it."""

    def __init__(self, channels: int, num_blocks: int, pooling: bool) -> None:
        super().__init__()
        self.first = _convolution(channels, channels, 3, gain=num_blocks**-0.5)
        self.second = _convolution(channels, channels, 3, gain=0.0)
        self.pooled = _Pooled(channels, channels // 4, channels) if pooling else None

    def forward(self, x: Tensor, mask: Tensor, area: Tensor) -> Tensor:
        """Shapes: x [B, C, H, W], mask [B, 1, H, W], area [B, 1]; x is zero where the mask is, and so is the result."""
        active = F.relu(x)  # [B, C, H, W]
        y = self.first(active)  # [B, C, H, W]
        if self.pooled is not None:
            y = y + self.pooled(active, mask, area)  # [B, C, H, W]
        y = F.relu(y) * mask
        return cast(Tensor, x + self.second(y) * mask)


class _Pooled(nn.Module):
    """Few planes of x, pooled, as a bias for each of `out_channels` planes: [B, out_channels, 1, 1]."""

    def __init__(self, in_channels: int, pool_channels: int, out_channels: int) -> None:
        super().__init__()
        self.planes = _convolution(in_channels, pool_channels, 1)
        self.linear = _linear(3 * pool_channels, out_channels)

    def forward(self, x: Tensor, mask: Tensor, area: Tensor) -> Tensor:
        planes = F.relu(self.planes(x)) * mask  # [B, pool_channels, H, W]
        bias = self.linear(pool(planes, area))  # [B, out_channels]
        return cast(Tensor, bias[:, :, None, None])


class ResidualNetwork(nn.Module):
    """Trunk of residual blocks, policy head of action planes, value head, and on demand an owner head."""

    policy_index: Tensor

    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__()
        preset_blocks, preset_channels = PRESETS[config.preset]
        blocks = config.blocks or preset_blocks
        channels = config.channels or preset_channels
        head_channels = max(16, channels // 2)
        planes = spec.observation_shape[2]
        self.on_board_plane = spec.on_board_plane
        # Not a weight: it belongs to the board size, which may differ when the weights are loaded again.
        self.register_buffer("policy_index", torch.tensor(spec.policy_index, dtype=torch.int64), persistent=False)

        self.stem = _convolution(planes, channels, 3)
        self.blocks = nn.ModuleList(
            Block(channels, blocks, pooling=index % POOLING_EVERY == POOLING_EVERY - 1) for index in range(blocks)
        )
        self.policy_planes = _convolution(channels, head_channels, 1)
        self.policy_pooled = _Pooled(channels, head_channels, head_channels)
        self.policy_out = _convolution(head_channels, spec.policy_shape[0], 1, gain=HEAD_SCALE)
        self.value_planes = _convolution(channels, head_channels, 1)
        self.value_hidden = _linear(3 * head_channels, channels)
        self.value_out = _linear(channels, 1, gain=HEAD_SCALE)
        self.owner_out = _convolution(channels, 1, 1, gain=HEAD_SCALE) if config.owner_head else None

    def forward(self, observation: Tensor) -> NetworkOutput:
        """`observation` float32 [B, H, W, C]; the outputs are float32 whatever the weights' type."""
        dtype = self.stem.weight.dtype
        planes = observation.permute(0, 3, 1, 2)  # [B, C, H, W], channels last in memory
        on_board = planes[:, self.on_board_plane : self.on_board_plane + 1]  # [B, 1, H, W]
        area = on_board.sum(dim=(2, 3))  # [B, 1] float32: bf16 cannot count beyond 256
        mask = on_board.to(dtype)

        x = self.stem(planes.to(dtype)) * mask  # [B, channels, H, W]
        for block in self.blocks:
            x = block(x, mask, area)
        x = F.relu(x)

        policy = self.policy_planes(x) + self.policy_pooled(x, mask, area)  # [B, head_channels, H, W]
        action_planes = self.policy_out(F.relu(policy))  # [B, P, H, W]
        policy_logits = action_planes.flatten(1).index_select(1, self.policy_index)  # [B, A]

        value = F.relu(self.value_planes(x)) * mask  # [B, head_channels, H, W]
        value = F.relu(self.value_hidden(pool(value, area)))  # [B, channels]
        value = torch.tanh(self.value_out(value).float()).squeeze(1)  # [B]

        owner = None
        if self.owner_out is not None:
            owner = (torch.tanh(self.owner_out(x).float()) * on_board).squeeze(1)  # [B, H, W]
        return NetworkOutput(policy_logits.float(), value, owner)


def _convolution(in_channels: int, out_channels: int, size: int, gain: float = 1.0) -> nn.Conv2d:
    layer = nn.Conv2d(in_channels, out_channels, size, padding=size // 2)
    _initialise(layer.weight, layer.bias, in_channels * size * size, gain)
    return layer


def _linear(in_features: int, out_features: int, gain: float = 1.0) -> nn.Linear:
    layer = nn.Linear(in_features, out_features)
    _initialise(layer.weight, layer.bias, in_features, gain)
    return layer


def _initialise(weight: Tensor, bias: Tensor | None, fan_in: int, gain: float) -> None:
    """He et al. 2015, times `gain`."""
    nn.init.normal_(weight, std=gain * math.sqrt(2.0 / fan_in))
    if bias is not None:
        nn.init.zeros_(bias)
