"""What a run writes for TensorBoard."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stonezero.config import Scalar

_FILE = re.compile(r"events\.out\.tfevents\.(\d+)(\..+)")


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
    trainer wrote from there on is hidden, so no step stands twice. Of what it wrote at the step before, a part may be
    there; those scalars are not written again.
    """

    def __init__(self, folder: str | Path, purge_step: int | None = None) -> None:
        from torch.utils.tensorboard import SummaryWriter  # takes a second to import

        self._folder = Path(folder)
        self._last_step = None if purge_step is None else purge_step - 1  # that may be there already
        self._there: frozenset[str] | None = None  # the scalars that are; None before anybody asks
        _await_new_second(self._folder)
        self._quiet = _QuietThread()
        try:
            self._writer: Any = SummaryWriter(str(folder), purge_step=purge_step)
        except BaseException:
            self._quiet.end()
            raise

    def scalar(self, name: str, value: float, step: int) -> None:
        if step == self._last_step:
            if self._there is None:
                self._there = scalars_at(self._folder, step)
            if name in self._there:
                return
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
    """Wait until no file of events there is of this second, and name those of a later one anew.

    They are read in the order of their names, which begin with the second: of two of one second the later one might be
    read first, and what it hides would be points of its own. So it would be with those of a clock that was put back:
    they get the seconds just before this one, in their order.
    """
    matches = filter(None, (_FILE.fullmatch(path.name) for path in folder.glob("*")))
    files = sorted((int(match.group(1)), match.group(), match.group(2)) for match in matches)
    late = [file for file in files if file[0] > time.time()]
    taken = max((second for second, _, _ in files[: len(files) - len(late)]), default=0)
    while int(time.time()) <= taken + len(late):
        time.sleep(0.02)
    for second, (_, name, rest) in enumerate(late, int(time.time()) - len(late)):
        (folder / name).rename(folder / f"events.out.tfevents.{second:010d}{rest}")


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


def scalars_at(folder: Path, step: int) -> frozenset[str]:
    """The scalars whose last point in a folder of events, as TensorBoard shows it, is at `step`."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    kept = {"scalars": 1, "images": 1, "histograms": 1, "tensors": 1, "compressedHistograms": 1}
    events: Any = EventAccumulator(str(folder), size_guidance=kept)
    events.Reload()
    return frozenset(name for name in events.Tags()["scalars"] if events.Scalars(name)[-1].step == step)
