"""Imported by the process from which others are forked: it trains once, so that they find everything compiled."""

import tempfile
from pathlib import Path

from tests.stonezero.lost.runs import go_on, new_run

with tempfile.TemporaryDirectory() as folder:
    go_on(new_run(Path(folder) / "run", "loop.iterations=1").path)
