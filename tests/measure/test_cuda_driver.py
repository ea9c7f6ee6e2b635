"""The yardstick of a GPU on a stand-in for the driver, which shows what is asked of it.

A stand-in proves that errors are named, that the context is entered and that sums are compared. It
proves nothing about a GPU.
"""

import ctypes

import numpy as np
import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import cuda_yardstick, yardstick
from deepbench_ops.measure.cuda_driver import Gpu


class FakeDriver:
    """Answers every call with success, and `sums` where memory is read."""

    def __init__(self, sums=None, failing=None):
        self.sums, self.failing, self.called = sums, failing, []

    def __getattr__(self, name):
        def call(*arguments):
            self.called.append(name)
            if name == self.failing:
                return 999
            if name == "cuMemcpyDtoH_v2":
                ctypes.memmove(arguments[0].value, self.sums.ctypes.data, arguments[2].value)
            return 0

        return call

    def cuGetErrorString(self, status, text):
        text._obj.value = b"unknown error"


def sums(step=1.0):
    """The value that the kernel leaves in memory, multiplied."""
    found = np.tile(cuda_yardstick.expected() * step, cuda_yardstick.BLOCKS)
    return found.astype(np.float32)


def test_the_chains_are_the_recurrence_of_the_text():
    """The closed form equals the steps in float32, one after the other."""
    start = np.arange(cuda_yardstick.THREADS, dtype=np.float32) / np.float32(256)
    value = start + np.float32(0.125)
    for _ in range(cuda_yardstick.STEPS):
        exact = value.astype(np.float64) * cuda_yardstick.FACTOR + cuda_yardstick.SHIFT
        value = exact.astype(np.float32)
    found = cuda_yardstick.CHAINS * value.astype(np.float64)
    np.testing.assert_allclose(cuda_yardstick.expected(), found, rtol=1e-4)


@pytest.mark.parametrize("prepare", [cuda_yardstick.arithmetic, cuda_yardstick.copy])
def test_a_unit_enters_the_context_and_waits(prepare):
    """Units run in another thread than the one that has prepared them."""
    driver = FakeDriver(sums())
    (unit,) = prepare(Gpu(driver)).units
    driver.called.clear()
    unit()
    entered, asked, waited = driver.called
    assert ("cuCtxSetCurrent", "cuCtxSynchronize") == (entered, waited)
    assert asked in ("cuLaunchKernel", "cuMemcpyDtoDAsync_v2")


def test_wrong_sums_are_found():
    """A GPU, or a compiler of its driver, that computes otherwise is no yardstick."""
    with pytest.raises(DeepbenchError, match="computed wrong sums"):
        cuda_yardstick.arithmetic(Gpu(FakeDriver(sums(1.01))))


def test_an_error_of_the_driver_names_function_and_reason():
    with pytest.raises(DeepbenchError, match=r"cuMemAlloc_v2 of libcuda.so.1 failed with 999: unk"):
        cuda_yardstick.copy(Gpu(FakeDriver(failing="cuMemAlloc_v2")))


def test_without_a_driver_the_reason_is_one_line():
    """The device is declared, and its kinds known, on machines without a GPU too."""
    assert yardstick.exists("cuda")
    assert ("cuda compute 1", "cuda memory 1") == yardstick.kinds("cuda")
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        with pytest.raises(DeepbenchError, match=r"no NVIDIA driver: libcuda\.so\.1"):
            yardstick.Yardstick("cuda compute 1", 1)
    else:
        pytest.skip("this machine has NVIDIA's driver")


@pytest.mark.parametrize(
    ("flops", "moved", "kind"),
    [
        (2e9, 1e6, "compute"),  # in the cache
        (1e9, 1e9, "memory"),
        (1e12, 1e9, "compute"),
    ],
)
def test_large_kernels_with_few_flops_are_held_against_the_copy(flops, moved, kind):
    assert f"cuda {kind} 1" == yardstick.kind_for(flops, moved, "cuda")


def test_it_runs_on_a_gpu():
    """Both workloads, where there is a GPU; it has not been run on one yet."""
    try:
        Gpu()
    except DeepbenchError as reason:
        pytest.skip(str(reason))
    for kind in yardstick.kinds("cuda"):
        reading = yardstick.Yardstick(kind, 1)
        assert 1e-5 < reading.slice(4) < 1
        reading.close()
