"""Measurement of a profile: figures kept or replaced, and doubts about a disturbed machine."""

from itertools import repeat

import pytest

from deepbench_ops.machine import profile_measurement
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.machine_profile import Figure, Profile


def test_a_peak_is_replaced_by_a_better_one_only(monkeypatch):
    """A higher reading replaces a measured peak, a lower or missing one leaves it and its day.

    A line reports a much lower one, and the option that takes it all the same.
    """
    sheet = Figure(9.0, "FLOP/s", "data sheet: vendor")
    past = Figure(8.0, "FLOP/s", "measured: torch")
    names = ("float32", "float16", "bfloat16", "tf32")
    old = Profile("box", "2026-01-02", peaks={"cpu": dict.fromkeys(names, past) | {"int8": sheet,
                                                      "tf32": sheet}})  # fmt: skip
    none = Figure(None, "FLOP/s", "not measured: torch is missing")
    higher, lower = (Figure(value, "FLOP/s", "measured: x") for value in (10.0, 1.0))
    new = {"float32": higher, "int8": none, "float16": none, "bfloat16": lower, "tf32": lower}
    lines = []
    kept = Figure(8.0, "FLOP/s", "measured: torch, kept from 2026-01-02")
    expected = {"float32": higher, "int8": sheet, "float16": kept, "bfloat16": kept, "tf32": lower}
    assert expected == profile_measurement._kept(new, old, "cpu", lines.append)
    assert ["bfloat16"] == [line.split()[0] for line in lines]
    assert "--renew-peaks" in lines[0]
    again = Profile("box", "2026-02-03", peaks={"cpu": expected})
    assert kept == profile_measurement._kept(new, again, "cpu", lines.append)["float16"]
    assert new == profile_measurement._kept(new, None, "cpu", lines.append)


@pytest.fixture
def simulated(monkeypatch):
    """A machine of 268 GFLOP/s and 29 GB/s that a neighbour slows while `neighbour` says so."""
    state = {"neighbour": iter([False] * 9), "others": "", "mib": repeat(128)}

    def rate(quiet):
        return quiet / 2.2 if next(state["neighbour"]) else quiet

    def gemms(*_, **__):
        return {
            "float32": Figure(rate(268e9), "FLOP/s", "measured: 2048^3 GEMM, numpy 2, best of 9")
        }

    def triad(*_):
        how = f"measured: triad a = b + 3c, 3 x {next(state['mib'])} MiB"
        return Figure(rate(29e9), "bytes/s", how)

    class Watched:
        def found(self):
            return state["others"]

    monkeypatch.setattr(profile_measurement.peak_rates, "load_all", lambda *_: ([], []))
    monkeypatch.setattr(profile_measurement.peak_rates, "gemm_peaks", gemms)
    monkeypatch.setattr(profile_measurement.memory_bandwidth, "triad", triad)
    monkeypatch.setattr(profile_measurement, "LoadMonitor", Watched)
    monkeypatch.setattr(profile_measurement.machine_facts, "facts", dict)
    return state


def measured(old=None, **renewed):
    """The simulated machine's peak and bandwidth in 10^9 a second, and the doubts."""
    doubts = []
    found = profile_measurement.measure_profile(
        "box",
        1,
        old,
        profile_measurement.Renewed(**renewed),
        profile_measurement.ignore,
        doubts.append,
    )
    values = found.peaks["cpu"]["float32"].value / 1e9, found.bandwidth["cpu"].value / 1e9
    return *map(round, values), doubts, found


def test_a_quiet_machine_raises_no_doubts(simulated, read_yardsticks):
    """Both passes reach the peak and the bandwidth."""
    assert (268, 29, []) == measured()[:3]


@pytest.mark.parametrize("when", [(True, True, False, False), (False, False, True, True)])
def test_a_neighbour_of_one_pass_costs_nothing_and_is_named(simulated, read_yardsticks, when):
    """The other pass has the peak; 120 and 268 GFLOP/s within seconds are no quiet machine's."""
    simulated["neighbour"] = iter(when)
    peak, bandwidth, doubts, _ = measured()
    assert (268, 29) == (peak, bandwidth)
    assert ["float32", "bytes/s"] == [line.split(":")[0] for line in doubts]


