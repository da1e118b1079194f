"""Configs and checkpoints that ship with StoneZoo, found by name from any folder."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_REPOSITORY = _PACKAGE.parents[1]


def find_config(name: str | Path) -> Path:
    """The YAML file that `name` stands for.

    A path to a file is taken as it is. Anything else is looked up among the configs that ship, with or without the
    leading `configs/` and the ending `.yaml`: `rive/quickstart` is `configs/rive/quickstart.yaml`.

    Raises FileNotFoundError, which lists what ships, when there is no such config.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path
    root = shipped("configs")
    key = _key(name, "configs")
    for candidate in (root / key, root / f"{key}.yaml"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(_message("config", name, list_configs()))


def find_checkpoint(name: str | Path) -> Path:
    """The folder that `name` stands for: a checkpoint holds `model.safetensors`, `config.yaml` and `card.md`.

    A path to such a folder is taken as it is. Anything else is looked up among the checkpoints that ship, with or
    without the leading `checkpoints/`; the last part alone (`rive-4`) does when no two games share it.

    Raises FileNotFoundError, which lists what ships, when there is no such checkpoint or more than one.
    """
    path = Path(name).expanduser()
    if (path / "model.safetensors").is_file():
        return path
    root = shipped("checkpoints")
    key = _key(name, "checkpoints")
    available = list_checkpoints()
    if key in available:
        return root / key
    namesakes = [other for other in available if other.rpartition("/")[2] == key]
    if len(namesakes) == 1:
        return root / namesakes[0]
    raise FileNotFoundError(_message("checkpoint", name, namesakes or available))


def list_configs() -> list[str]:
    """The names of the configs that ship, such as `rive/quickstart`, sorted."""
    root = shipped("configs")
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.yaml"))


def list_checkpoints() -> list[str]:
    """The names of the checkpoints that ship, such as `rive/rive-4`, sorted."""
    root = shipped("checkpoints")
    return sorted(path.parent.relative_to(root).as_posix() for path in root.rglob("model.safetensors"))


def shipped(kind: str) -> Path:
    """The folder of what ships: inside the package when installed from a wheel, else at the top of the repository."""
    packaged = _PACKAGE / "_data" / kind
    return packaged if packaged.is_dir() else _REPOSITORY / kind


def _key(name: str | Path, kind: str) -> str:
    return Path(name).as_posix().removeprefix("./").removeprefix(f"{kind}/")


def _message(kind: str, name: str | Path, available: list[str]) -> str:
    listed = ", ".join(available) if available else "none"
    return f"no {kind} {str(name)!r}: it is neither a path nor one that ships ({listed})"
