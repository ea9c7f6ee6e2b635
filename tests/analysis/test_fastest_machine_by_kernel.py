"""DeepBench's README tables come out of the results again, of the day when they were printed."""

import json
import math
import time
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import example_points as points_of_tests
import pytest
from click.testing import CliRunner

from deepbench_ops.analysis import fastest_machine_by_kernel, machine_points, point_reading
from deepbench_ops.commands import fastest as command
from deepbench_ops.measure.machine_states import FAR, INCOMPARABLE, NEAR
from deepbench_ops.problems import load
from deepbench_ops.problems.selections import select
from deepbench_ops.releases import release_table

RESULTS = Path(__file__).resolve().parents[2] / "results"
DAY = date(2017, 7, 14)

# As printed in DeepBench's README at revision 106e5236: ms, 10^12 FLOP/s, processor.
README = [
    ("float32", "training", "m1760_n128_k1760_NN", 0.10, 7.93, "nvidia-gtx-1080-ti"),
    ("float32", "training", "m2560_n64_k2560_NN", 0.16, 5.31, "nvidia-p100"),
    ("float32", "training", "m3072_n128_k1024_TN", 0.13, 6.01, "nvidia-titan-x-pascal"),
    (
        *("float32", "training", "w700_h161_c1_n32_k32_r5_s20_pad0_0_stride2_2"),
        *(2.46, 6.74, "nvidia-titan-xp"),  # printed 2.64; the workbook's passes add up to 2.464
    ),
    (
        *("float32", "training", "w224_h224_c3_n16_k64_r3_s3_pad1_1_stride1_1"),
        *(2.40, 4.26, "nvidia-p100"),
    ),
    ("float16", "training", "m1760_n128_k1760_NN", 0.23, 3.42, "nvidia-p100"),
    ("float16", "training", "m7680_n64_k2560_NN", 0.61, 4.15, "nvidia-p100"),
    ("float16", "training", "m2560_n64_k2560_NN", 0.33, 2.57, "nvidia-p100"),
    ("int8", "inference_server", "m5124_n700_k2048_NN", 0.46, 31.94, "nvidia-gtx-1080-ti"),
    ("int8", "inference_server", "m35_n700_k2048_NN", 0.05, 2.09, "nvidia-gtx-1080-ti"),
    ("int8", "inference_server", "m3072_n3000_k1024_NN", 0.49, 38.36, "nvidia-titan-xp"),
    ("int8", "inference_server", "m512_n6000_k2816_NN", 0.43, 40.71, "nvidia-titan-xp"),
    ("float32", "inference_server", "lstm_h1536_n4_t50", 6.93, 0.55, "nvidia-titan-xp"),
    ("float32", "inference_server", "lstm_h256_n4_t150", 1.63, 0.19, "nvidia-gtx-1080-ti"),
    ("float32", "inference_server", "gru_h2816_n1_t1500", 350.62, 0.20, "nvidia-titan-xp"),
    ("float32", "inference_server", "gru_h2560_n2_t375", 75.02, 0.39, "nvidia-titan-xp"),
    ("int8", "inference_device", "m5124_n700_k2048_NN", 212.84, 0.07, "apple-iphone-7"),
    ("int8", "inference_device", "m3072_n1500_k1024_NN", 136.63, 0.07, "apple-iphone-7"),
    (
        *("float32", "inference_device", "w7_h7_c512_n1_k2048_r1_s1_pad0_0_stride1_1"),
        *(735.28, 0.0, "raspberry-pi-3"),
    ),
]


@pytest.fixture(scope="module")
def published():
    """All published times in results/."""
    releases = {release.hash: release for release in release_table.load()}
    machines = [name for name in point_reading.machines(RESULTS) if not name.startswith("epyc")]
    return [
        point for machine in machines for point in point_reading.load(RESULTS, machine, releases)
    ]


@pytest.mark.parametrize(
    ("precision", "published_set", "problem", "ms", "rate", "machine"),
    README,
    ids=[f"{row[0]}-{row[1]}-{row[2]}" for row in README],
)
def test_the_readme_of_2017(published, precision, published_set, problem, ms, rate, machine):
    """The fastest processor, its time and its FLOPS, to the digits that were printed."""
    found = fastest_machine_by_kernel.records(published, select("headline"), [precision], DAY)
    [record] = [r for r in found if (r.set, r.problem_id) == (published_set, problem)]
    assert machine == record.machine
    assert ms == pytest.approx(record.seconds * 1e3, abs=0.0051)
    assert rate == pytest.approx(record.rate / 1e12, abs=0.0051)


def test_later_workbooks_differ(published):
    """The 0.07 ms of the V100 in 2017 are 0.03 in 2019: each record with its day."""
    [line] = [
        line
        for line in fastest_machine_by_kernel.history(
            published, select("headline", "gemm"), ["float16"]
        )
        if line[0].problem_id == "m1760_n128_k1760_NN"
    ]
    held = {(r.machine, r.day.isoformat()): r.seconds for r in line}
    assert held["nvidia-v100", "2017-11-16"] == 7.4e-05
    assert held["nvidia-v100", "2019-10-07"] == 3.1e-05
    assert [r.day for r in line] == sorted(r.day for r in line)


