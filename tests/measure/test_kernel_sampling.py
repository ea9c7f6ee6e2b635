"""Sampling on kernels and yardsticks whose times the test itself decides."""

import itertools
import math
import statistics
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.measure import device_notes, kernel_measurement, kernel_sampling
from deepbench_ops.measure.disturbance_wait_budget import MOST_SECONDS, SHARE, WaitBudget
from deepbench_ops.measure.kernel_sampling import Measurement, Policy, measure, relative_half_width
from deepbench_ops.storage import record_checks


class Clock:
    """Stands in for the wall clock: time passes only when some work says so."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


class FakeKernel:
    """Takes ``cost(now)`` seconds a call and counts its calls."""

    clock = None

    def __init__(self, clock, cost, reset_cost=0.5):
        self.wall, self.cost, self.reset_cost = clock, cost, reset_cost
        self.calls = self.resets = 0

    def run(self):
        self.calls += 1
        self.wall.now += self.cost(self.wall.now)

    def reset(self):
        self.resets += 1
        self.wall.now += self.reset_cost

    def synchronise(self):
        pass


class FakeYardstick:
    """A unit takes ``cost(now)`` seconds."""

    kind = "compute"

    def __init__(self, clock, cost, nominal=None):
        self.clock, self.cost, self.nominal = clock, cost, nominal
        self.wait_budget = WaitBudget(clock.perf_counter)

    def slice(self, units):
        start = self.clock.now
        for _ in range(units):
            self.clock.now += self.cost(self.clock.now)
        return (self.clock.now - start) / units

    def units_for(self, seconds):
        return max(1, round(seconds / 0.001))

    def may_wait(self, seconds):
        return self.wait_budget.spend(seconds)


@pytest.fixture
def clock(monkeypatch):
    """The clock that kernels move on; nothing that they do makes garbage to be collected."""
    fake = Clock()
    monkeypatch.setattr(kernel_sampling.time, "perf_counter", fake.perf_counter)
    monkeypatch.setattr(kernel_sampling.gc, "collect", lambda: 0)
    return fake


PATIENT = Policy(budget_seconds=1e9, warmup_seconds=10.0)


def test_a_steady_kernel_is_reported_as_it_is(clock):
    """A kernel of 2 ms a call gives samples of 2 ms, four calls to a slice of 8 ms."""
    kernel = FakeKernel(clock, lambda now: 0.002)
    found = measure(kernel, None, PATIENT)
    assert found.number == 4
    assert found.seconds == pytest.approx([0.002] * len(found.seconds))
    assert found.target_reached


def test_resetting_is_outside_the_time(clock):
    """Every sample starts from a reset, and the reset's half second is in no sample."""
    kernel = FakeKernel(clock, lambda now: 0.002)
    found = measure(kernel, None, PATIENT)
    assert kernel.resets >= len(found.seconds)
    assert max(found.seconds) < 0.01


def test_a_kernel_with_a_clock_of_its_own_is_asked_for_the_time(clock):
    """Other processes time their own work: neither run nor reset is called for a slice."""
    kernel = FakeKernel(clock, lambda now: 0.002)
    kernel.clock = lambda calls: 0.003 / calls
    assert 0.001 == kernel_sampling.time_calls(kernel, 3)
    assert (0, 0) == (kernel.calls, kernel.resets)


def test_weather_cancels_in_calibrated_seconds(clock):
    """When the machine halves its speed for seconds at a time, calibrated seconds do not move."""

    def weather(now):
        return 2.0 if int(now * 4) % 2 else 1.0

    kernel = FakeKernel(clock, lambda now: 0.002 * weather(now), reset_cost=0.0)
    yardstick = FakeYardstick(clock, lambda now: 0.001 * weather(now))
    rules = Policy(budget_seconds=1e9, warmup_seconds=10.0, min_samples=30)
    found = measure(kernel, yardstick, rules)
    calibrated = found.calibrated(0.001)
    assert max(found.seconds) > 1.5 * min(found.seconds)
    assert statistics.median(calibrated) == pytest.approx(0.002, rel=0.01)
    inside = [s for s in calibrated if s == pytest.approx(0.002, rel=0.01)]
    assert len(inside) >= 0.8 * len(calibrated)


