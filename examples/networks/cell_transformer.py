"""A network of one's own: a transformer whose tokens are the cells of the board. docs/networks.md says more.

Its weights depend on neither the board's size nor the number of actions, so that one set of them plays every size.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stonezero.config import NetworkConfig
from stonezero.networks import NetworkOutput, NetworkSpec

HEADS = 4


class Layer(nn.Module):
    """Every cell looks at every cell, then thinks for itself. Layer normalisation looks at one cell alone."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.before_attention, self.before_thinking = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.query_key_value = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)
        self.think = nn.Sequential(nn.Linear(channels, 2 * channels), nn.GELU(), nn.Linear(2 * channels, channels))

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        """Shapes: x [B, N, C]; visible bool [B, 1, 1, N], the tokens that are cells of the board."""
        batch, tokens, channels = x.shape
        heads = self.query_key_value(self.before_attention(x)).view(batch, tokens, 3, HEADS, channels // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)  # each [B, HEADS, N, C / HEADS]
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, tokens, channels))
        return x + self.think(self.before_thinking(x))


class CellTransformer(nn.Module):
    """`blocks` layers of `channels`; both may be given in the configuration."""

    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__()
        height, width, planes = spec.observation_shape
        channels = config.channels or 32
        self.on_board_plane = spec.on_board_plane
        # Tables that belong to the board's size are buffers, not weights: loading a checkpoint leaves them alone.
        rows = torch.arange(height)[:, None].expand(height, width) - (height - 1) / 2
        columns = torch.arange(width)[None, :].expand(height, width) - (width - 1) / 2
        place = torch.stack((rows, columns, rows.abs(), columns.abs()), dim=-1).flatten(0, 1) / 4  # [N, 4]
        self.register_buffer("place", place, persistent=False)
        self.register_buffer("policy_index", torch.tensor(spec.policy_index), persistent=False)
        self.embed = nn.Linear(planes + 4, channels)
        self.layers = nn.ModuleList(Layer(channels) for _ in range(config.blocks or 2))
        self.last = nn.LayerNorm(channels)
        self.policy = nn.Linear(channels, spec.policy_shape[0])
        self.value = nn.Sequential(nn.Linear(channels, channels), nn.GELU(), nn.Linear(channels, 1))
        self.owner = nn.Linear(channels, 1) if config.owner_head else None

    def forward(self, observation: Tensor) -> NetworkOutput:
        """Shape: observation [B, H, W, C]. Weights may be bf16; outputs are always float32."""
        tokens = observation.flatten(1, 2)  # [B, N, C]
        on_board = tokens[..., self.on_board_plane, None] > 0  # [B, N, 1]
        places = self.place.to(tokens.dtype).expand(tokens.shape[0], -1, -1)
        x = self.embed(torch.cat((tokens, places), dim=-1).to(self.embed.weight.dtype))
        for layer in self.layers:
            x = layer(x, on_board.transpose(1, 2)[:, None])
        x = self.last(x)  # [B, N, channels]

        action_planes = self.policy(x).transpose(1, 2)  # [B, P, N]
        policy_logits = action_planes.flatten(1).index_select(1, self.policy_index)  # [B, A]
        mean = (x * on_board).sum(1) / on_board.sum(1)  # [B, channels]
        value = torch.tanh(self.value(mean.to(x.dtype)).float()).squeeze(1)  # [B]
        owner = None
        if self.owner is not None:
            owner = torch.tanh(self.owner(x).float()).view(observation.shape[:3])  # [B, H, W]
        return NetworkOutput(policy_logits.float(), value, owner)
