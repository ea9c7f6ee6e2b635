"""Times of a machine are compared within one of its states."""

import json

import pytest
from example_points import GEMMS, RELEASES, point
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.analysis import kernel_lines, settings_and_state_agreement
from deepbench_ops.analysis.frameworks_by_kernel import contests
from deepbench_ops.analysis.pooled_sets import pooled_point
from deepbench_ops.analysis.speed_index import speeds
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import LatencyLevel, Profile
from deepbench_ops.machine.steadiness import SteadinessJudge
from deepbench_ops.measure.machine_states import CHANGED, FAR, INCOMPARABLE, NEAR, UNKNOWN_STATE
from deepbench_ops.pages.line_data import line_fields
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import measurement_files

STATES = ["", NEAR, FAR, UNKNOWN_STATE, CHANGED]


def test_unequal_states_do_not_agree() -> None:
    """Near and far are two conditions; an unrecorded state agrees with any, as settings do."""
    agree = settings_and_state_agreement.agree
    assert agree(point(state=NEAR), point(state=NEAR))
    assert not agree(point(state=NEAR), point(state=FAR))
    assert agree(point(state=NEAR), point())
    assert not agree(point(state=UNKNOWN_STATE), point(state=UNKNOWN_STATE))
    assert not agree(point(state=NEAR, settings=(("A", "1"),)), point(state=NEAR, settings=()))


def test_states_of_two_machines_are_not_held_against_each_other() -> None:
    """Near on one machine and far on another are no difference of conditions."""
    assert settings_and_state_agreement.agree(point(state=NEAR), point(machine="other", state=FAR))


def test_unequal_threads_of_a_machine_do_not_agree() -> None:
    """Unknown ones agree with any; lines hold times on any number."""
    agree = settings_and_state_agreement.agree
    one, two, unknown = (point(threads=threads) for threads in ("1", "2", ""))
    assert agree(one, one) and agree(one, unknown) and not agree(one, two)
    assert agree(one, point(machine="other", threads="2"))
    assert [[one, two, unknown]] == settings_and_state_agreement.groups_that_agree(
        [one, two, unknown]
    )


def test_remarks_count_times_on_other_threads_than_their_kernel() -> None:
    """Those of a line, and those that a comparison leaves out."""
    one, two, other = point(threads="1"), point(threads="2"), point(operation="step", threads="1")
    notes = settings_and_state_agreement.notes
    expected = "on another number of threads than most of their kernel: 1 on 1"
    assert [f"1 of 3 times were measured {expected}"] == notes([one, two, two])[:1]
    expected = "left out: 2 times measured on unequal numbers of threads: 1 on 1, 1 on 2"
    assert [expected] == notes([], [one, two])
    assert not any("threads" in line for line in notes([two, other], [two, other]))


@given(st.lists(st.sampled_from(STATES), max_size=12))
def test_groups_hold_every_point_once(states) -> None:
    """Points of unknown states join the state of most points, which comes first."""
    points = [point(state=state, seconds=1.0 + place) for place, state in enumerate(states)]
    groups = settings_and_state_agreement.groups_that_agree(points)
    assert sorted(points, key=repr) == sorted((each for g in groups for each in g), key=repr)
    for group in groups:
        assert 1 >= len({each.state for each in group} - {""})
    comparable = [state for state in states if state and state not in INCOMPARABLE]
    if comparable:
        most = max(comparable.count(state) for state in comparable)
        first = {each.state for each in groups[0]} - {""}
        assert most == comparable.count(first.pop())


@pytest.mark.parametrize("step", [1, -1], ids=["in order", "reversed"])
def test_of_equally_frequent_states_and_settings_the_first_by_name_counts(step) -> None:
    """In whatever order their files are read."""
    groups_that_agree = settings_and_state_agreement.groups_that_agree
    states = [point(state=NEAR), point(state=FAR)]
    assert FAR == groups_that_agree(states[::step])[0][0].state
    settings = [point(settings=(("B", "1"),)), point(settings=(("A", "1"),))]
    assert (("A", "1"),) == groups_that_agree(settings[::step])[0][0].settings


def test_a_history_says_which_state_it_is_of() -> None:
    """Remarks name the state of the times that are used, and those that are left out."""
    used = [point(state=NEAR), point(state=NEAR), point()]
    said = settings_and_state_agreement.notes(used, [point(state=FAR), point(state=CHANGED)])
    assert "left out: 1 times measured in another state of the machine: far" in said
    assert f"left out: 1 times measured in another state of the machine: {CHANGED}" in said
    assert "2 of 3 times were measured in this state of the machine: near" in said
    assert not any("state of" in line for line in settings_and_state_agreement.notes([point()]))


def history(*states: str) -> list[kernel_lines.Line]:
    """Return the lines of releases that were measured in these states, two processes each."""
    day = point().release.date
    releases = [Release("torch", f"2.{number}.0", day) for number in range(len(states))]
    points = [
        point(release=release, state=state, seconds=1.6 if state == FAR else 1.0, rounds=(1.0, 1.0))
        for release, state in zip(releases, states, strict=True)
    ]
    points = [each._replace(rounds=(each.seconds, each.seconds)) for each in points]
    return kernel_lines.lines(points, releases)


