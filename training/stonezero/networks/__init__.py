"""Networks: from observations to policy logits and a value.

A network is a `torch.nn.Module` called with an observation float32 [B, H, W, C] that returns a `NetworkOutput`. One's
own is named in the configuration (`network: my.module:Class`) and constructed as `Class(config, spec)`. What it must
keep to stands in docs/networks.md; `check_contract` looks whether it does.
"""

from stonezero.networks.build import build_network, count_parameters
from stonezero.networks.contract import CheckResult, ContractReport, check_contract
from stonezero.networks.outputs import Fault
from stonezero.networks.spec import NetworkOutput, NetworkSpec

__all__ = [
    "CheckResult",
    "ContractReport",
    "Fault",
    "NetworkOutput",
    "NetworkSpec",
    "build_network",
    "check_contract",
    "count_parameters",
]
