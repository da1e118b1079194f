"""How much memory a solver may take."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_LIMIT = 6 << 30
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class MemoryLimitError(ValueError):
    """The task needs more memory than it was allowed; the message names both."""


def available_memory() -> int:
    """Returns the bytes that can be taken without swapping, as far as this machine says."""
    amounts = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        amounts += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        if limit.isdigit():
            amounts.append(int(limit) - int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    if not amounts and hasattr(os, "sysconf"):
        amounts.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(amounts, default=2 * DEFAULT_LIMIT))


def default_memory() -> int:
    """Returns the limit where nobody gave one: 6 GB, or half of what is available if that is less."""
    return min(DEFAULT_LIMIT, available_memory() // 2)


def read_memory(text: str) -> int:
    """Returns the bytes of a text such as `4G`, `512M` or `1000000`.

    Raises:
        ValueError: it is no such text.
    """
    number = text.strip().upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in UNITS else ""
    try:
        size = float(number.removesuffix(unit) if unit else number) * UNITS[unit] if number.isascii() else 0.0
    except ValueError:
        size = 0.0
    if not 1.0 <= size < float("inf"):
        raise ValueError(f"{text!r} is no amount of memory, such as 4G or 500M")
    return int(size)


def show_memory(size: float) -> str:
    """Returns bytes in words, such as `3.2 GB`."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"