def test_a_change_of_state_is_no_change_of_a_kernel() -> None:
    """Releases of two states make two lines without a change, where one line would have one."""
    found = history(*[NEAR] * 7, *[FAR] * 7)
    assert [FAR, NEAR] == [line.state for line in found]
    assert [[], []] == [line.changes for line in found]
    assert [True, True] == [line.judgeable for line in found]
    (one,) = history(*[""] * 14)
    assert one.judgeable


def test_nothing_is_judged_in_a_state_that_is_none() -> None:
    """Points that were measured while the state changed are kept, and judged by nothing."""
    (line,) = history(*[CHANGED] * 14)
    assert not line.judgeable
    assert [] == line.changes


@pytest.mark.parametrize("state", sorted(INCOMPARABLE))
def test_times_without_a_state_do_not_join_a_state_that_is_none(state) -> None:
    """They are a line of their own, which is judged without the time in such a state."""
    found = history(*[""] * 8, state, *[""] * 4)
    assert [[""] * 12] == [[each.state for each in line.points] for line in found]
    assert found[0].judgeable
    strange, plain = point(state=state), point()
    assert [[plain], [strange]] == settings_and_state_agreement.groups_that_agree([strange, plain])


@pytest.mark.parametrize("state", sorted(INCOMPARABLE))
def test_frameworks_are_not_compared_in_a_state_that_is_none(state) -> None:
    """Two times at an unknown level, or while the level changed, may be at two levels; those of an
    unrecorded state are compared."""
    numpy = Release("numpy", "2.4.6", point().release.date)
    strange = [point(state=state), point(state=state, release=numpy, seconds=2.0)]
    assert [] == contests(strange)
    (found,) = contests([*strange, point(seconds=3.0), point(release=numpy, seconds=4.0)])
    assert [3.0, 4.0] == [each.seconds for each in found.points]


@pytest.mark.parametrize(("state", "speed"), [(NEAR, 2.0), ("", 2.0), (CHANGED, None)])
def test_a_speed_leaves_out_times_of_a_state_that_is_none(state, speed) -> None:
    """A kernel whose times all have such a state has no part in the speed of its family."""
    found = [
        line
        for id in GEMMS[:3]
        for line in kernel_lines.lines(
            [
                point(problem_id=id, release=release, state=state, seconds=seconds)
                for release, seconds in zip(RELEASES[:2], (2.0, 1.0), strict=True)
            ],
            RELEASES,
        )
    ]
    expected = [] if speed is None else [pytest.approx((1.0, speed))]
    assert expected == [each.values for each in speeds(found)]


def test_pages_get_the_state_of_each_point() -> None:
    """A line's data name the state of the line and of every point."""
    (line,) = history(NEAR, "", NEAR)
    places = {each.release: place for place, each in enumerate(line.points)}
    fields = line_fields(line, 0, None, places)
    assert [NEAR, "", NEAR] == fields["states"]
    assert NEAR == fields["state"]
    (plain,) = history("", "")
    assert not {"state", "states"} & set(
        line_fields(plain, 0, None, {each.release: 0 for each in plain.points})
    )


def test_sets_of_a_kernel_in_two_states_are_a_change() -> None:
    """A pooled time of two states is of neither."""
    both = [point(state=NEAR), point(state=FAR, set="inference_server")]
    assert CHANGED == pooled_point(both).state
    assert NEAR == pooled_point([both[0], point(set="inference_server")]).state


def record(*latencies: float) -> dict[str, object]:
    """Return a record with core latencies before and after."""
    entry = {
        "benchmark": "gemm.Training.kernel_forward",
        "params": ["'m1760_n128_k1760_NN'", "'float32'"],
        "started_at": sum(latencies),
        "seconds": [1.0],
        "yardstick": [],
        "fingerprint": "f",
    }
    return {**entry, "core_latencies": list(latencies)} if latencies else entry


def test_states_come_from_records_and_profile(tmp_path) -> None:
    """Levels of the profile name the readings of records; three alike readings make a level."""
    folder = tmp_path / "box"
    folder.mkdir()
    entries = [record(171.0, 172.0), record(320.0, 171.0), record(900.0, 170.0), record()]
    lines_of_file = [{"fingerprint": "f", "facts": {}}, *entries]
    path = folder / ("a" + measurement_files.PLAIN)
    path.write_text("".join(json.dumps(each) + "\n" for each in lines_of_file))
    machine_profile.write(tmp_path, Profile("box", levels=[LatencyLevel(322.0)]))
    judge = SteadinessJudge.of(folder)
    assert 2 == len(judge.levels)
    assert [NEAR, CHANGED, UNKNOWN_STATE, ""] == [judge.state([each]) for each in entries]
    assert CHANGED == judge.state([record(171.0, 171.0), record(322.0, 322.0)])
    assert NEAR == judge.state([record(171.0, 171.0), record()])
