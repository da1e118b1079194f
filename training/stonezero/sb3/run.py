"""The folder of a run of MaskablePPO."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from stonezero.run import RunFolder
from stonezero.sb3.config import Sb3Config, load_sb3_config


class Sb3RunFolder(RunFolder):
    """As the folder of any run. In `checkpoints` a zip of stable-baselines3 lies beside each checkpoint's folder."""

    kind: ClassVar[str] = "train-sb3"
    config: Sb3Config  # type: ignore[assignment]

    @classmethod
    def read_config(cls, path: Path) -> Any:
        return load_sb3_config(path)
