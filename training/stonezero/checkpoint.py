"""Networks on the disk, and the state that training goes on from.

A checkpoint is a folder: `model.safetensors` (weights, and in its metadata what they belong to), `config.yaml` (the
run's resolved configuration) and `card.md` (for people). Training state lives apart, in a file of the run.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from stonezero.config import DENSE, Config, ConfigError, dump_config, load_config
from stonezero.networks import NetworkSpec, build_network
from stonezero.run import write_atomic, write_folder_atomic
from stonezoo.state import Game

FORMAT = "stonezero/1"
_STATE_END = re.compile(rb"\nstonezero training state, sha256 ([0-9a-f]{64})\n\Z")
_STATE_END_LENGTH = 100  # bytes, more than it has
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.yaml", "card.md"
_NAME = re.compile(r"step-(\d{8})")


class CheckpointError(ValueError):
    """A checkpoint or training state that cannot be used; the message names the file and the remedy."""


@dataclass(frozen=True)
class Checkpoint:
    """A network read from a checkpoint."""

    network: nn.Module  # in evaluation mode, float32, on the processor
    config: Config  # of the run that trained it
    spec: NetworkSpec  # of the game that it was built for here
    rules_id: str
    version: int  # learner steps
    path: Path


def save_checkpoint(
    path: str | Path,
    weights: Mapping[str, Tensor],
    *,
    config: Config,
    spec: NetworkSpec,
    rules_id: str,
    version: int,
    card: str | None = None,
) -> Path:
    """Write a checkpoint's folder, whole or not at all; one of the same name is replaced. Returns the path."""
    path = Path(path)
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in weights.items()}
    metadata = {
        "format": FORMAT,
        "rules_id": rules_id,
        "version": str(version),
        "spec": json.dumps(spec.to_dict()),
        "sha256": _digest_weights(tensors),
    }

    def fill(folder: Path) -> None:
        (folder / WEIGHTS).write_bytes(safetensors.torch.save(tensors, metadata))
        (folder / CONFIG).write_text(dump_config(config), encoding="utf-8")
        (folder / CARD).write_text(card or default_card(config, rules_id, version), encoding="utf-8")

    write_folder_atomic(path, fill)
    return path


