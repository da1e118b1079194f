"""Choosing where torch computes, and how repeatably."""

from __future__ import annotations

import os

import torch

from stonezero.config import DeviceConfig

CUBLAS_WORKSPACE = ":4096:8"  # cuBLAS is deterministic with this workspace only (its manual, "Reproducibility")


def prepare_device(config: DeviceConfig, deterministic: bool = False, sharers: int = 1) -> torch.device:
    """The device that a run computes on; sets torch's threads and determinism for the whole process.

    Where several threads call torch at once, `sharers` of them, each gets its share of the cores unless the
    configuration says otherwise. Raises ValueError when cuda is asked for and there is none.
    """
    if config.kind == "cuda" and not torch.cuda.is_available():
        raise ValueError("device.kind: cuda is asked for, but torch finds none; use auto or cpu")
    if deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", CUBLAS_WORKSPACE)
        torch.set_num_threads(1)
    elif config.threads:
        torch.set_num_threads(config.threads)
    elif sharers > 1:
        torch.set_num_threads(max(1, usable_cores() // sharers))
    torch.use_deterministic_algorithms(deterministic)
    use_cuda = config.kind != "cpu" and torch.cuda.is_available()
    return torch.device("cuda" if use_cuda else "cpu")


def usable_cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def describe_device(device: torch.device) -> str:
    """One line for the terminal, such as `cpu, 2 threads`."""
    if device.type == "cuda":
        return f"cuda, {torch.cuda.get_device_name(device)}"
    threads = torch.get_num_threads()
    return f"{device.type}, {threads} thread{'' if threads == 1 else 's'}"
