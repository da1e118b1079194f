"""From YAML to a checked configuration and back.

An unknown key, a wrong type or a value out of range is a `ConfigError` of one line that names the file and the
key's path (`learner.lrr`).
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from jsonargparse import ArgumentParser

from stonezero.config.fields import LIMITS, Config

Scalar = int | float | bool | str
Limits = Mapping[str, tuple[float, float]]  # by a number's path: the lowest and the highest value accepted
C = TypeVar("C")  # a frozen dataclass of fields and further dataclasses

OVERRIDE_PREFIX = "--set."
# Sections that configs of one command alone have.
COMMANDS = {
    **dict.fromkeys(("search", "selfplay", "replay"), "train"),
    **dict.fromkeys(("ppo", "opponents"), "train-sb3"),
}


class ConfigError(ValueError):
    """A configuration that cannot be used; the message is one line with the source and the key's path."""


def load_config(path_or_name: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a configuration file and check it.

    `path_or_name` is a path, or the name of a configuration that ships (`rive/quickstart`). `overrides` are the
    command line's `--set.some.field value` (or `--set.some.field=value`, or `some.field=value`), the last one wins.

    Raises ConfigError.
    """
    config = load_fields(Config, LIMITS, path_or_name, overrides)
    _check_together(config, str(_find(path_or_name)))
    return config


def load_fields(cls: type[C], limits: Limits, path_or_name: str | Path, overrides: Sequence[str] = ()) -> C:
    """As `load_config`, into another dataclass than `Config`; only types and `limits` are checked."""
    path = _find(path_or_name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    return parse_fields(cls, limits, _read_yaml(text, str(path)), overrides, str(path))


def parse_config(mapping: Mapping[str, Any], overrides: Sequence[str] = (), source: str = "config") -> Config:
    """The checked configuration of a nested mapping such as YAML gives, with `overrides` as for `load_config`.

    Raises ConfigError, whose message starts with `source`.
    """
    config = parse_fields(Config, LIMITS, mapping, overrides, source)
    _check_together(config, source)
    return config


def parse_fields(
    cls: type[C], limits: Limits, mapping: Mapping[str, Any], overrides: Sequence[str] = (), source: str = "config"
) -> C:
    """As `parse_config`, into another dataclass than `Config`; only types and `limits` are checked."""
    tree = _plain(mapping, source)
    for path, value in _read_overrides(overrides):
        _set(tree, path, value)
    _expand_network(tree)
    _check_keys(cls, tree, source, "")
    config: C = _build(cls, _check_types(cls, tree, source))
    _check_values(config, limits, source)
    return config


def dump_config(config: Any) -> str:
    """The resolved configuration as YAML, every key written; parsed, it gives an equal one."""
    return yaml.safe_dump(_to_plain(config), sort_keys=False, allow_unicode=True, width=120)


def flatten_config(config: Any) -> dict[str, Scalar]:
    """Every leaf by its path (`learner.lr`), as a number, a bool or text: what TensorBoard takes as hyperparameters."""
    flat: dict[str, Scalar] = {}

    def visit(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                visit(f"{prefix}.{key}" if prefix else str(key), item)
        else:
            flat[prefix] = value if isinstance(value, int | float | str) else str(value)

    visit("", _to_plain(config))
    return flat


def _find(path_or_name: str | Path) -> Path:
    path = Path(path_or_name)
    if path.is_file():
        return path
    from stonezero.resources import find_config

    try:
        return Path(find_config(str(path_or_name)))
    except (ValueError, OSError) as error:
        raise ConfigError(" ".join(str(error).split())) from error


class _Loader(yaml.SafeLoader):
    """YAML in which 3e-4 is a number, as in YAML 1.2, and a key that stands twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"), list("-+.0123456789")
)


def _read_yaml(text: str, source: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)  # a SafeLoader
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise ConfigError(f"{source}: not YAML: {' '.join(str(error).split())}") from error