def test_disturbed_slices_are_taken_again(clock, monkeypatch):
    """While the yardstick reads double, slices are put aside; the samples are the calm ones."""
    monkeypatch.setattr(
        kernel_sampling.time, "sleep", lambda s: setattr(clock, "now", clock.now + s)
    )

    def disturbed(now):
        return 0.3 < now < 1.3

    kernel = FakeKernel(clock, lambda now: 0.006 if disturbed(now) else 0.002, reset_cost=0.0)
    yardstick = FakeYardstick(clock, lambda now: 0.002 if disturbed(now) else 0.001, nominal=0.001)
    rules = Policy(budget_seconds=0.6, min_samples=30, wait_seconds=2.0)
    found = measure(kernel, yardstick, rules)
    assert found.disturbed == 0
    assert 1 <= len(found.put_aside) <= 2
    assert found.calibrated(0.001) == pytest.approx([0.002] * 30)
    assert clock.now > 1.3


def test_the_wait_budget_ends(clock, monkeypatch):
    """A machine that never calms is measured all the same, and its samples are counted as such."""
    monkeypatch.setattr(
        kernel_sampling.time, "sleep", lambda s: setattr(clock, "now", clock.now + s)
    )
    kernel = FakeKernel(clock, lambda now: 0.002, reset_cost=0.0)
    yardstick = FakeYardstick(clock, lambda now: 0.002, nominal=0.001)
    found = measure(kernel, yardstick, Policy(wait_seconds=1.0))
    assert found.seconds
    assert found.disturbed == len(found.seconds)
    assert clock.now < 3.0


def test_a_run_waits_for_a_share_of_its_time_alone(clock, monkeypatch):
    """Hundreds of kernels on a machine that never calms take little longer than the rest."""
    monkeypatch.setattr(
        kernel_sampling.time, "sleep", lambda s: setattr(clock, "now", clock.now + s)
    )
    yardstick = FakeYardstick(clock, lambda now: 0.002, nominal=0.001)
    kernel = FakeKernel(clock, lambda now: 0.002, reset_cost=0.0)
    spent = {}
    for wait_seconds in (0.0, 0.5):
        started = clock.now
        for _ in range(300):
            measure(kernel, yardstick, Policy(wait_seconds=wait_seconds))
        spent[wait_seconds] = clock.now - started
    assert MOST_SECONDS < spent[0.5] - spent[0.0] < 2 * SHARE * spent[0.0] + MOST_SECONDS


def test_the_wait_budget_is_saved_up_while_the_machine_is_calm(clock):
    """The rest of a budget grows with the time of the run, up to the most, and falls when spent."""
    wait_budget = WaitBudget(clock.perf_counter)
    assert wait_budget.spend(MOST_SECONDS)
    assert not wait_budget.spend(0.1)
    clock.now += 0.2 / SHARE
    assert wait_budget.spend(0.15)
    assert not wait_budget.spend(0.15)
    clock.now += 100 * MOST_SECONDS / SHARE
    assert not wait_budget.spend(1.01 * MOST_SECONDS)
    assert wait_budget.spend(MOST_SECONDS)


def test_sampling_stops_at_the_budget_and_says_so(clock):
    """A kernel too noisy for the target ends with the budget, marked as not having reached it."""
    jitter = iter([1.0, 3.0, 2.0, 5.0] * 1000)
    kernel = FakeKernel(clock, lambda now: 0.01 * next(jitter))
    found = measure(kernel, None, Policy(budget_seconds=3.0, warmup_seconds=0.1))
    assert not found.target_reached
    assert found.noise > 0.01
    assert len(found.seconds) < 30


def test_a_long_call_is_its_own_warm_up(clock):
    """A call of six seconds runs once and that call is the sample."""
    kernel = FakeKernel(clock, lambda now: 6.0)
    found = measure(kernel, None, Policy())
    assert found.seconds == pytest.approx([6.0])
    assert kernel.calls == 1