def test_a_disturbed_triad_is_named_whatever_the_size_of_its_arrays(simulated, read_yardsticks):
    """Arrays that take an eighth of the free memory have another size in each pass."""
    simulated.update(neighbour=iter([True, True, False, False]), mib=iter([536, 572]))
    assert ["float32", "bytes/s"] == [line.split(":")[0] for line in measured()[2]]


def test_the_second_pass_begins_with_what_the_first_had_no_time_for(
    simulated, read_yardsticks, monkeypatch
):
    """So that the last precision of a slow machine has a peak too."""
    asked = []

    def gemms(*_, first, **__):
        asked.append(first)
        late = Figure(None, "FLOP/s", "not measured: fake: out of time")
        return {"float32": Figure(1e9, "FLOP/s", "measured: 512^3, fake 1"), "int8": late}

    monkeypatch.setattr(profile_measurement.peak_rates, "gemm_peaks", gemms)
    measured()
    assert [[], ["int8"]] == asked


def test_a_neighbour_that_stays_is_named(simulated, read_yardsticks):
    """Both passes agree on half of the peak: only the processors' time shows the neighbour."""
    simulated.update(neighbour=iter([True] * 4), others="other processes took 50%")
    peak, _, doubts, found = measured()
    assert 122 == peak
    assert any("other processes took 50%" in line for line in doubts)
    assert found.peaks["cpu"]["float32"].how.endswith(
        "next to other load: other processes took 50%"
    )


def test_a_peak_next_to_a_neighbour_that_stays_makes_no_true_time_impossible(
    simulated, read_yardsticks
):
    """It counts twice as a roof until a quiet measurement replaces it, be that higher or not."""
    simulated.update(neighbour=iter([True] * 4), others="other processes took 50%")
    *_, disturbed = measured()
    assert (244, 26) == (
        round(Roofs.of(disturbed, "cpu").peaks["float32"] / 1e9),
        round(Roofs.of(disturbed, "cpu").bandwidth / 1e9),
    )
    simulated.update(neighbour=iter([True] * 4), others="")
    *_, quiet = measured(disturbed)
    assert quiet.peaks["cpu"]["float32"].value == disturbed.peaks["cpu"]["float32"].value
    assert (122, 13) == (
        round(Roofs.of(quiet, "cpu").peaks["float32"] / 1e9),
        round(Roofs.of(quiet, "cpu").bandwidth / 1e9),
    )


def test_a_former_peak_outlives_a_disturbed_measurement(simulated, read_yardsticks):
    """120 instead of 268 GFLOP/s are not stored, nor is the bandwidth; asked to, they are."""
    *_, quiet = measured()
    simulated["neighbour"] = iter([True] * 4)
    assert (268, 29) == measured(quiet)[:2]
    simulated["neighbour"] = iter([True] * 4)
    assert (122, 13) == measured(quiet, peaks=True)[:2]


def test_peaks_by_one_framework_load_no_other(monkeypatch, read_yardsticks):
    """As `deepbench machine --framework` asks for, where others would take minutes to compile."""
    asked = []

    def loaded(device, threads, frameworks):
        asked.append(frameworks)
        return [], []

    monkeypatch.setattr(profile_measurement.peak_rates, "load_all", loaded)
    monkeypatch.setattr(profile_measurement.machine_facts, "facts", dict)
    triad = Figure(1.0, "bytes/s", "measured: triad, numpy 2")
    monkeypatch.setattr(profile_measurement.memory_bandwidth, "triad", lambda *_: triad)
    found = profile_measurement.measure_profile(
        "box", 1, None, say=profile_measurement.ignore, frameworks=("torch",)
    )
    assert {("torch",)} == set(asked)
    assert "not measured" in found.peaks["cpu"]["float32"].how