def _plain(value: Any, source: str) -> dict[str, Any]:
    """A copy of the mapping down to its leaves, its keys checked to be text."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: expected keys with values, such as `game: {{name: rive}}`, got {value!r}")

    def copy(item: Any, path: str) -> Any:
        if isinstance(item, Mapping):
            for key in item:
                if not isinstance(key, str):
                    raise ConfigError(f"{source}: {path}{key!r}: a key must be text")
            return {key: copy(inner, f"{path}{key}.") for key, inner in item.items()}
        return item

    result: dict[str, Any] = copy(value, "")
    return result


def _read_overrides(overrides: Sequence[str]) -> list[tuple[list[str], Any]]:
    """`--set.a.b value`, `--set.a.b=value` and `a.b=value` as (path, value) pairs, values read as YAML."""
    result: list[tuple[list[str], Any]] = []
    words = iter(overrides)
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            if not word.startswith(OVERRIDE_PREFIX):
                raise ConfigError(f"{word}: unknown argument; a setting is changed by --set.some.field value")
            following = next(words, None)
            if following is None:
                raise ConfigError(f"{word}: a value must follow")
            text = following
        path = name.removeprefix(OVERRIDE_PREFIX).split(".")
        if (name.startswith("-") and not name.startswith(OVERRIDE_PREFIX)) or not all(path):
            raise ConfigError(f"{word}: unknown argument; a setting is changed by --set.some.field value")
        result.append((path, _read_yaml(text, name)))
    return result


def _set(tree: dict[str, Any], path: list[str], value: Any) -> None:
    if path[0] == "network":
        _expand_network(tree)
    for key in path[:-1]:
        inner = tree.get(key)
        if not isinstance(inner, dict):
            inner = tree[key] = {}
        tree = inner
    tree[path[-1]] = value


def _expand_network(tree: dict[str, Any]) -> None:
    """`network: tiny` and `network: module:Class` into their long form."""
    network = tree.get("network")
    if isinstance(network, str):
        tree["network"] = {"module" if ":" in network else "preset": network}


def _check_keys(cls: type, tree: dict[str, Any], source: str, prefix: str) -> None:
    """Refuse keys that no field has, sections that are not mappings, and missing fields."""
    hints = typing.get_type_hints(cls)
    fields = {item.name: item for item in dataclasses.fields(cls)}
    for key in tree:
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1)
            hint = f"did you mean {near[0]}?" if near else f"accepted: {', '.join(fields)}"
            if not prefix and key in COMMANDS:
                hint = f"configs of `stonezero {COMMANDS[key]}` have it"
            raise ConfigError(f"{source}: {prefix}{key}: unknown key; {hint}")
    for key, item in fields.items():
        if dataclasses.is_dataclass(hints[key]):
            if key not in tree and item.default_factory is not dataclasses.MISSING:
                continue
            inner = tree.get(key, {})
            if not isinstance(inner, dict):
                raise ConfigError(f"{source}: {prefix}{key}: expected keys with values, got {inner!r}")
            _check_keys(typing.cast(type, hints[key]), inner, source, f"{prefix}{key}.")
        elif key not in tree:
            if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
                raise ConfigError(f"{source}: {prefix}{key}: missing")
        elif isinstance(tree[key], str) and typing.get_origin(hints[key]) is tuple:
            tree[key] = [part.strip() for part in tree[key].split(",") if part.strip()]
        elif tree[key] is None and typing.get_origin(hints[key]) is tuple:
            raise ConfigError(f"{source}: {prefix}{key}: expected a list of text, got null")
        elif isinstance(tree[key], str) and hints[key] is bool:
            # jsonargparse would take "yes"; YAML has read every real bool already.
            raise ConfigError(f"{source}: {prefix}{key}: expected true or false, got {tree[key]!r}")


def _check_types(cls: type, tree: dict[str, Any], source: str) -> dict[str, Any]:
    """The tree with every value of its field's type and every default filled in."""
    parser = ArgumentParser(exit_on_error=False)
    parser.add_class_arguments(cls, None)
    try:
        result: dict[str, Any] = parser.parse_object(tree).as_dict()
    except Exception as error:  # jsonargparse raises several kinds; each is a fault of the file
        raise ConfigError(f"{source}: {_type_message(cls, str(error), tree)}") from error
    return result


def _type_message(cls: type, message: str, tree: dict[str, Any]) -> str:
    """The words of jsonargparse, several lines, as `path: expected int, got 'many'`."""
    found = re.search(r'Parser key "([^"]+)"', message)
    if found is None:
        return " ".join(message.split())
    path = found.group(1)
    hint: Any = cls
    value: Any = tree
    for key in path.split("."):
        hint = typing.get_type_hints(hint)[key]
        value = value.get(key) if isinstance(value, dict) else value
    own = ", or module:Class for a network of one's own" if path == "network.preset" else ""
    return f"{path}: expected {_type_name(hint)}{own}, got {value!r}"


def _type_name(hint: Any) -> str:
    origin = typing.get_origin(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(str, typing.get_args(hint)))
    if origin is types.UnionType:
        return " or ".join(map(_type_name, typing.get_args(hint)))
    if origin is dict:
        return "keys with numbers or text"
    if origin is tuple:
        return "a list of text"
    names = {int: "an integer", float: "a number", bool: "true or false", str: "text", types.NoneType: "null"}
    return names.get(hint, str(hint))


def _build(cls: type, tree: dict[str, Any]) -> Any:
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for key, value in tree.items():
        if dataclasses.is_dataclass(hints[key]):
            value = _build(typing.cast(type, hints[key]), value)
        elif typing.get_origin(hints[key]) is tuple:
            value = tuple(value)
        values[key] = value
    return cls(**values)


def _check_values(config: Any, limits: Limits, source: str) -> None:
    """Refuse numbers out of range."""
    for path, (low, high) in limits.items():
        value: Any = config
        for key in path.split("."):
            value = getattr(value, key)
        if value is not None and not low <= value <= high:
            bounds = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
            raise ConfigError(f"{source}: {path}: must be {bounds}, got {value!r}")
        if value in (math.inf, -math.inf):
            raise ConfigError(f"{source}: {path}: must be finite, got {value!r}")


def _check_together(config: Config, source: str) -> None:
    """Refuse settings that contradict each other."""
    if config.replay.capacity < config.replay.min_rows:
        raise ConfigError(
            f"{source}: replay.capacity: must be at least replay.min_rows ({config.replay.min_rows}), "
            f"got {config.replay.capacity}"
        )
    if not config.evaluation.opponents:
        raise ConfigError(f"{source}: evaluation.opponents: name at least one player, such as random")
    if config.network.module is not None and not re.fullmatch(r"[\w.]+:\w+", config.network.module):
        raise ConfigError(f"{source}: network.module: expected module:Class, got {config.network.module!r}")
    for key in ("games", "games_while_training"):
        games = getattr(config.evaluation, key)
        if games % 2:
            raise ConfigError(f"{source}: evaluation.{key}: must be even, for games are played in pairs, got {games}")
    limits = (config.loop.iterations, config.loop.max_minutes, config.loop.steps)
    if config.learner.schedule == "cosine" and limits == (None, None, None):
        raise ConfigError(f"{source}: learner.schedule: cosine needs to know how long the run is: a limit in loop")


def _to_plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {item.name: _to_plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_to_plain(item) for item in value]
    return dict(value) if isinstance(value, dict) else value
