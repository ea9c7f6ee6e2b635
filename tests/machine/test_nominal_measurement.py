"""Nominal readings of the yardsticks: kept, renewed, and taken in one state of the machine."""

from dataclasses import replace

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import nominal_measurement
from deepbench_ops.machine.machine_profile import Figure, LatencyLevel, Profile


def old_profile(version):
    """A profile with the compute yardstick read at two threads."""
    kept = {"2": {"compute": Figure(0.5, "s", "measured: long ago")}}
    return Profile("box", yardstick_version=version, yardsticks=kept)


def test_nominal_readings_are_kept(read_yardsticks):
    """A reading that points on the timeline rest on stays; only missing ones are taken."""
    version = nominal_measurement.yardstick.VERSION
    found = nominal_measurement.yardsticks(2, old_profile(version), renew=False)
    assert (0.5, 1.0) == (found["2"]["compute"].value, found["2"]["memory"].value)
    assert [("memory", 2)] * 2 == read_yardsticks
    more = nominal_measurement.yardsticks(4, old_profile(version), renew=False)
    assert {"2", "4"} == set(more)


@pytest.mark.parametrize(("version", "renew"), [("older", False), (None, True)])
def test_nominal_readings_are_renewed_on_request_or_new_workloads(read_yardsticks, version, renew):
    """Asked to renew, or when the workloads changed, every reading is taken again."""
    old = old_profile(version or nominal_measurement.yardstick.VERSION)
    found = nominal_measurement.yardsticks(2, old, renew)
    assert [1.0, 1.0] == [found["2"][kind].value for kind in ("compute", "memory")]


def test_a_yardstick_that_is_missing_says_why(monkeypatch):
    """Without the yardstick's library the profile has the reason instead of a number."""

    def missing(kind, threads, seconds):
        raise DeepbenchError("needs the wheel")

    monkeypatch.setattr(nominal_measurement.yardstick, "nominal", missing)
    found = nominal_measurement.yardsticks(1, None, renew=False)
    assert Figure(None, "s", "not measured: needs the wheel") == found["1"]["compute"]


def test_a_yardstick_is_read_until_its_readings_agree():
    """A neighbour that comes and goes: the two least of up to four agree, or there is a doubt."""
    pauses = []
    readings = iter([2.1, 1.0, 1.6, 1.01])
    assert (1.0, True) == nominal_measurement.agreed(lambda: next(readings), pauses.append)
    assert 2 == len(pauses)
    assert (1.0, False) == nominal_measurement.agreed(
        iter([4.0, 3.0, 2.0, 1.0]).__next__, pauses.append
    )


def test_a_nominal_reading_that_does_not_settle_is_named(monkeypatch, read_yardsticks):
    """Every later time is a multiple of it."""
    falling = iter(range(9, 0, -1))
    monkeypatch.setattr(nominal_measurement.yardstick, "nominal", lambda *_: next(falling))
    monkeypatch.setattr(nominal_measurement, "PAUSE_SECONDS", 0.0)
    doubts = []
    nominal_measurement.yardsticks(1, None, False, doubts.append)
    assert ["compute", "memory"] == [line.split()[1] for line in doubts]


class MovedMachine:
    """A machine whose host moves its cores: each look and each reading takes half a second."""

    def __init__(self, monkeypatch, states):
        """states: latency in nanoseconds in each half second, the last one for ever."""
        self.states, self.place = states, 0
        monkeypatch.setattr(nominal_measurement.core_latency, "Reader", lambda cores: self)
        monkeypatch.setattr(nominal_measurement.time, "monotonic", lambda: self.place / 2)
        monkeypatch.setattr(nominal_measurement.time, "sleep", lambda seconds: self._pass())

    def _pass(self):
        now = self.states[min(self.place, len(self.states) - 1)]
        self.place += 1
        return now

    def read(self):
        """Return the latency, as a reader of latencies does."""
        return self._pass()

    def reading(self):
        """Return a yardstick's reading: a copy takes longer where the cores are near."""
        return 1.9 if self._pass() < 250 else 1.3

    def close(self):
        """End nothing."""