@pytest.mark.parametrize("rest", [0.12, 0.3, 4.0])
def test_what_only_a_first_call_pays_for_is_no_sample(clock, rest):
    """Of a call of seconds, one goes before and is not timed, whatever the others take."""
    kernel = FakeKernel(clock, lambda now: rest if now > 0.2 else rest + 0.2, reset_cost=0.0)
    pinned = []
    found = measure(kernel, None, Policy(), lambda: pinned.append(kernel.calls))
    assert len(found.seconds) == kernel.calls - 1
    assert found.seconds == pytest.approx([rest] * len(found.seconds))
    assert [1] == pinned
    assert found.kernel_seconds == pytest.approx(rest * kernel.calls + 0.2)


@pytest.mark.parametrize(
    ("call", "samples"), [(0.04, 3), (0.05, 2), (0.2, 2), (0.9, 2), (1.1, 1), (4.0, 1)]
)
def test_two_processes_have_the_samples_of_an_interval(clock, call, samples):
    """A call of up to a second is timed twice, though the first outlasts the budget."""
    kernel = FakeKernel(clock, lambda now: call, reset_cost=0.0)
    assert len(measure(kernel, None, Policy()).seconds) == samples


def test_a_quick_look_is_one_call(clock):
    """A smoke run takes a single sample, of the first call."""
    kernel = FakeKernel(clock, lambda now: 0.2, reset_cost=0.0)
    assert measure(kernel, None, Policy().quick()).seconds == pytest.approx([0.2])
    assert kernel.calls == 1


def test_cold_samples_are_single_calls_after_a_flush(clock, monkeypatch):
    """With cold caches each sample is one call, and each call follows a flush of its own."""
    flushes = []
    monkeypatch.setattr(kernel_sampling, "_flusher", lambda: lambda: flushes.append(clock.now))
    kernel = FakeKernel(clock, lambda now: 0.0001)
    found = measure(kernel, None, Policy(cold=True, budget_seconds=1e9, warmup_seconds=1.0))
    assert found.number == 1
    assert len(flushes) == kernel.calls


def test_quick_is_one_sample_of_one_call(clock):
    """The quick policy takes one sample and one call, whatever the kernel costs."""
    kernel = FakeKernel(clock, lambda now: 0.0001)
    found = measure(kernel, None, Policy().quick())
    assert (found.number, len(found.seconds), kernel.calls) == (1, 1, 1)


def test_without_a_reference_raw_seconds_are_returned():
    """No yardstick or no nominal reading: calibrated() is the raw seconds, unchanged."""
    assert Measurement(1, "none", [2.0]).calibrated(0.5) == [2.0]
    assert Measurement(1, "compute", [2.0], [1.0]).calibrated(None) == [2.0]


@given(st.lists(st.floats(1e-6, 1e3), min_size=3, max_size=50), st.floats(1e-3, 1e3))
def test_noise_does_not_depend_on_the_unit(samples, scale):
    """The relative half-width is the same in seconds and in milliseconds."""
    scaled = relative_half_width([s * scale for s in samples])
    assert scaled == pytest.approx(relative_half_width(samples), rel=1e-6, abs=1e-9)


@given(st.lists(st.floats(1e-6, 1e3), max_size=2))
def test_two_samples_claim_nothing(samples):
    """Fewer than three samples have an infinite interval."""
    assert relative_half_width(samples) == math.inf


def test_one_spike_does_not_widen_the_interval():
    """A single outlier of ten times the rest leaves the interval as it was."""
    calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0]
    assert relative_half_width([*calm, 10.0]) < 2 * relative_half_width(calm)


def test_each_sample_has_the_latency_between_two_cores():
    """It is read after every slice and is a column of the record; not after a missing reading."""
    prepared = SimpleNamespace(backend=SimpleNamespace(device="cpu"))
    latencies = itertools.count(200.0)
    client = SimpleNamespace(core_latency=lambda: next(latencies))
    kernel = SimpleNamespace(run=lambda: time.sleep(0.001), synchronise=int, reset=int, clock=None)
    policy = Policy(budget_seconds=0.05, warmup_seconds=0.0, slice_seconds=0.0, min_samples=2)
    read = kernel_measurement._reader(prepared, client, 199.0)
    taken = measure(kernel, None, policy, read_device=read)
    columns = device_notes.readings(taken)["device_readings"]
    expected = [200.0 + number for number in range(len(taken.seconds))]
    assert {"core_latency": expected} == columns
    assert record_checks.FIELDS["device_readings"](columns)
    assert kernel_measurement._reader(prepared, client, None) is None
