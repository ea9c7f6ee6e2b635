"""Peaks of a machine, measured on machines of known rates."""

import pytest

from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine import peak_rates
from deepbench_ops.machine.machine_profile import Figure
from deepbench_ops.problems.precision import multiplied


class Clock:
    """A clock that moves only when a kernel runs."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Backend:
    """A backend of a known rate: every product takes flops / rate seconds of its clock."""

    name = "fake"

    def __init__(self, clock, rate, reason=None):
        self.clock, self.rate, self.reason = clock, rate, reason

    def build(self, problem, precision, operation="forward", seed=0):
        if self.reason:
            raise Unsupported(self.reason)
        return FakeKernel(self, problem.flops)

    def versions(self):
        return {"fake": "1.0"}


class FakeKernel:
    """A product that moves the clock instead of computing."""

    clock = None

    def __init__(self, backend, flops):
        self.backend, self.flops = backend, flops

    def run(self):
        self.backend.clock.now += self.flops / self.backend.rate

    def synchronise(self):
        pass

    def reset(self):
        self.backend.clock.now += 1e-3


@pytest.fixture
def unchecked(monkeypatch):
    """Products that compute nothing cannot pass the check of their results."""
    monkeypatch.setattr(peak_rates.output_check, "verify", lambda *arguments: None)


@pytest.mark.parametrize("rate", [1e9, 1e11, 1e14])
def test_a_peak_is_the_rate_of_the_machine(unchecked, rate):
    """A machine of known rate is measured at that rate, resets not counted."""
    clock = Clock()
    figure = peak_rates.gemm_peak(Backend(clock, rate), "float32", 0.1, clock)
    assert rate == pytest.approx(figure.value)
    assert figure.how.startswith("measured: ")
    assert "^3 GEMM, fake 1.0, best of" in figure.how


def test_products_grow_with_the_machine(unchecked):
    """A faster machine gets larger products, each shorter than the longest allowed."""
    sizes = []
    for rate in (1e8, 1e11, 1e16):
        clock = Clock()
        how = peak_rates.gemm_peak(Backend(clock, rate), "float32", 0.1, clock).how
        sizes.append(int(how.split("^")[0].split()[-1]))
    assert sorted(set(sizes)) == sizes
    assert (peak_rates.SMALLEST, peak_rates.LARGEST) == (sizes[0], sizes[-1])


def test_a_wrong_product_has_no_peak(monkeypatch):
    """A backend whose result fails its check gives no figure but the reason."""

    def wrong(*arguments):
        raise DeepbenchError("result is wrong")

    monkeypatch.setattr(peak_rates.output_check, "verify", wrong)
    monkeypatch.setattr(peak_rates, "load_all", lambda *_: ([Backend(Clock(), 1e9)], []))
    found = peak_rates.gemm_peaks("cpu", 1, 100.0, Clock())
    assert {Figure(None, "FLOP/s", "not measured: fake: result is wrong")} == set(found.values())


def test_the_best_framework_gives_the_peak(unchecked, monkeypatch):
    """The faster of two backends is the machine's peak; a product that one lacks is ignored."""
    clock = Clock()
    group = [Backend(clock, 1e9), Backend(clock, 2e9), Backend(clock, 9e9, "cannot")]
    monkeypatch.setattr(peak_rates, "load_all", lambda *_: (group, []))
    found = peak_rates.gemm_peaks("cpu", 1, 1e9, clock)
    assert [pytest.approx(2e9)] * 5 == [figure.value for figure in found.values()]


def test_a_gpu_has_a_peak_of_8_bit_floating_point_too(unchecked, monkeypatch):
    """From a linear layer with a scale for each row; the processor is not asked for it."""
    clock = Clock()
    monkeypatch.setattr(peak_rates, "load_all", lambda *_: ([Backend(clock, 1e9)], []))
    on_gpu = peak_rates.gemm_peaks("cuda", 1, 1e9, clock)
    assert pytest.approx(1e9) == on_gpu["fp8"].value
    assert {"fp8"} == set(on_gpu) - set(peak_rates.gemm_peaks("cpu", 1, 1e9, clock))
    problem, precision = peak_rates.product(1024, "fp8")
    assert ("fp8", 2 * 1024**3) == (multiplied(precision), problem.flops)


def test_nothing_is_begun_after_the_deadline(unchecked, monkeypatch):
    """A peak whose turn comes too late says that there was no time."""
    clock = Clock()
    clock.now = 10.0
    monkeypatch.setattr(peak_rates, "load_all", lambda *_: ([Backend(clock, 1e9)], []))
    found = peak_rates.gemm_peaks("cpu", 1, 5.0, clock)
    assert {"not measured: fake: out of time"} == {figure.how for figure in found.values()}


def test_a_precision_is_measured_with_all_frameworks_or_with_none(unchecked, monkeypatch):
    """A slow framework takes the last of the time: its rate alone would be no machine's peak."""
    clock = Clock()
    group = [Backend(clock, 1e9), Backend(clock, 4e11)]
    monkeypatch.setattr(peak_rates, "load_all", lambda *_: (group, []))
    for deadline in range(20):
        clock.now = 0.0
        found = peak_rates.gemm_peaks("cpu", 2, float(deadline), clock)
        values = [figure.value for figure in found.values() if figure.value is not None]
        assert [pytest.approx(4e11)] * len(values) == values


def test_precisions_of_the_first_turn_come_before_the_others(unchecked, monkeypatch):
    """One that had no time in an earlier pass has some in the next; the order of figures stays."""
    clock = Clock()
    monkeypatch.setattr(peak_rates, "load_all", lambda *_: ([Backend(clock, 1e9)], []))
    found = peak_rates.gemm_peaks("cpu", 1, 1.0, clock, first=["int8"])
    assert ["int8"] == [name for name, figure in found.items() if figure.value is not None]
    assert [*peak_rates.PRECISIONS] == [*found]


def test_reasons_are_given_when_nothing_could_measure():
    """Without a figure every reason is given; without a framework that is the reason."""
    both = [Figure(None, "", "not measured: a: no"), Figure(None, "", "not measured: b: never")]
    assert "not measured: a: no; b: never" == peak_rates.best(both).how
    assert "not measured: no framework is installed" == peak_rates.best([]).how


def test_a_peak_of_the_processor_names_its_threads(unchecked, monkeypatch):
    """The same machine has another peak on other threads; a GPU has its own."""
    clock = Clock()
    monkeypatch.setattr(peak_rates, "load_all", lambda *_: ([Backend(clock, 1e9)], []))
    assert peak_rates.gemm_peaks("cpu", 3, 1e9, clock)["float32"].how.endswith(", 3 threads")
    assert "threads" not in peak_rates.gemm_peaks("cuda", 3, 1e9, clock)["float32"].how
