"""The checks of the contract of networks, one by one.

A check looks at a network with random weights, on positions of random games, and yields a `Fault` with its remedy.
"""

from __future__ import annotations

import copy
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from stonezero.config import NetworkConfig
from stonezero.networks.build import make_network
from stonezero.networks.outputs import Fault, output_faults
from stonezero.networks.spec import NetworkOutput, NetworkSpec

BATCH_SIZE = 16
TOLERANCE = 1e-4  # of outputs that are computed in batches of other sizes: another order of additions
BF16_TOLERANCE = 0.05  # of probabilities and values, as in `stonezero.evaluator`
LARGE = 20.0  # times the weights, at which a value that nothing bounds leaves its range


@dataclass
class Subject:
    """A network under check."""

    config: NetworkConfig
    spec: NetworkSpec
    also: tuple[NetworkSpec, ...]  # other boards that the same weights are to play
    observations: Tensor  # [N, H, W, C], of random games
    seed: int
    network: nn.Module = field(init=False)
    note: str = ""

    def make(self, spec: NetworkSpec | None = None, seed: int | None = None) -> nn.Module:
        """A new network in evaluation mode, none of whose weights is zero: as after training."""
        seed = self.seed if seed is None else seed
        network = make_network(self.config, spec or self.spec, seed)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in network.parameters():
                fan_in = parameter[0].numel() if parameter.ndim > 1 else 25
                parameter.add_(0.5 * fan_in**-0.5 * torch.randn(parameter.shape, generator=generator))
        return network.eval()


