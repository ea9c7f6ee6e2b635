"""Steadiness of points: the reasons for unsteady ones, and points that must have none."""

import json
import math

import example_points as points_of_tests
import numpy as np
import pytest

pytest.importorskip("asv", reason="results are read by asv")
from datetime import date

from deepbench_ops.analysis import (
    fastest_machine_by_kernel,
    frameworks_by_kernel,
    kernel_lines,
    machine_comparison,
)
from deepbench_ops.exchange import export_table_writer
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.impossible_times import Roofs, fast_factor
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.machine.point_records import File
from deepbench_ops.machine.steadiness import (
    FEWEST_POINTS,
    LEAST_APART,
    SteadinessJudge,
    largest_factor_by_chance,
    reason,
)
from deepbench_ops.pages import line_data
from deepbench_ops.problems.optimizer_step import OptimizerStep
from deepbench_ops.problems.selections import select
from deepbench_ops.releases.release_table import Release

NOMINAL = 1e-3
GEMM = ("gemm.InferenceServer.kernel_forward", ("m35_n700_k2048_NN", "float32"))
NO_ROOF = Roofs({})
CONDITIONS = {"fingerprint": "f", "facts": {}}


def process(seconds, readings=(1.0, 1.0), nominal=NOMINAL, key=GEMM, **more):
    """A record of one process: calibrated seconds, under a yardstick that reads so many times its
    nominal value."""
    return {
        "benchmark": key[0],
        "params": list(key[1]),
        "seconds": [seconds * reading for reading in readings],
        "yardstick": [NOMINAL * reading for reading in readings],
        "nominal": nominal,
        "started_at": 0.0,
        "fingerprint": "f",
        **more,
    }


def conv(sizes, precision="float32", operation="forward"):
    """The key of a convolution."""
    return (f"conv.Training.kernel_{operation}", (sizes, precision))


def test_two_processes_that_agree_are_steady():
    assert reason([process(5.5e-4), process(5.7e-4)], GEMM, 5.6e-4, NO_ROOF) == ""


def test_a_point_under_a_disturbed_yardstick_is_unsteady():
    """The point of numpy 2.2.5 that was stored at half its true time."""
    disturbed = [process(2.8e-4, (5.2, 5.6)), process(2.8e-4, (5.4, 6.0))]
    expected = "yardstick off: 5.5 times its nominal reading in 4 of 4 slices"
    assert expected == reason(disturbed, GEMM, 2.8e-4, NO_ROOF)


@pytest.mark.parametrize("reading", [0.81, 1.0, 1.24])
def test_corrections_in_the_range_that_was_shown_to_scale_are_steady(reading):
    records = [process(5.5e-4, (reading,) * 4)] * 2
    assert "" == reason(records, GEMM, 5.5e-4, NO_ROOF)


@pytest.mark.parametrize("reading", [0.7, 1.4])
def test_corrections_outside_of_it_are_not(reading):
    records = [process(5.5e-4, (reading,) * 4)] * 2
    assert "yardstick" in reason(records, GEMM, 5.5e-4, NO_ROOF)


def test_a_minority_of_disturbed_slices_moves_no_median():
    """Three of eight slices outside of the range leave the point steady."""
    records = [process(5.5e-4, (1.0, 1.0, 1.0, 1.0)), process(5.5e-4, (1.0, 2.0, 2.0, 2.0))]
    assert "" == reason(records, GEMM, 5.5e-4, NO_ROOF)


@pytest.mark.parametrize(("undisturbed", "steady"), [(5.5e-4, True), (6.2e-4, False)])
def test_undisturbed_slices_confirm_a_time(undisturbed, steady):
    """Half of the slices outside of the range do no harm where the other half says the same."""
    records = [process(undisturbed, (1.0, 1.1)), process(5.4e-4, (1.8, 2.0))]
    assert steady == (reason(records, GEMM, 5.45e-4, NO_ROOF) == "")


def test_two_processes_far_apart_disagree():
    records = [process(5e-4), process(1e-3)]
    assert "processes disagree: 2 of them lie 2 times apart" == reason(records, GEMM, 7e-4, NO_ROOF)


def test_a_third_process_decides():
    """Two of three that agree, with the point's time, are a majority."""
    records = [process(5e-4), process(1e-3), process(5.1e-4)]
    assert "" == reason(records, GEMM, 5.1e-4, NO_ROOF)


