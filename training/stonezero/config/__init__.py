"""Configuration of a training run: frozen dataclasses, read from YAML and checked before anything starts."""

from stonezero.config.fields import (
    PRESETS,
    Config,
    DeviceConfig,
    EvaluationConfig,
    GameConfig,
    LearnerConfig,
    LoopConfig,
    NetworkConfig,
    ReplayConfig,
    SearchConfig,
    SelfplayConfig,
)
from stonezero.config.reading import (
    ConfigError,
    Limits,
    Scalar,
    dump_config,
    flatten_config,
    load_config,
    load_fields,
    parse_config,
    parse_fields,
)

__all__ = [
    "PRESETS",
    "Config",
    "ConfigError",
    "DeviceConfig",
    "EvaluationConfig",
    "GameConfig",
    "LearnerConfig",
    "Limits",
    "LoopConfig",
    "NetworkConfig",
    "ReplayConfig",
    "Scalar",
    "SearchConfig",
    "SelfplayConfig",
    "dump_config",
    "flatten_config",
    "load_config",
    "load_fields",
    "parse_config",
    "parse_fields",
]