def load_checkpoint(path: str | Path, game: Any = None, rules_id: str | None = None) -> Checkpoint:
    """Read a checkpoint; `game`, a `stonezoo.Game` of any size of the same rules, is what it shall play.

    Without `game` the network is built for the size it was trained on, and `rules_id` alone is compared.

    Raises CheckpointError: no checkpoint there, torn, under other rules (both ids are named), or of other planes.
    """
    path = Path(path)
    metadata = _read_metadata(path)
    try:
        config = load_config(path / CONFIG)
        spec = NetworkSpec.from_dict(json.loads(metadata["spec"]))
        version = int(metadata["version"])
        own_rules_id = metadata["rules_id"]
    except (ConfigError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: not a whole checkpoint: {error}") from error
    expected = rules_id if game is None else str(game.rules_id)
    if expected is not None and expected != own_rules_id:
        raise CheckpointError(f"{path}: trained under the rules {own_rules_id}, but the game here has {expected}")
    if game is not None:
        here = NetworkSpec.from_game(game)
        if (here.observation_shape[2], here.policy_shape[0]) != (spec.observation_shape[2], spec.policy_shape[0]):
            raise CheckpointError(
                f"{path}: trained on {spec.observation_shape[2]} planes and {spec.policy_shape[0]} action planes, "
                f"but the game here has {here.observation_shape[2]} and {here.policy_shape[0]}"
            )
        if config.network.module is None and config.network.preset == DENSE:
            _check_size(path, spec, here)
        spec = here
    try:
        weights = safetensors.torch.load_file(path / WEIGHTS)
        # Checkpoints of the first days have none.
        if "sha256" in metadata and metadata["sha256"] != _digest_weights(weights):
            raise ValueError(f"{WEIGHTS} is not what was written: its digest differs")
        network = build_network(config.network, spec, seed=0)
        _load_weights(network, weights, config, spec)
    except (safetensors.SafetensorError, RuntimeError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: its weights do not fit: {' '.join(str(error).split())}") from error
    return Checkpoint(network.eval(), config, spec, own_rules_id, version, path)


def initial_weights(path: str | Path, config: Config, game: Game) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The weights with which a run of `config` in `game` begins, taken from a checkpoint of any size of board.

    Where only the run has an owner head, that is fresh; where only the checkpoint has one, it is left behind.

    Returns:
        The weights by name, and for the run's folder what they are: checkpoint, version, rules_id and sha256.

    Raises CheckpointError as `load_checkpoint`, and when the two networks differ in more than that head.
    """
    start = load_checkpoint(path, game)
    theirs, mine = start.config.network, config.network
    found = start.network.state_dict()
    weights = build_network(mine, start.spec, seed=config.seed).state_dict()
    common = [name for name in weights if name in found]
    alike = theirs.module == mine.module and all(weights[name].shape == found[name].shape for name in common)
    if not alike or (theirs.owner_head == mine.owner_head and not len(common) == len(found) == len(weights)):
        settings = " ".join(
            f"--set.network.{name} {'null' if value is None else value}"
            for name, value in vars(theirs).items()
            if value != getattr(mine, name)
        )
        raise CheckpointError(
            f"{path}: its network is not that of the configuration; train one like it with {settings or 'its own code'}"
        )
    weights |= {name: found[name] for name in common}
    source = {"checkpoint": str(start.path), "version": start.version, "rules_id": start.rules_id}
    return weights, {**source, "sha256": _digest_weights(found)}


def checkpoint_name(version: int) -> str:
    """The folder's name for learner step `version`; names sort as their steps do."""
    return f"step-{version:08d}"


def latest_checkpoint(folder: str | Path) -> Path | None:
    """The checkpoint of the highest step in a run's folder of checkpoints, or None."""
    found = [path for path in Path(folder).iterdir() if _NAME.fullmatch(path.name) and (path / WEIGHTS).is_file()]
    return max(found, key=lambda path: path.name, default=None)


def default_card(config: Config, rules_id: str, version: int) -> str:
    """What there is to say of any checkpoint, as Markdown."""
    parameters = ", ".join(f"{key}={value}" for key, value in config.game.parameters.items())
    network = config.network.module or config.network.preset
    return (
        f"# {config.game.name}{f' ({parameters})' if parameters else ''}, learner step {version}\n\n"
        f"- rules: `{rules_id}`\n- network: `{network}`\n- search in training: {config.search.algorithm}, "
        f"{config.search.num_simulations} simulations\n- seed: {config.seed}\n- trained by `stonezero train` with "
        f"the configuration in `{CONFIG}`\n"
    )


def save_training_state(path: str | Path, state: Mapping[str, Any]) -> None:
    """Write tensors, numbers, texts, lists and dicts to one file with a digest, whole or not at all.

    Raises ValueError when something else is in the state: `load_training_state` would refuse it.
    """
    write_atomic(path, pack_training_state(state))


def pack_training_state(state: Mapping[str, Any]) -> bytes:
    """The bytes that `save_training_state` writes: torch's own format, then a line with its digest."""
    _check_plain(state, "state")
    file = io.BytesIO()
    torch.save(dict(state), file)
    content = file.getvalue()
    # torch does not compare the checksums in its own format.
    return content + f"\nstonezero training state, sha256 {hashlib.sha256(content).hexdigest()}\n".encode()


def load_training_state(path: str | Path) -> dict[str, Any]:
    """What `save_training_state` wrote, on the processor. No code in the file is run.

    Raises CheckpointError when the file is missing or torn.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path}: not a whole training state: {error.strerror}") from error
    return unpack_training_state(data, str(path))


def unpack_training_state(data: bytes, source: str) -> dict[str, Any]:
    """What `pack_training_state` packed, on the processor. CheckpointError, which names `source`, when it is torn."""
    end = _STATE_END.search(data, max(0, len(data) - _STATE_END_LENGTH))
    if end is None:
        raise CheckpointError(f"{source}: not a whole training state: it has no digest at its end")
    content = data[: end.start()]
    if hashlib.sha256(content).hexdigest() != end.group(1).decode():
        raise CheckpointError(f"{source}: not a whole training state: its digest differs")
    try:
        state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, KeyError, pickle.UnpicklingError) as error:
        raise CheckpointError(f"{source}: not a whole training state: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(state, dict):
        raise CheckpointError(f"{source}: not a training state: it holds a {type(state).__name__}")
    return state


def _read_metadata(path: Path) -> dict[str, str]:
    file = path / WEIGHTS
    if not file.is_file():
        raise CheckpointError(f"{path}: no checkpoint: there is no {WEIGHTS} in it")
    try:
        with safetensors.safe_open(file, "pt") as opened:
            metadata: dict[str, str] = opened.metadata() or {}
    except (safetensors.SafetensorError, OSError) as error:
        raise CheckpointError(f"{file}: torn or not safetensors: {error}") from error
    if metadata.get("format") != FORMAT:
        raise CheckpointError(f"{file}: its format is {metadata.get('format')!r}, this version reads {FORMAT!r}")
    return metadata


def _check_size(path: Path, trained: NetworkSpec, here: NetworkSpec) -> None:
    """Raises CheckpointError for another size of board, though the weights may fit: 3 x 4 and 4 x 3 have 12 places."""
    (height, width, _), (own_height, own_width, _) = here.observation_shape, trained.observation_shape
    if (height, width) != (own_height, own_width):
        raise CheckpointError(
            f"{path}: a dense network plays only the size of board that it was trained on, {own_height} x {own_width}, "
            f"not {height} x {width}; convolutions play every size"
        )


def _load_weights(network: nn.Module, weights: Mapping[str, Tensor], config: Config, spec: NetworkSpec) -> None:
    """Raises ValueError, which says how the board matters, when the weights are not those of the network."""
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        if config.network.module is None:
            raise
        height, width, _ = spec.observation_shape
        raise ValueError(
            f"those of {config.network.module} do not fit a board of {height} x {width}; either the class has changed, "
            f"or it plays only the size that it was trained on: {error}"
        ) from error


def _digest_weights(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of names, types, shapes and values, which safetensors does not check."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _check_plain(value: Any, where: str) -> None:
    if type(value) in (int, float, bool, str, bytes, type(None)) or isinstance(value, Tensor):
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_plain(key, where)
            _check_plain(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_plain(item, f"{where}[{index}]")
    else:
        raise ValueError(f"{where}: a {type(value).__name__} cannot be stored in a training state")