def test_only_faster_times_are_records():
    """A slower time that takes the place of its machine's former one is none."""
    one = points_of_tests.point(set="training", problem_id="m1760_n128_k1760_NN")
    taken = [
        one._replace(seconds=seconds, release=release)
        for seconds, release in zip(
            (0.1, 0.107, 0.09, 0.09), release_table.measurable(), strict=False
        )
    ]
    (line,) = fastest_machine_by_kernel.history(taken, select("headline", "gemm"), [one.precision])
    assert [0.1, 0.09] == [record.seconds for record in line]


def test_the_history_of_thousands_of_days_takes_less_than_seconds():
    """A day costs no more than the kernels that have a new time on it."""
    problems = [each for each in select("headline", "gemm") if each.set == "training"]
    ids = list(dict.fromkeys(each.problem.id for each in problems))
    taken = [
        points_of_tests.point(
            set="training",
            problem_id=ids[number % len(ids)],
            seconds=1 / (1 + number),
            release=release_table.Release("numpy", f"1.{number}", DAY + timedelta(number)),
        )
        for number in range(3000)
    ]
    started = time.process_time()
    lines = fastest_machine_by_kernel.history(taken, problems, [taken[0].precision])
    assert 3000 == sum(map(len, lines))
    assert time.process_time() - started < 5


def test_the_history_ends_on_the_day_that_was_asked_for(published):
    """Later records are not in it."""
    members = select("headline", "gemm")
    whole = fastest_machine_by_kernel.history(published, members, ["float32"])
    until = fastest_machine_by_kernel.history(published, members, ["float32"], DAY)
    expected = [[record for record in line if record.day <= DAY] for line in whole]
    assert [line for line in expected if line] == until
    assert until != whole


@pytest.mark.parametrize("family", ["gemm", "conv", "rnn"])
def test_records_fall(published, family):
    """As long as they are totals of as many passes."""
    for line in fastest_machine_by_kernel.history(
        published, select("headline", family), ["float32"]
    ):
        for former, record in pairwise(line):
            assert record.passes > former.passes or record.seconds < former.seconds


def test_the_command_prints_a_day(published):
    """As JSON, with the day of each record no later than asked for."""
    arguments = ["--results", str(RESULTS), "--as-of", "2017-07-14", "--format", "json"]
    done = CliRunner().invoke(command.fastest, [*arguments, "--precision", "int8"])
    assert done.exit_code == 0, done.output
    assert all(row["day"] <= "2017-07-14" for row in json.loads(done.output))


def test_several_precisions_are_one_contest(published):
    """The last README's table is of FP32 and mixed precision together: 0.07 ms on a V100 in
    mixed precision as of 2018-04-03, which its 16-bit sheet has; the precision is printed."""
    arguments = ["--results", str(RESULTS), "--as-of", "2018-04-03", "--family", "gemm"]
    asked = ["float32", "float32_mixed", "float16"]
    several = [text for name in asked for text in ("--precision", name)]
    done = CliRunner().invoke(command.fastest, [*arguments, *several])
    assert done.exit_code == 0, done.output
    rows = {line.split()[2]: line.split()[3:] for line in done.output.splitlines()[2:]}
    expected = ["0.074", "10.7", "float16", "nvidia-v100", "published-2017.11.29"]
    assert expected == rows["m1760_n128_k1760_NN"]
    assert "float32_mixed" == rows["m5124_n9124_k2560_TN"][2]
    found = {
        names: {
            r.problem_id: r.seconds
            for r in fastest_machine_by_kernel.records(published, members, names, DAY)
        }
        for members in [select("headline", "gemm")]
        for names in [("float32",), ("float16",), ("float32", "float16")]
    }
    both = found["float32", "float16"]
    assert both == {
        id: min(found[name,].get(id, math.inf) for name in ("float32", "float16")) for id in both
    }


def test_passes_at_two_precisions_are_no_total():
    """A total is of the passes at one of them, whichever is the newest of each pass."""
    layer = load("rnn", "training")[0]
    both = [
        points_of_tests.point(
            problem_id=layer.id, family="rnn", operation=operation, precision=precision
        )
        for operation, precision in (
            ("forward", "float32"),
            ("backward_data", "float32"),
            ("forward", "float16"),
        )
    ]
    members = [each for each in select("training", "rnn") if each.problem.id == layer.id]
    [record] = fastest_machine_by_kernel.records(both, members, ["float32", "float16"])
    assert ("float32", 2.0) == (record.precision, record.seconds)


LAYER = load("rnn", "training")[0]
JANUARY, JUNE = (
    release_table.Release("published", f"2018.{month}", date(2018, month, 1)) for month in (1, 6)
)


def pass_of(operation, release, seconds):
    return points_of_tests.point(
        problem_id=LAYER.id, family="rnn", operation=operation, release=release, seconds=seconds
    )


def totals(*points):
    """Return release, day and seconds of a layer's records."""
    members = [each for each in select("training", "rnn") if each.problem.id == LAYER.id]
    lines = fastest_machine_by_kernel.history(points, members, ["float32"])
    return [(r.release, r.day, r.seconds) for line in lines for r in line]


