"""Choosing where torch computes, and how repeatably."""

from __future__ import annotations

import os

import torch

from stonezero.config import DeviceConfig

CUBLAS_WORKSPACE = ":4096:8"  # cuBLAS is deterministic with this workspace only (its manual, "Reproducibility")

_prepared = False  # whether torch's threads and determinism have been set for this process


def find_device(config: DeviceConfig) -> torch.device:
    """The device that a configuration means here. Raises ValueError when cuda is asked for and there is none."""
    if config.kind == "cuda" and not torch.cuda.is_available():
        raise ValueError("device.kind: cuda is asked for, but torch finds none; use auto or cpu")
    return torch.device("cuda" if config.kind != "cpu" and torch.cuda.is_available() else "cpu")


def join_device(config: DeviceConfig) -> torch.device:
    """The device for one more network in this process: torch's threads are set only where nobody has set them yet.

    So an opponent that a run loads leaves the run's threads and determinism as they are. Raises as `find_device`.
    """
    return find_device(config) if _prepared else prepare_device(config)


def prepare_device(config: DeviceConfig, deterministic: bool = False, sharers: int = 1) -> torch.device:
    """The device that a run computes on; sets torch's threads and determinism for the whole process.

    Where several threads call torch at once, `sharers` of them, each gets its share of the cores unless the
    configuration says otherwise. Raises as `find_device`.
    """
    global _prepared
    device = find_device(config)
    if deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", CUBLAS_WORKSPACE)
        torch.set_num_threads(1)
    elif config.threads:
        torch.set_num_threads(config.threads)
    elif sharers > 1:
        torch.set_num_threads(max(1, usable_cores() // sharers))
    torch.use_deterministic_algorithms(deterministic)
    _prepared = True
    return device


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
