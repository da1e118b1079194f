from collections.abc import Iterator

import pytest
import torch

from stonezero.config import DeviceConfig
from stonezero.device import describe_device, prepare_device


@pytest.fixture(autouse=True)
def _leave_torch_as_it_was() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def test_the_processor_is_always_there() -> None:
    device = prepare_device(DeviceConfig(kind="cpu", threads=1))
    assert device.type == "cpu"
    assert torch.get_num_threads() == 1
    assert describe_device(device) == "cpu, 1 thread"


def test_deterministic_runs_have_one_thread() -> None:
    prepare_device(DeviceConfig(kind="cpu", threads=2), deterministic=True)
    assert torch.get_num_threads() == 1
    assert torch.are_deterministic_algorithms_enabled()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_is_taken_only_where_it_is() -> None:
    assert prepare_device(DeviceConfig(kind="auto")).type == "cpu"
    with pytest.raises(ValueError, match=r"device\.kind: cuda is asked for"):
        prepare_device(DeviceConfig(kind="cuda"))