def test_a_time_that_the_majority_does_not_share_is_unsteady():
    """The disturbed process of three may have most of the samples."""
    records = [process(5e-4), process(1e-3), process(5.1e-4)]
    assert "3 of them" in reason(records, GEMM, 1e-3, NO_ROOF)


def test_a_noisy_machine_allows_more():
    """Chance differences between its processes are no disagreement."""
    records = [process(5e-4), process(7e-4)]
    assert reason(records, GEMM, 6e-4, NO_ROOF) and not reason(records, GEMM, 6e-4, NO_ROOF, 1.5)


def test_agreement_follows_the_machine_s_noise():
    """Processes with 8 % noise differ by 11 %, three times which is a factor of 1.4."""
    random = np.random.default_rng(0)
    levels = np.exp(random.normal(0, 0.08, (4000, 2)))
    levels[:400, 0] *= 2  # a tenth of the points are disturbed, which moves it little
    assert math.exp(3 * 0.08 * math.sqrt(2)) == pytest.approx(
        largest_factor_by_chance(levels), rel=0.07
    )


def test_agreement_of_a_quiet_or_unknown_machine_has_a_least_value():
    assert LEAST_APART == largest_factor_by_chance([(1.0, 1.001)] * 100)
    assert LEAST_APART == largest_factor_by_chance([(1.0, 3.0)] * (FEWEST_POINTS - 1))


@pytest.mark.parametrize("noise", [0.03, 0.08, 0.15])
def test_at_most_one_steady_point_in_a_hundred_is_called_unsteady(noise):
    """Points of two processes with nothing but noise, judged by the noise of their machine."""
    random = np.random.default_rng(1)
    levels = np.exp(random.normal(0, noise, (2000, 2)))
    apart = largest_factor_by_chance(levels)
    judged = [
        reason([process(one), process(other)], GEMM, (one + other) / 2, NO_ROOF, apart)
        for one, other in levels
    ]
    assert sum(map(bool, judged)) <= 20


def test_a_time_beyond_the_peak_is_unsteady_without_any_record():
    """359 GFLOP/s where the machine's best product reaches 268."""
    roofs = Roofs({"float32": 268e9})
    assert "beyond the roof: 1.34 times the peak" == reason([], GEMM, 0.2793e-3, roofs)
    assert "" == reason([], GEMM, 0.55e-3, roofs)


def test_a_step_of_muon_is_held_against_the_peak_of_bfloat16():
    """2.5 times the float32 peak is possible, 1.5 times that of bfloat16 is not."""
    key = ("optimizer_step.Modern.kernel_step", ("muon_tensors4_512x2048", "float32"))
    flops = OptimizerStep("muon", 4, 512, 2048).flops
    roofs = Roofs({"float32": 200e9, "bfloat16": 400e9})
    assert "" == reason([], key, flops / 500e9, roofs)
    assert "beyond the roof: 1.5 times the peak" == reason([], key, flops / 600e9, roofs)


@pytest.mark.parametrize(
    ("sizes", "factor"),
    [
        ("w28_h28_c256_n16_k512_r3_s3_pad1_1_stride1_1", 4.0),
        ("w14_h14_c256_n16_k1024_r1_s1_pad0_0_stride1_1", 1.0),
        ("w7_h7_c2048_n2_k512_r1_s1_pad3_3_stride2_2", 49 / 9),
    ],
)
def test_fast_convolutions_may_beat_the_plain_count(sizes, factor):
    """Winograd for filters larger than 1 x 1; zeros of a padding that are not multiplied."""
    assert factor == pytest.approx(fast_factor(conv(sizes)))


def test_a_product_has_no_fast_algorithm():
    assert 1.0 == fast_factor(GEMM)


@pytest.mark.parametrize(("cache_bytes", "beaten"), [(32 * 2**20, True), (256 * 2**20, False)])
def test_operands_in_memory_cannot_move_faster_than_it(cache_bytes, beaten):
    """90 MB at four times the bandwidth: possible in a cache of 256 MB, not of 32."""
    key = ("gemm.InferenceServer.kernel_forward", ("m8448_n1_k2816_NN", "float32"))
    roofs = Roofs({}, bandwidth=29e9, cache_bytes=cache_bytes)
    moved = 4 * (8448 * 2816 + 2816 + 2 * 8448)
    assert beaten == bool(reason([], key, moved / 29e9 / 4, roofs))


