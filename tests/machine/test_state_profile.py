"""A profile keeps the levels of core latency, and nominal readings of each."""

from dataclasses import replace

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions.merged_profile import merged
from deepbench_ops.machine import machine_profile, nominal_measurement, state_profile
from deepbench_ops.machine.machine_profile import Figure, LatencyLevel, Profile
from deepbench_ops.measure import yardstick
from deepbench_ops.measure.machine_states import CHANGED, NEAR, UNKNOWN_STATE
from deepbench_ops.measure.nominal_readings import NominalReadings

NEAR_NS, FAR_NS = [172.0, 175.0, 170.0], [322.0, 318.0, 325.0]


@pytest.fixture
def machine(monkeypatch):
    """A machine of two cores in a state of its own, whose memory yardstick depends on it."""
    state = {"latencies": FAR_NS, "memory": 0.9, "read": []}

    def figure(kind, count, warn, at):
        state["read"].append(kind)
        return Figure(state["memory"] if kind == "memory" else 0.5, "s", "measured: now")

    monkeypatch.setattr(state_profile, "latencies", lambda count: list(state["latencies"]))
    monkeypatch.setattr(nominal_measurement, "nominal_figure", figure)
    return state


def taken(memory: float) -> Profile:
    """A profile whose yardsticks have been read on two threads."""
    figures = {kind: Figure(0.5, "s", "measured: first") for kind in yardstick.KINDS}
    figures["memory"] = Figure(memory, "s", "measured: first")
    return Profile("box", yardstick_version=yardstick.VERSION, yardsticks={"2": figures})


def surveyed(known: Profile, machine, fresh: bool = False) -> Profile:
    """Return the profile after a look at the machine's state."""
    return state_profile.with_state(known, 2, machine["latencies"], fresh, pytest.fail)


def choice(known: Profile, latencies, kind: str = "memory"):
    """Return the nominal reading that a measured process takes."""
    given = NominalReadings.given({"DEEPBENCH_NOMINAL": known.for_processes(yardstick.VERSION)})
    return given.choice(kind, 2, latencies)


def test_first_readings_belong_to_their_state(machine) -> None:
    """A new machine's readings are those of its state, and are not read a second time."""
    found = surveyed(taken(0.9), machine, fresh=True)
    assert [] == machine["read"]
    assert {"2": found.latencies[0]} == found.yardstick_levels
    assert 0.9 == choice(found, [320.0, 321.0]).seconds


def test_the_readings_of_another_state_are_taken_when_it_is_met(machine) -> None:
    """Each state calibrates by its own reading, whichever was met first."""
    found = surveyed(taken(0.9), machine, fresh=True)
    machine.update(latencies=NEAR_NS, memory=1.45)
    found = surveyed(found, machine)
    assert (0.9, 1.45) == (choice(found, [320.0] * 2).seconds, choice(found, [171.0] * 2).seconds)
    again = surveyed(found, machine)
    assert found == again
    assert ["compute", "memory"] == machine["read"]


def test_a_state_without_readings_is_never_calibrated_by_another(machine) -> None:
    """Times of a state that has none, of none at all, or of two, stay raw with a reason."""
    found = surveyed(taken(0.9), machine, fresh=True)
    found = replace(found, levels=[LatencyLevel(172.0), *found.levels])
    for latencies, words in (([171.0], NEAR), ([171.0, 320.0], CHANGED), ([900.0], UNKNOWN_STATE)):
        chosen = choice(found, latencies)
        assert chosen.seconds is None
        assert words in chosen.remark
    assert 0.9 == choice(found, [None, 320.0]).seconds


def test_a_profile_without_states_stays_valid(machine) -> None:
    """Its reading calibrates as before, whatever the latency."""
    assert 0.9 == choice(taken(0.9), [171.0]).seconds
    assert 0.9 == choice(taken(0.9), []).seconds
    assert "" == choice(taken(0.9), [171.0]).remark


@pytest.mark.parametrize(("memory", "same"), [(0.92, True), (1.45, False)])
def test_an_old_reading_is_of_the_state_that_reads_alike(machine, memory, same) -> None:
    """An old profile's reading is kept for a state whose yardstick still reads so; else a new
    one is taken, and the old one's state stays unknown and marked."""
    found = surveyed(taken(memory), machine)
    assert (memory if same else 0.9) == choice(found, [320.0]).seconds
    assert same == bool(found.yardstick_levels)
    if not same:
        with_near = replace(found, levels=[LatencyLevel(172.0), *found.levels])
        chosen = choice(with_near, [171.0])
        assert memory == chosen.seconds
        assert "unrecorded state" in chosen.remark


