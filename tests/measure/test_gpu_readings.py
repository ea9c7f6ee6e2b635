"""Clocks and power of a GPU from a stand-in for NVML, and their place in a record."""

import ctypes

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import device_notes, gpu_readings, kernel_sampling
from deepbench_ops.measure.gpu_readings import GpuReadings
from deepbench_ops.measure.kernel_sampling import Measurement, Policy, measure
from deepbench_ops.storage import record_checks

UNITS = {
    "nvmlDeviceGetPowerUsage": 312_500,
    "nvmlDeviceGetTemperature": 61,
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetCurrentClocksThrottleReasons": 0x4 | 0x1,
    "nvmlSystemGetCudaDriverVersion_v2": 13000,
}
CLOCKS = {1: 1980, 2: 2619}


class FakeLibrary:
    """Answers like NVML; `missing` are functions that say they cannot."""

    def __init__(self, *missing):
        self.missing, self.asked = missing, []

    def __getattr__(self, name):
        def call(*arguments):
            self.asked.append((name, arguments))
            if name in self.missing:
                return 3
            if name in UNITS:
                arguments[-1]._obj.value = UNITS[name]
            elif name.endswith("ClockInfo"):
                arguments[-1]._obj.value = CLOCKS[arguments[1].value]
            elif name == "nvmlSystemGetDriverVersion":
                ctypes.memmove(arguments[0], b"580.159.04\0", 11)
            return 0

        return call


def test_readings_have_units():
    """Milliwatts become watts; idling is no limit."""
    expected = {"sm_mhz": 1980, "memory_mhz": 2619, "watts": 312.5, "celsius": 61, "limits": 4}
    assert expected == GpuReadings(FakeLibrary()).now()


def test_facts_of_a_run():
    found = GpuReadings(FakeLibrary()).facts()
    assert ("580.159.04", "13.0", "700") == (
        found["driver"],
        found["driver_cuda"],
        found["gpu_power_limit_watts"],
    )


def test_what_the_driver_cannot_tell_is_left_out():
    found = GpuReadings(FakeLibrary("nvmlDeviceGetPowerUsage")).now()
    assert {"sm_mhz", "memory_mhz", "celsius", "limits"} == set(found)


@pytest.mark.parametrize(
    ("visible", "function", "value"),
    [
        ("", "nvmlDeviceGetHandleByIndex_v2", 0),
        ("3,1", "nvmlDeviceGetHandleByIndex_v2", 3),
        ("GPU-8f1d", "nvmlDeviceGetHandleByUUID", b"GPU-8f1d"),
    ],
)
def test_the_gpu_is_the_first_visible_one(visible, function, value):
    library = FakeLibrary()
    GpuReadings(library, {"CUDA_VISIBLE_DEVICES": visible})
    name, arguments = library.asked[-1]
    assert (function, value) == (name, arguments[0].value)


def test_no_gpu_is_an_error_and_no_reader():
    with pytest.raises(DeepbenchError, match="knows no GPU 0"):
        GpuReadings(FakeLibrary("nvmlDeviceGetHandleByIndex_v2"), {})
    assert gpu_readings.reader("cpu") is None


def test_limits_are_named_once():
    assert ["power limit", "heat (hardware)"] == gpu_readings.limited(
        [{"limits": 0x4}, {"limits": 0x44}, {}]
    )


class Enqueued:
    """A kernel whose calls take `launch` seconds of the host and `work` of the device."""

    clock = None

    def __init__(self, monkeypatch, launch, work):
        self.launch, self.work, self.now, self.busy_until = launch, work, 0.0, 0.0
        monkeypatch.setattr(kernel_sampling.time, "perf_counter", lambda: self.now)

    def run(self):
        self.now += self.launch
        self.busy_until = max(self.busy_until, self.now) + self.work

    def synchronise(self):
        self.now = max(self.now, self.busy_until)

    def reset(self):
        pass


@pytest.mark.parametrize(
    ("launch", "work", "text"),
    [
        (5e-6, 1e-6, "launches for 100% of the time: launch-bound"),
        (5e-6, 50e-6, "launches for 10% of the time: not launch-bound"),
    ],
)
def test_launch_bound_kernels_are_named(monkeypatch, launch, work, text):
    """By the share of the time in which the host is launching."""
    kernel = Enqueued(monkeypatch, launch, work)
    (line,) = device_notes.of(kernel, Measurement(100, "none"), "cuda").values()
    assert line.startswith("100 calls a slice, one wait at its end, no CUDA graph; ")
    assert line.endswith(text)


def test_the_processor_has_no_such_notes(monkeypatch):
    assert {} == device_notes.of(Enqueued(monkeypatch, 1, 1), Measurement(1, "none"), "cpu")


def test_every_sample_has_a_reading(monkeypatch):
    """Taken after its slice, and kept in columns that a record may have."""
    kernel = Enqueued(monkeypatch, 1e-5, 1e-4)
    clock = iter(range(1000, 2000))
    taken = measure(kernel, None, Policy(), read_device=lambda: {"sm_mhz": float(next(clock))})
    columns = device_notes.readings(taken)["device_readings"]
    assert [1000.0, 1001.0, 1002.0, 1003.0] == columns["sm_mhz"]
    assert 4 == len(taken.seconds)
    assert record_checks.FIELDS["device_readings"](columns)
    assert not record_checks.FIELDS["device_readings"]([1])
