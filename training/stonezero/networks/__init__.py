"""Networks: from observations to policy logits and a value.

A network is a `torch.nn.Module` called with an observation float32 [B, H, W, C] that returns a `NetworkOutput`. One's
own is named in the configuration (`network: my.module:Class`) and constructed as `Class(config, spec)`.
"""

from stonezero.networks.build import build_network, count_parameters
from stonezero.networks.spec import NetworkOutput, NetworkSpec

__all__ = ["NetworkOutput", "NetworkSpec", "build_network", "count_parameters"]