def test_a_state_that_does_not_last_has_no_readings(machine, monkeypatch) -> None:
    """Nothing is stored for it, the reason is named, and the user is asked to try again."""
    doubts: list[str] = []

    def missing(*_: object) -> Figure:
        return Figure(None, "s", "not measured: it did not stay")

    monkeypatch.setattr(nominal_measurement, "nominal_figure", missing)
    found = state_profile.with_state(taken(0.9), 2, FAR_NS, False, doubts.append)
    assert [{"2": {}}] == [level.yardsticks for level in found.levels]
    assert ["it did not stay. Run deepbench machine again"] == [
        line.split(": ")[-1] for line in doubts
    ]


def test_readings_of_a_state_are_renewed_on_request(machine, monkeypatch) -> None:
    """Those of other states stay, and so do the former ones where the state does not last."""
    found = surveyed(taken(0.9), machine, fresh=True)
    machine.update(latencies=NEAR_NS, memory=1.45)
    found = surveyed(found, machine)
    machine["memory"] = 1.5
    assert found == surveyed(found, machine)
    renewed = state_profile.with_state(found, 2, NEAR_NS, False, pytest.fail, renew=True)
    assert 1.5 == choice(renewed, [171.0] * 2).seconds
    assert 0.9 == choice(renewed, [320.0] * 2).seconds
    none = Figure(None, "s", "not measured: it did not stay")
    monkeypatch.setattr(nominal_measurement, "nominal_figure", lambda *_: none)
    doubts: list[str] = []
    assert renewed == state_profile.with_state(renewed, 2, NEAR_NS, False, doubts.append, True)
    assert 1 == len(doubts)


def test_readings_that_show_two_states_are_of_none(machine) -> None:
    """The level is known where they agree, also of a machine without a profile."""
    found = surveyed(taken(0.9), machine, fresh=True)
    assert found.latencies[0] == state_profile.level_now(found, [318.0, 325.0])
    assert state_profile.level_now(None, NEAR_NS) == pytest.approx(172.5, abs=1)
    assert state_profile.level_now(found, [318.0, 172.0, 173.0, 171.0]) is None
    assert state_profile.level_now(found, []) is None


def test_a_profile_with_states_reads_back(tmp_path, machine) -> None:
    """Levels and their readings are stored; one that is no number is refused."""
    found = surveyed(taken(0.9), machine, fresh=True)
    path = machine_profile.write(tmp_path, found)
    assert found == machine_profile.read(tmp_path, "box")
    path.write_text(path.read_text().replace('"nanoseconds": 3', '"nanoseconds": -3'))
    with pytest.raises(machine_profile.DeepbenchError, match="no number above 0"):
        machine_profile.read(tmp_path, "box")


def test_profiles_with_states_merge_in_any_order(machine) -> None:
    """The levels and readings of both are kept; two values of one level are one."""
    far = surveyed(taken(0.9), machine, fresh=True)
    machine.update(latencies=NEAR_NS, memory=1.45)
    both = surveyed(replace(far, levels=[LatencyLevel(318.0)], yardstick_levels={}), machine)
    assert merged(far, both) == merged(both, far)
    assert 2 == len(merged(far, both).levels)
    assert merged(far, both) == merged(merged(far, both), far)


def test_profiles_with_other_readings_of_a_state_do_not_merge(machine) -> None:
    """Times that were divided by them do not compare, whichever profile comes first."""
    one = surveyed(taken(0.9), machine, fresh=True)
    figures = {"2": {"memory": Figure(0.7, "s", "measured: renewed")}}
    other = replace(one, levels=[replace(one.levels[0], yardsticks=figures)])
    for first, second in ((one, other), (other, one)):
        with pytest.raises(DeepbenchError, match="other nominal readings than those of box"):
            merged(first, second)


def test_advice_names_both_states() -> None:
    """With two levels there is a way out; with one nothing is advised; without a reading nothing
    is said."""
    assert [] == state_profile.summary([172.0, 320.0], [])
    lines = state_profile.summary([172.0, 320.0], [318.0, 322.0])
    assert "state far; seen here so far: near (172 ns), far (320 ns)" in lines[0]
    assert "DEEPBENCH_THREADS=1" in lines[1]
    assert 1 == len(state_profile.summary([], FAR_NS))