@pytest.mark.parametrize(("times", "beaten"), [(49, False), (51, True)])
def test_operands_in_a_cache_may_move_faster_than_memory_but_not_at_any_rate(times, beaten):
    """A product of 6.2 MB, at so many times the bandwidth of the memory."""
    key = ("gemm.InferenceServer.kernel_forward", ("m35_n700_k2048_NN", "float32"))
    roofs = Roofs({}, bandwidth=29e9, cache_bytes=32 * 2**20)
    moved = 4 * (35 * 2048 + 2048 * 700 + 2 * 35 * 700)
    assert beaten == bool(reason([], key, moved / 29e9 / times, roofs))


def test_roofs_are_those_of_the_device():
    """The cache of the processor says nothing of an accelerator's."""
    known = Profile(
        "box",
        facts={"last_level_cache_bytes": "33554432"},
        peaks={"cpu": {"float32": Figure(1e11, "FLOP/s", "measured: x")}},
        bandwidth={"cuda": Figure(1e12, "bytes/s", "measured: x")},
    )
    assert Roofs({"float32": 1e11}, None, 33554432.0) == Roofs.of(known, "cpu")
    assert Roofs({}, 1e12, None) == Roofs.of(known, "cuda")
    assert Roofs({}) == Roofs.of(None, "cpu")


@pytest.mark.parametrize("caches", ["", "0", "32 MiB", "²"])
def test_caches_of_no_size_are_not_known(caches):
    """A profile's facts are texts that anyone may have written."""
    known = Profile("box", facts={"last_level_cache_bytes": caches})
    assert Roofs({}) == Roofs.of(known, "cpu")


def test_a_judge_reads_a_machine_s_folder(tmp_path):
    """Skips and quick looks are no processes of a point."""
    records = [
        CONDITIONS,
        process(5e-4),
        process(1e-3),
        process(9.0, quick=True),
        {"benchmark": GEMM[0], "params": list(GEMM[1]), "skipped": "too long"},
    ]
    folder = tmp_path / "box"
    folder.mkdir()
    path = folder / "0123-x.measurements.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    judge = SteadinessJudge.of(folder)
    found = judge.file(folder / "0123-x.json").records[GEMM]
    assert 2 == len(found)
    assert "2 of them" in judge.reason(found, GEMM, 7e-4, "cpu")
    assert not judge.file(folder / "4567-y.json").records


def test_times_that_are_sent_without_the_unsteady_ones_stay_steady(tmp_path):
    """Without the factor in the profile the rest would look less noisy than the machine is."""
    random = np.random.default_rng(2)
    levels = np.exp(random.normal(0, 0.15, (400, 2)))
    levels[:80, 0] *= 4
    for name in ("here", "there"):
        (tmp_path / name / "box").mkdir(parents=True)

    def write(name, pairs):
        records = [CONDITIONS]
        records += [
            process(seconds, key=(GEMM[0], (f"m{number}_n1_k1_NN", "float32")))
            for number, pair in enumerate(pairs)
            for seconds in pair
        ]
        path = tmp_path / name / "box" / "0123-x.measurements.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return SteadinessJudge.of(tmp_path / name / "box")

    def unsteady(judge, pair):
        return judge.reason([process(each) for each in pair], GEMM, pair.mean(), "cpu")

    here = write("here", levels)
    sent = [pair for pair in levels if not unsteady(here, pair)]
    assert 300 < len(sent) < 340
    assert any(unsteady(write("there", sent), pair) for pair in sent)
    profile = Profile("box", factor_by_chance=here.apart)
    machine_profile.write(tmp_path / "there", profile)
    assert not any(unsteady(write("there", sent), pair) for pair in sent)


RELEASES = [Release("torch", f"2.{n}.0", date(2026, 1, 1 + n)) for n in range(8)]


def points(**last):
    """A kernel on eight releases, the last of them with these fields changed."""
    each = [
        points_of_tests.point(release=release, seconds=1.0, rounds=(1.0, 1.01))
        for release in RELEASES
    ]
    return [*each[:-1], each[-1]._replace(**last)]


UNSTEADY = {
    "seconds": 0.5,
    "rounds": (0.5, 0.5),
    "unsteady": "processes disagree: 2 of them lie 2 times apart",
}


def test_the_fastest_is_a_steady_time():
    members = [
        each for each in select("training", "gemm") if each.problem.id == points()[0].problem_id
    ]
    (record,) = fastest_machine_by_kernel.records(points(**UNSTEADY), members, ["float32"])
    assert ("torch-2.6.0", 1.0) == (record.release, record.seconds)