def describe(error: Exception) -> str:
    """The error with the last line of code that it came from."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]} at {frame.filename}:{frame.lineno}"


def _find_outputs(subject: Subject) -> Iterable[Fault]:
    subject.network = subject.make()
    for batch_size in (BATCH_SIZE, 1, 3):
        observations = subject.observations[:batch_size]
        before = observations.clone()
        with torch.no_grad():
            faults = output_faults(subject.network(observations), subject.spec, batch_size, subject.config.owner_head)
        yield from faults
        if faults:
            return
        if not torch.equal(before, observations):
            yield Fault("the network writes into the observations", "work on a copy: observation.clone()")
            return
    large = copy.deepcopy(subject.network)  # training may bring them there
    with torch.no_grad():
        for parameter in large.parameters():
            parameter.mul_(LARGE)
        value = large(subject.observations.clone()).value
    if not bool((value.abs() <= 1).all()):
        yield Fault(
            f"with weights {LARGE:g} times as large a value is {float(value.abs().max()):.3g}",
            "bound it, whatever the weights are: torch.tanh",
        )


def _find_gradients(subject: Subject) -> Iterable[Fault]:
    network = copy.deepcopy(subject.network).train()
    output: NetworkOutput = network(subject.observations)
    generator = torch.Generator().manual_seed(subject.seed)
    parts = [output.policy_logits, output.value]
    if subject.config.owner_head and output.owner is not None:
        parts.append(output.owner)
    loss = torch.stack([(part * torch.randn(part.shape, generator=generator)).sum() for part in parts]).sum()
    if not loss.requires_grad:
        yield Fault("no weight has a part in the outputs", "do not detach them, and use no torch.no_grad in forward")
        return
    loss.backward()  # type: ignore[no-untyped-call]
    for name, parameter in network.named_parameters():
        if not parameter.requires_grad:
            continue
        if parameter.grad is None or not bool(parameter.grad.any()):
            yield Fault(
                f"no gradient reaches {name}",
                "use it, remove it, or say that it is fixed: requires_grad_(False)"
                + ("; a head for the owner belongs there only with config.owner_head" if "owner" in name else ""),
            )
        elif not bool(torch.isfinite(parameter.grad).all()):
            yield Fault(f"the gradient of {name} is not finite", "look for a root or a logarithm of zero in forward")


def _find_randomness(subject: Subject) -> Iterable[Fault]:
    network, observations = subject.network, subject.observations
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    first, second = (_answer(network, observations) for _ in range(2))
    if _distance(first, second) > 0:
        yield Fault(
            "two calls in evaluation mode differ", "dropout and noise must heed self.training; nn.Dropout modules do"
        )
    changed = [name for name, tensor in network.state_dict().items() if not torch.equal(tensor, before[name])]
    if changed:
        yield Fault(
            f"a call in evaluation mode changes {', '.join(changed)}", "change buffers only where self.training is true"
        )
    kept = _attributes(network)  # what a first call may have made once and for all is there by now
    _answer(network, observations.flip(0)[: BATCH_SIZE - 1])
    moved = sorted(name for name, value in _attributes(network).items() if kept.get(name) is not value)
    if moved:
        yield Fault(
            f"a call in evaluation mode stores {', '.join(moved)} in the network",
            "two threads evaluate at once, and would mix what they store there: pass it on as an argument",
        )


def _find_batches(subject: Subject) -> Iterable[Fault]:
    network, one = subject.network, subject.observations[:1]
    others = subject.observations[1:]
    answer = _answer(network, subject.observations)
    turned = NetworkOutput(answer.policy_logits.flip(0), answer.value.flip(0))
    if (moved := _distance(_answer(network, subject.observations.flip(0)), turned)) > TOLERANCE:
        yield Fault(
            f"in evaluation mode a row's output depends on its place in the batch: it moves by {moved:.2g}",
            "treat all rows alike; compute nothing over the batch's axis, 0",
        )
        return
    batches = [torch.cat((one, some[: BATCH_SIZE - 1])) for some in (others, others.flip(0))]
    first, second = (_first_row(_answer(network, batch)) for batch in batches)
    alone = _answer(network, one)
    if _distance(first, second) > 0 or _distance(first, alone) > TOLERANCE:
        yield Fault(
            f"in evaluation mode a row's output depends on the other rows of its batch: it moves by "
            f"{max(_distance(first, second), _distance(first, alone)):.2g}",
            "compute nothing over the batch's axis, 0",
        )
    training = copy.deepcopy(network).train()
    answers = []
    for batch in batches:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(subject.seed)  # the same dropout in both
            answers.append(_first_row(_answer(training, batch)))
    if _distance(answers[0], answers[1]) > 0:
        yield Fault(
            f"in training mode a row's output depends on the other rows of its batch: it moves by "
            f"{_distance(answers[0], answers[1]):.2g}",
            "batch normalisation plays by other statistics than it learns by: take nn.LayerNorm or nn.GroupNorm, which "
            "look at one row, or none",
        )
    elif _distance(answers[0], first) > TOLERANCE:
        subject.note = "training and evaluation mode differ, as with dropout"


def _find_weights(subject: Subject) -> Iterable[Fault]:
    state = subject.network.state_dict()
    odd = [name for name, value in state.items() if not isinstance(value, Tensor)]
    if odd:
        yield Fault(f"state_dict holds what is no tensor: {', '.join(odd)}", "checkpoints keep tensors alone")
        return
    other = subject.make(seed=subject.seed + 1)
    try:
        other.load_state_dict({name: tensor.clone() for name, tensor in state.items()})
    except RuntimeError as error:
        yield Fault(
            f"its own state_dict does not fit a second network: {' '.join(str(error).split())[:300]}",
            "make the same layers for the same (config, spec), whatever the weights are",
        )
        return
    if _distance(_answer(subject.network, subject.observations), _answer(other, subject.observations)) > 0:
        yield Fault(
            "a second network with the same state_dict answers differently: something that matters is not in it",
            "make tensors nn.Parameter or register_buffer, lists of layers nn.ModuleList; draw nothing random in the "
            "constructor that is not a weight",
        )


def _find_copies(subject: Subject) -> Iterable[Fault]:
    network, observations = subject.network, subject.observations
    expected = _answer(network, observations)
    makers: dict[str, Callable[[], nn.Module]] = {
        "copy.deepcopy": lambda: copy.deepcopy(network),
        "pickle": lambda: pickle.loads(pickle.dumps(network)),
    }
    for name, make in makers.items():
        try:
            other = make()
        except Exception as error:
            yield Fault(
                f"{name} of the network raised {describe(error)}",
                "keep nothing in it that cannot be copied, such as a lambda, a lock, an open file or a hook",
            )
            continue
        if _distance(expected, _answer(other, observations)) > 0:
            yield Fault(f"what {name} makes of the network answers differently", "let copies keep all attributes")
        with torch.no_grad():
            for parameter in other.parameters():
                parameter.mul_(1.5)
        if _distance(expected, _answer(network, observations)) > 0:
            yield Fault(
                f"what {name} makes of the network shares its weights with it",
                "do not redefine __deepcopy__ or pickling",
            )
            return


def _find_bf16(subject: Subject) -> Iterable[Fault]:
    """No fault: where bf16 does not work, play computes in fp32."""
    expected = _answer(subject.network, subject.observations)
    remedy = (
        "play will be in fp32: set device.precision: fp32. For bf16 cast observations to the weights' type "
        "(observation.to(self.first.weight.dtype)) and outputs back (.float())"
    )
    try:
        actual = _answer(copy.deepcopy(subject.network).to(torch.bfloat16), subject.observations)
        faults = output_faults(actual, subject.spec, len(subject.observations), subject.config.owner_head)
    except Exception as error:
        subject.note = f"a copy in bf16 raised {describe(error)}; {remedy}"
        return ()
    if faults:
        subject.note = f"in bf16, {faults[0].message}; {remedy}"
    elif (moved := _distance(_as_play_sees(expected), _as_play_sees(actual))) > BF16_TOLERANCE:
        subject.note = (
            f"a copy in bf16 differs by {moved:.2g} with random weights; the evaluator takes it only while "
            f"probabilities and values differ by no more than {BF16_TOLERANCE}"
        )
    return ()


def _find_tracing(subject: Subject) -> Iterable[Fault]:
    """No fault: where tracing does not see all of the network, play computes it as it is, eager."""
    network, observations = subject.network, subject.observations
    expected = _answer(network, observations)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # of branches and sizes that become constants: seen in the answers
            traced = torch.jit.trace(_Parts(network), observations[:3].clone(), check_trace=False)  # type: ignore[no-untyped-call]
            actual = NetworkOutput(*traced(observations.clone()))
        moved = _distance(NetworkOutput(expected.policy_logits, expected.value), actual)
    except Exception as error:
        subject.note = f"it cannot be traced, so that play takes no faster engine: {describe(error)}"
        return ()
    if moved > TOLERANCE:
        subject.note = (
            f"traced on one batch, another batch's outputs move by {moved:.2g}, so that play takes no faster engine: "
            "read sizes off tensor.shape, and let no branch depend on values"
        )
    return ()


class _Parts(nn.Module):
    """The outputs that play uses, as a tuple."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        output: NetworkOutput = self.network(observations)
        return output.policy_logits, output.value