def test_a_reading_of_a_state_is_taken_within_it(monkeypatch):
    """Readings next to which the machine was in another state do not count."""
    machine = MovedMachine(monkeypatch, [*[320] * 3, 178, 178, *[320] * 3, 178])
    assert 1.9 == nominal_measurement.in_state(177.0, 2, machine.reading)
    machine = MovedMachine(monkeypatch, [178, 178, 320, *[178] * 3, 320])
    assert 1.3 == nominal_measurement.in_state(320.0, 2, machine.reading)


@pytest.mark.parametrize("states", [[178, 320] * 50, [178]])
def test_a_state_that_does_not_last_leaves_no_reading(monkeypatch, read_yardsticks, states):
    """The figure says why; the search ends."""
    MovedMachine(monkeypatch, states)
    found = nominal_measurement.nominal_figure("memory", 2, pytest.fail, at=320.0)
    assert found.value is None
    assert "did not stay at 320 ns" in found.how


def with_levels(recorded=None):
    """A profile of two states, whose first readings are of one of them or of an unrecorded one."""
    figures = {
        "2": {"compute": Figure(0.5, "s", "measured"), "memory": Figure(0.7, "s", "measured")}
    }
    levels = [LatencyLevel(177.0, figures), LatencyLevel(320.0, figures)]
    version = nominal_measurement.yardstick.VERSION
    states = {} if recorded is None else {"2": recorded}
    return Profile("box", "", {}, {}, {}, version, figures, levels, states)


def test_first_readings_are_renewed_in_their_own_state_alone(read_yardsticks):
    """They calibrate times without a state; readings of another state would move these."""
    renewed = {
        (recorded, at): nominal_measurement.reads_all(with_levels(recorded), 2, True, at)
        for recorded in (None, 177.0)
        for at in (None, 177.0, 320.0)
    }
    assert [(177.0, 177.0)] == [key for key, again in renewed.items() if again]
    assert nominal_measurement.reads_all(with_levels(177.0), 1, False, None)
    plain = old_profile(nominal_measurement.yardstick.VERSION)
    assert nominal_measurement.reads_all(plain, 2, True, None)
    assert not nominal_measurement.reads_all(plain, 2, False, None)


def test_a_renewal_that_fails_leaves_the_former_reading(monkeypatch):
    """Times of the state would be raw until the next one."""
    missing = Figure(None, "s", "not measured: it did not stay")
    monkeypatch.setattr(nominal_measurement, "nominal_figure", lambda *_: missing)
    doubts = []
    known = with_levels(177.0)
    found = nominal_measurement.yardsticks(2, known, True, doubts.append, at=177.0)
    assert known.yardsticks == found
    assert 2 == len(doubts)
    assert "the former reading of the compute yardstick stays: not measured" in doubts[0]


@pytest.mark.parametrize(("kinds", "fresh"), [((), True), (("memory",), False)])
def test_a_former_reading_that_stays_is_not_of_the_state_of_now(monkeypatch, kinds, fresh):
    """The state of a reading from before states were recorded is not known: a failed renewal in
    one state must not say that it is this one."""

    def figure(kind, *_):
        return Figure(None if kind in kinds else 0.9, "s", "measured: now")

    monkeypatch.setattr(nominal_measurement, "nominal_figure", figure)
    old = replace(with_levels(), levels=[])
    assert nominal_measurement.reads_all(old, 2, True, 320.0)
    figures = nominal_measurement.yardsticks(2, old, True, lambda _: None, at=320.0)
    new = replace(old, yardsticks=figures)
    assert fresh == nominal_measurement.all_read(old, new, 2, True, 320.0)


@pytest.mark.parametrize(("at", "kinds"), [(177.0, 2), (320.0, 1), (None, 1)])
def test_a_missing_reading_is_taken_in_the_state_of_the_others(monkeypatch, at, kinds):
    """One of another state would calibrate by a wrong factor, without a word."""
    figure = Figure(0.9, "s", "measured: now")
    monkeypatch.setattr(nominal_measurement, "nominal_figure", lambda *_: figure)
    known = with_levels(177.0)
    del known.yardsticks["2"]["memory"]
    found = nominal_measurement.yardsticks(2, known, False, pytest.fail, at=at)
    assert kinds == len(found["2"])
