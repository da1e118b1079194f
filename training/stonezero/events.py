"""What a run writes for TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stonezero.config import Scalar


class EventWriter(Protocol):
    """Where measurements go. `step` is the learner's step."""

    def scalar(self, name: str, value: float, step: int) -> None:
        """One number, under a name such as `learner/policy_loss`."""

    def scalars(self, values: Mapping[str, float], step: int, prefix: str = "") -> None:
        """Several numbers; their names begin with `prefix`."""

    def histogram(self, name: str, values: ArrayLike, step: int) -> None:
        """The distribution of some values."""

    def text(self, name: str, markdown: str, step: int) -> None:
        """Text as Markdown."""

    def image(self, name: str, image: NDArray[np.uint8], step: int) -> None:
        """A picture [H, W, 3]."""

    def hparams(self, values: Mapping[str, Scalar], metrics: Mapping[str, float]) -> None:
        """The run's hyperparameters, once, with the scalars that the table shows beside them."""

    def flush(self) -> None:
        """Bring everything to the disk."""

    def close(self) -> None:
        """Flush; nothing is written after it."""


class NullWriter:
    """Writes nothing, keeps the scalars in `written`."""

    def __init__(self) -> None:
        self.written: list[tuple[str, float, int]] = []

    def scalar(self, name: str, value: float, step: int) -> None:
        self.written.append((name, value, step))

    def scalars(self, values: Mapping[str, float], step: int, prefix: str = "") -> None:
        for name, value in values.items():
            self.scalar(prefix + name, value, step)

    def histogram(self, name: str, values: ArrayLike, step: int) -> None: ...

    def text(self, name: str, markdown: str, step: int) -> None: ...

    def image(self, name: str, image: NDArray[np.uint8], step: int) -> None: ...

    def hparams(self, values: Mapping[str, Scalar], metrics: Mapping[str, float]) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class TensorBoardWriter:
    """Writes event files into a folder.

    A run that is resumed opens the folder again with `purge_step`, the first step that it will write: what a killed
    trainer wrote from there on is hidden, so no step stands twice.
    """

    def __init__(self, folder: str | Path, purge_step: int | None = None) -> None:
        from torch.utils.tensorboard import SummaryWriter  # takes a second to import

        self._writer: Any = SummaryWriter(str(folder), purge_step=purge_step)

    def scalar(self, name: str, value: float, step: int) -> None:
        self._writer.add_scalar(name, float(value), step)

    def scalars(self, values: Mapping[str, float], step: int, prefix: str = "") -> None:
        for name, value in values.items():
            self.scalar(prefix + name, value, step)

    def histogram(self, name: str, values: ArrayLike, step: int) -> None:
        array = np.asarray(values)
        if array.size:
            self._writer.add_histogram(name, array, step)

    def text(self, name: str, markdown: str, step: int) -> None:
        self._writer.add_text(name, markdown, step)

    def image(self, name: str, image: NDArray[np.uint8], step: int) -> None:
        self._writer.add_image(name, image, step, dataformats="HWC")

    def hparams(self, values: Mapping[str, Scalar], metrics: Mapping[str, float]) -> None:
        # SummaryWriter.add_hparams would open a second event file in a folder of its own, which TensorBoard lists as
        # another run, and would write the metrics as points. Its summaries alone, in this file, do neither.
        from torch.utils.tensorboard.summary import hparams

        for summary in hparams(dict(values), {key: float(value) for key, value in metrics.items()}):  # type: ignore[no-untyped-call]
            self._writer._get_file_writer().add_summary(summary)

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()