def test_machines_are_compared_by_steady_times():
    (newest,) = machine_comparison.contender("box", points(**UNSTEADY)).points.values()
    assert "torch-2.6.0" == newest.release.name


def test_frameworks_are_ranked_by_steady_times():
    other = points_of_tests.point(
        release=Release("numpy", "2.4.6", date(2026, 2, 1)), seconds=2.0, rounds=(2.0, 2.0)
    )
    (contest,) = frameworks_by_kernel.contests([*points(**UNSTEADY), other])
    assert ["torch-2.6.0", "numpy-2.4.6"] == [point.release.name for point in contest.points]


def test_a_line_keeps_an_unsteady_point_and_judges_without_it():
    (line,) = kernel_lines.lines(points(**UNSTEADY), RELEASES)
    assert (8, 7, 14) == (len(line.points), len(line.steady), len(line.levels))
    assert 1.0 == min(line.levels)


def test_pages_hold_the_reason_of_each_point():
    """Lines without an unsteady point are as short as before."""
    for last, expected in (UNSTEADY, [""] * 7 + [UNSTEADY["unsteady"]]), ({}, None):
        (line,) = kernel_lines.lines(points(**last), RELEASES)
        fields = line_data.line_fields(line, 0, None, dict.fromkeys(RELEASES, 0))
        assert expected == fields.get("unsteady")


def test_an_export_has_the_reason_in_a_column():
    """Of a steady time the cell is empty."""
    assert "" == export_table_writer.row(points()[0])[export_table_writer.UNSTEADY]
    *_, last = points(**UNSTEADY)
    assert UNSTEADY["unsteady"] == export_table_writer.row(last)[export_table_writer.UNSTEADY]
    assert export_table_writer.UNSTEADY in export_table_writer.as_csv(
        [export_table_writer.row(last)]
    ).splitlines()[0].split(",")


def test_a_change_stands_between_steady_points():
    """The release that measured nothing trustworthy is neither before nor after a change."""
    noise = np.random.default_rng(0).normal(0, 0.005, (8, 2))
    found = [
        points_of_tests.point(
            release=release,
            rounds=tuple((1.0 if place < 4 else 1.3) * np.exp(noise[place])),
            unsteady="yardstick" if place == 3 else "",
        )
        for place, release in enumerate(RELEASES)
    ]
    (line,) = kernel_lines.lines(found, RELEASES)
    (shift,) = line.changes
    assert (RELEASES[2], RELEASES[4]) == (shift.before.release, shift.after.release)


def test_processes_of_three_are_judged_by_their_majority_however_many_there_are():
    """Three of five that agree outvote two."""
    records = [process(5e-4)] * 3 + [process(1e-3)] * 2
    assert "" == reason(records, GEMM, 5e-4, NO_ROOF)
    assert "" != reason(records[1:], GEMM, 7.5e-4, NO_ROOF)


@pytest.mark.parametrize(
    ("latencies", "more", "state"),
    [
        ([170.0, 205.0], {"ensemble": {}}, "near"),
        ([140.0, 260.0], {"ensemble": {}}, "near"),
        ([300.0, 420.0], {"ensemble": {}}, "far"),
        ([520.0, 560.0], {"ensemble": {}}, "unknown"),
        ([], {"ensemble": {}}, ""),
        ([170.0, 205.0], {}, "near"),
        ([140.0, 260.0], {}, "unknown"),
    ],
)
def test_the_state_of_a_history_is_the_level_next_to_its_readings(latencies, more, state):
    """Its rounds are of one level, however far that reaches; a process's readings have to fit."""
    machine = machine_profile.Profile(
        "here", levels=[machine_profile.LatencyLevel(each) for each in (180.0, 340.0)]
    )
    judge = SteadinessJudge({}, machine)
    assert state == judge.state([process(1.0, core_latencies=latencies, **more)])


@pytest.mark.parametrize(("nominal", "state"), [(NOMINAL, "one level"), (None, "unknown")])
def test_raw_seconds_at_the_edge_of_a_state_are_of_no_known_state(nominal, state):
    """They stayed raw since the state was not known, and calibrated ones differ from them."""
    machine = machine_profile.Profile("here", levels=[machine_profile.LatencyLevel(440.0)])
    dense = [process(1.0, core_latencies=[float(each)] * 4) for each in range(330, 500)]
    judge = SteadinessJudge({"result": File({GEMM: dense}, {})}, machine)
    assert state == judge.state([process(1.0, nominal=nominal, core_latencies=[345.0, 350.0])])