def _attributes(network: nn.Module) -> dict[str, Any]:
    """What hangs on each module beside its parameters, buffers and submodules, by its full name."""
    return {
        f"{prefix}.{name}" if prefix else name: value
        for prefix, module in network.named_modules()
        for name, value in vars(module).items()
        if not name.startswith("_")
    }


def _find_other_boards(subject: Subject) -> Iterable[Fault]:
    if not subject.also:
        subject.note = "not asked for"
    for spec in subject.also:
        height, width, planes = spec.observation_shape
        other = subject.make(spec)
        try:
            other.load_state_dict(subject.network.state_dict())
        except RuntimeError as error:
            yield Fault(
                f"the weights do not fit a board of {height} x {width}: {' '.join(str(error).split())[:200]}",
                "let no weight's shape depend on H, W or the number of actions, and keep tables that do as "
                "register_buffer(..., persistent=False)",
            )
            continue
        observations = torch.rand(3, height, width, planes, generator=torch.Generator().manual_seed(subject.seed))
        observations[..., spec.on_board_plane] = 1.0
        yield from output_faults(_answer(other, observations), spec, 3, subject.config.owner_head)


def _answer(network: nn.Module, observations: Tensor) -> NetworkOutput:
    with torch.no_grad():
        output: NetworkOutput = network(observations.clone())
    return output


def _first_row(output: NetworkOutput) -> NetworkOutput:
    owner = None if output.owner is None else output.owner[:1]
    return NetworkOutput(output.policy_logits[:1], output.value[:1], owner)


def _as_play_sees(output: NetworkOutput) -> NetworkOutput:
    return NetworkOutput(output.policy_logits.softmax(1), output.value)


def _distance(one: NetworkOutput, two: NetworkOutput) -> float:
    """The largest difference of any output, relative to the largest output where that is above 1."""
    worst = 0.0
    for a, b in zip(one, two, strict=True):
        if a is not None and b is not None:
            worst = max(worst, float((a - b).abs().max()) / max(1.0, float(a.abs().max())))
    return worst


class Check(NamedTuple):
    """One look at a network."""

    name: str
    summary: str  # what holds when there is no fault
    find: Callable[[Subject], Iterable[Fault]]


CHECKS: tuple[Check, ...] = (
    Check("outputs", "it is made as Class(config, spec) and its outputs have their shapes and ranges", _find_outputs),
    Check("gradients", "a finite gradient reaches every weight", _find_gradients),
    Check(
        "repeatable", "in evaluation mode the same batch gives the same outputs, and nothing changes", _find_randomness
    ),
    Check("batches", "a row's outputs do not depend on the other rows, in play and in training", _find_batches),
    Check("weights", "state_dict is all there is: a second network with it answers alike", _find_weights),
    Check("copies", "copies and pickles answer alike and share nothing", _find_copies),
    Check("bf16", "a copy in bf16 works, or it is said what play does without", _find_bf16),
    Check("tracing", "faster engines see all of it, or it is said that play does without them", _find_tracing),
    Check("other boards", "the same weights play boards of other sizes, where asked for", _find_other_boards),
)
