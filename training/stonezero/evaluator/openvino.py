"""The network through OpenVINO, an extra: `pip install "stonezoo[openvino]"`. On the processor only.

The network is converted once, its weights as inputs; a set of weights is put in as constants and compiled, which takes
about a tenth of a second and lets OpenVINO lay the weights out as its kernels like them. Batches go through in tiles of
fixed sizes: OpenVINO is slower with sizes left open, and no faster with larger tiles.
"""

from __future__ import annotations

import copy
import warnings
from collections import deque
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from stonezero.device import usable_cores
from stonezero.evaluator.engines import EngineError, Floats, Kind, Precision, freeze, pad

TILES = (64, 8)
"""Positions in one call of OpenVINO: as many large tiles as fit, the rest in small ones; only the last is padded."""

MAX_STREAMS = 4  # calls that run beside each other at most
TYPES = {"fp32": "f32", "bf16": "bf16"}  # OpenVINO's names


class OpenVINOEngine:
    """Compiled models, one for each size of tile, and the requests of the threads that call them."""

    kind: Kind = "openvino"

    def __init__(self, network: nn.Module, device: torch.device, precision: Precision, example: Floats) -> None:
        """`example` float32 [N, H, W, C] is what the network is traced with; other batch sizes are served too.

        Raises EngineError when OpenVINO is not installed, cannot convert the network, or the device is no cpu.
        """
        require_openvino(device)
        self.precision: Precision = precision
        frozen = freeze(network, torch.device("cpu"), torch.float32)
        try:
            self._template = _convert(frozen, example)
            self._load(frozen)
        except Exception as error:  # of many kinds, from tracing, conversion and compilation
            raise EngineError(
                f"device.engine: OpenVINO cannot compute this network ({str(error).strip().splitlines()[0]}); use "
                f"device.engine: eager"
            ) from error

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        parts = []
        start = 0
        for tile, model in zip(TILES, self._models, strict=True):
            last = tile == TILES[-1]
            while len(observations) - start >= (1 if last else tile):
                part = observations[start : start + tile]
                policy_logits, value = model(np.ascontiguousarray(pad(part, tile)))
                parts.append((policy_logits[: len(part)], value[: len(part)]))
                start += len(part)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([logits for logits, _ in parts]), np.concatenate([value for _, value in parts])

    def with_weights(self, network: nn.Module) -> OpenVINOEngine:
        return self.at(self.precision, network)

    def at(self, precision: Precision, network: nn.Module) -> OpenVINOEngine:
        """The same in one or the other precision with other weights; the network is not converted again."""
        other = object.__new__(OpenVINOEngine)
        other.precision, other._template = precision, self._template
        other._load(network)
        return other

    def _load(self, network: nn.Module) -> None:
        frozen = freeze(network, torch.device("cpu"), torch.float32)
        weights = [tensor.detach().float().cpu().numpy() for tensor in _tensors(frozen).values()]
        self._models = [_Tile(self._template, weights, tile, self.precision) for tile in TILES]


class _Tile:
    """The network for batches of one size."""

    def __init__(self, template: Any, weights: list[Floats], size: int, precision: Precision) -> None:
        import openvino
        from openvino import opset13

        model = template.clone()
        observations, *parameters = model.get_parameters()
        for parameter, weight in zip(parameters, weights, strict=True):
            parameter.output(0).replace(opset13.constant(np.ascontiguousarray(weight)).output(0))
            model.remove_parameter(parameter)
        model.reshape([size, *list(observations.get_partial_shape())[1:]])
        threads = torch.get_num_threads()
        streams = max(1, min(MAX_STREAMS, usable_cores() // threads))
        self._model = _core().compile_model(
            model,
            "CPU",
            {
                "INFERENCE_PRECISION_HINT": getattr(openvino.Type, TYPES[precision]),
                "INFERENCE_NUM_THREADS": threads * streams,
                "NUM_STREAMS": streams,
                "ENABLE_CPU_PINNING": False,  # others are on the machine too
            },
        )
        self._idle: deque[Any] = deque()  # requests that no thread uses at the moment

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """[size, A] and [size] of [size, H, W, C]; a request is one thread's for the time of the call."""
        try:
            request = self._idle.pop()
        except IndexError:
            request = self._model.create_infer_request()
        try:
            found = request.infer([observations], share_inputs=True, share_outputs=False)
            return found[0], found[1]
        finally:
            self._idle.append(request)


def require_openvino(device: torch.device) -> None:
    """Raise EngineError unless OpenVINO is installed and the device is the processor."""
    if device.type != "cpu":
        raise EngineError(f"device.engine: openvino computes on the cpu, not on {device.type}")
    try:
        import openvino  # noqa: F401
    except ImportError as error:
        raise EngineError(
            'device.engine: openvino is not installed; pip install "stonezoo[openvino]", or use device.engine: auto'
        ) from error


@cache
def _core() -> Any:
    import openvino

    return openvino.Core()


def _convert(network: nn.Module, example: Floats) -> Any:
    """An OpenVINO model whose inputs are the observations [B, H, W, C] and then the tensors of `_tensors`.

    By way of the frontend: `openvino.convert_model` does the same and reports to its maker.
    """
    from openvino import PartialShape
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    weights = tuple(tensor.detach() for tensor in _tensors(network).values())
    wrapper = _WeightsAsInputs(copy.deepcopy(network))
    observations = torch.from_numpy(pad(example[:2], 2))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, of tracing; whether the result is right is measured
        decoder = TorchScriptPythonDecoder(wrapper, example_input=(observations, *weights))
    frontend = FrontEndManager().load_by_framework("pytorch")
    model = frontend.convert(frontend.load(decoder))
    for parameter, shape in zip(
        model.get_parameters(), [(-1, *example.shape[1:]), *(weight.shape for weight in weights)], strict=True
    ):
        parameter.set_partial_shape(PartialShape(list(shape)))
    model.validate_nodes_and_infer_types()
    return model


class _WeightsAsInputs(nn.Module):
    """A network that takes its weights as arguments (torch's own functional_call cannot be traced)."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self._places = []  # a module and the name of its tensor
        for name in _tensors(network):
            path, _, leaf = name.rpartition(".")
            module = network.get_submodule(path)
            (module._parameters if leaf in module._parameters else module._buffers).pop(leaf)
            self._places.append((module, leaf))

    def forward(self, observations: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        for (module, leaf), weight in zip(self._places, weights, strict=True):
            module.__dict__[leaf] = weight
        output = self.network(observations)
        return output.policy_logits, output.value


def _tensors(network: nn.Module) -> dict[str, Tensor]:
    """What a change of weights changes, by name; tensors of other types stay inside the converted network."""
    return {name: tensor for name, tensor in network.state_dict().items() if tensor.is_floating_point()}
