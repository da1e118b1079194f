"""What a run writes for TensorBoard."""

from __future__ import annotations

import threading
import time
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
        """The run's hyperparameters, with the scalars that the table shows beside them; later ones replace them."""

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

        _await_new_second(Path(folder))
        self._quiet = _QuietThread()
        try:
            self._writer: Any = SummaryWriter(str(folder), purge_step=purge_step)
        except BaseException:
            self._quiet.end()
            raise

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
        try:
            self._writer.close()
        finally:
            self._quiet.end()


def _await_new_second(folder: Path) -> None:
    """Wait until no file of events there is of this second.

    They are read in the order of their names, which begin with the second: of two of one second the later one might be
    read first, and what it hides would be points of its own.
    """
    taken = {path.name.split(".")[3] for path in folder.glob("events.out.tfevents.*.*")}
    while str(int(time.time())) in taken:
        time.sleep(0.02)


class _QuietThread:
    """Keeps the traceback of TensorBoard's own thread off the terminal: `flush` and `scalar` raise the same error."""

    def __init__(self) -> None:
        self._before = threading.excepthook
        self._own = self._show  # one bound method, to be known again
        threading.excepthook = self._own

    def _show(self, found: threading.ExceptHookArgs) -> None:
        ours = type(found.thread).__module__.startswith("tensorboard.")
        if not (ours and isinstance(found.exc_value, OSError)):
            self._before(found)

    def end(self) -> None:
        """Put back what was there before, unless somebody else has put another in the meantime."""
        if threading.excepthook == self._own:
            threading.excepthook = self._before


def last_point(folder: Path, name: str) -> int | None:
    """The step of the last point of a scalar in a folder of events, as TensorBoard shows it; None without any."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    kept = {"scalars": 1, "images": 1, "histograms": 1, "tensors": 1, "compressedHistograms": 1}
    events: Any = EventAccumulator(str(folder), size_guidance=kept)
    events.Reload()
    points = events.Scalars(name) if name in events.Tags()["scalars"] else []
    return int(points[-1].step) if points else None