def test_a_total_is_of_one_release_where_one_has_all_passes():
    """A faster pass that a later release has alone is no record, and none under an earlier day."""
    whole = [pass_of("forward", JANUARY, 2.0), pass_of("backward_data", JANUARY, 4.0)]
    first = (JANUARY.name, JANUARY.date, 6.0)
    assert [first] == totals(*whole, pass_of("backward_data", JUNE, 1.0))
    later = [pass_of("forward", JUNE, 2.0), pass_of("backward_data", JUNE, 1.0)]
    assert [first, (JUNE.name, JUNE.date, 3.0)] == totals(*whole, *later)


def test_a_total_of_two_releases_names_both_and_is_of_the_later_day():
    """Where each has only some passes."""
    found = totals(pass_of("forward", JANUARY, 2.0), pass_of("backward_data", JUNE, 1.0))
    both = (f"{JANUARY.name}, {JUNE.name}", JUNE.date, 3.0)
    assert [(JANUARY.name, JANUARY.date, 2.0), both] == found


def test_every_family_has_a_fastest_by_its_first_operation():
    """Optimiser steps have no forward; a kernel without its first operation has no row."""
    releases = {release.hash: release for release in release_table.load()}
    measured = list(point_reading.load(RESULTS, "epyc-9004-2core", releases))
    step = [point._replace(unsteady="") for point in measured if point.operation == "step"]
    backward = [point for point in measured if point.operation == "backward_weight"]
    selected = select("modern")
    found = fastest_machine_by_kernel.records([*step, *backward], selected, ["float32"])
    assert step
    assert {point.problem_id for point in step} == {record.problem_id for record in found}


GEMM = {"set": "training", "problem_id": "m1760_n128_k1760_NN"}
DAYS = [release_table.Release("numpy", f"2.{n}", date(2020 + n, 1, 1)) for n in range(3)]


def in_states(*states, machine="box"):
    """The times of a kernel on releases that were measured in these states: 3, 2 and 1 s."""
    return [
        points_of_tests.point(
            **GEMM, machine=machine, state=state, release=release, seconds=3.0 - number
        )
        for number, (release, state) in enumerate(zip(DAYS, states, strict=True))
    ]


def held(points):
    """The seconds of the records of a kernel, and of the times that states leave out."""
    members = select("headline", "gemm")
    lines = fastest_machine_by_kernel.history(points, members, ["float32"])
    _, left = fastest_machine_by_kernel.counting(points, members, ["float32"])
    return [r.seconds for line in lines for r in line], [p.seconds for p in left]


@pytest.mark.parametrize("state", [FAR, *sorted(INCOMPARABLE)])
def test_another_state_of_the_machine_sets_no_record(state):
    """A machine counts in the state of most of its times, and never in one that is none."""
    assert ([3.0, 2.0], [1.0]) == held(in_states(NEAR, NEAR, state))


@pytest.mark.parametrize("state", sorted(INCOMPARABLE))
def test_times_of_a_state_that_is_none_compare_with_other_machines_alone(state):
    """Where a machine has no others its newest release counts."""
    assert ([3.0, 2.0], [1.0]) == held(in_states(NEAR, "", state))
    alone = in_states(state, state, state)
    assert ([1.0], [3.0, 2.0]) == held(alone)
    [other, *_] = in_states(FAR, FAR, FAR, machine="other")
    assert ([0.5], [3.0, 2.0]) == held([*alone, other._replace(seconds=0.5)])


def test_the_state_in_which_all_passes_were_measured_counts():
    """Though more times were measured in another one."""
    whole = [pass_of("forward", JANUARY, 2.0), pass_of("backward_data", JANUARY, 4.0)]
    others = [pass_of("forward", release, 1.0)._replace(state=FAR) for release in [JUNE, *DAYS]]
    assert [(JANUARY.name, JANUARY.date, 6.0)] == totals(
        *others, *(each._replace(state=NEAR) for each in whole)
    )


@pytest.mark.parametrize("state", [NEAR, *sorted(INCOMPARABLE)])
def test_a_total_has_all_passes_of_a_release_where_no_state_has_them(state):
    """A pass alone in a known state would be a total of less work."""
    passes = [pass_of("forward", JUNE, 2.0), pass_of("backward_data", JUNE, 4.0)]
    both = [passes[0]._replace(state=FAR), passes[1]._replace(state=state)]
    assert [(JUNE.name, JUNE.date, 6.0)] == totals(*both)


def test_the_command_counts_the_times_of_other_states(monkeypatch):
    """In a line for each state."""
    points = in_states(NEAR, NEAR, FAR)
    monkeypatch.setattr(machine_points, "load", lambda *_, **__: points)
    monkeypatch.setattr(point_reading, "machines", lambda _: ["box"])
    done = CliRunner().invoke(command.fastest, ["--results", str(RESULTS), "--family", "gemm"])
    assert "left out: 1 times measured in another state of the machine: far" in done.stderr
    assert "2 of 2 times were measured in this state of the machine: near" in done.stderr
