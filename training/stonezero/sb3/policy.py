"""The trainer's network as a policy of stable-baselines3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from stonezero.config import NetworkConfig
from stonezero.networks import NetworkSpec, build_network


def board_policy_kwargs(network: NetworkConfig, spec: NetworkSpec) -> dict[str, Any]:
    """The `policy_kwargs` of `MaskablePPO(BoardPolicy, ...)` for a network of `stonezero.networks`.

    Plain values, so that a saved model needs nothing but this module.
    """
    return {"features_extractor_kwargs": {"network": asdict(network), "spec": spec.to_dict()}}


class NetworkExtractor(BaseFeaturesExtractor):
    """A network of `stonezero.networks`: the convolutional trunk, and the heads, which are convolutions too.

    Its features [B, A + 1] are the policy logits, and the value in [-1, 1] for the player who sees the observation.
    """

    def __init__(
        self, observation_space: spaces.Space[Any], network: Mapping[str, Any], spec: Mapping[str, Any]
    ) -> None:
        """Builds the network from torch's own random generator.

        Raises:
            ValueError: the observations are not those that `spec` says.
        """
        shapes = NetworkSpec.from_dict(spec)
        if observation_space.shape != shapes.observation_shape:
            raise ValueError(f"observations {observation_space.shape} are not the network's {shapes.observation_shape}")
        super().__init__(observation_space, features_dim=shapes.num_actions + 1)
        self.network = build_network(NetworkConfig(**network), shapes)

    def forward(self, observations: Tensor) -> Tensor:
        """[B, H, W, C] to [B, A + 1]."""
        output = self.network(observations)
        return torch.cat((output.policy_logits, output.value[:, None]), dim=1)


class _Heads(nn.Module):
    """Parts the features of `NetworkExtractor` into the policy's [B, A] and the value's [B, 1]."""

    def __init__(self, num_actions: int) -> None:
        super().__init__()
        self.latent_dim_pi = num_actions
        self.latent_dim_vf = 1

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Tensor) -> Tensor:
        return features[:, : self.latent_dim_pi]

    def forward_critic(self, features: Tensor) -> Tensor:
        return features[:, self.latent_dim_pi :]


class BoardPolicy(MaskableActorCriticPolicy):
    """Actor and critic that are the two heads of one network of the trainer's, with its trunk and its initial weights.

    For `MaskablePPO(BoardPolicy, env, policy_kwargs=board_policy_kwargs(network, spec))`. Nothing stands between the
    network and the distribution: its weights, `policy.network`, play as those of any checkpoint do.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("features_extractor_class", NetworkExtractor)
        super().__init__(*args, **kwargs)

    @property
    def network(self) -> nn.Module:
        """The network under training."""
        extractor = self.features_extractor
        assert isinstance(extractor, NetworkExtractor)
        return extractor.network

    def _build(self, lr_schedule: Any) -> None:
        """Makes the parts and the optimiser; the weights stay as the network's own initialisation drew them."""
        heads: Any = _Heads(self.features_dim - 1)
        self.mlp_extractor = heads
        self.action_net: Any = nn.Identity()
        self.value_net: Any = nn.Identity()
        optimiser: Any = self.optimizer_class
        self.optimizer = optimiser(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)
