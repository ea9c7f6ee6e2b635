"""Two machines side by side: ratios over the kernels that both have, and no others."""

import csv
import io
import json
import math
from datetime import date

import example_points as points_of_tests
import numpy as np
import pytest
import workbooks
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deepbench_ops.analysis import machine_comparison, point_reading
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.commands.compare import compare
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.published import published_result_filing
from deepbench_ops.exchange.workbooks import workbook_values
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.problems import FAMILIES, load, problem_ids
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release

GEMMS = points_of_tests.GEMMS
OLD = Release("torch", "2.0.1", date(2023, 5, 8))
NEW = Release("torch", "2.13.0", date(2026, 7, 8))
OTHER = Release("numpy", "2.4.6", date(2026, 5, 18))


def point(problem=GEMMS[0], seconds=1.0, **said):
    return points_of_tests.point(problem_id=problem, seconds=seconds, **said)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_id_tells_the_problem(family):
    """A listed problem is found by its id, and its sizes can be read from the id."""
    for problem in load(family):
        assert problem_of(family, problem.id) is problem
        assert problem.id == problem_ids.read(family, problem.id).id
    with pytest.raises(DeepbenchError, match="unknown"):
        problem_of(family, "nonsense")


@pytest.mark.parametrize(
    ("family", "unlisted"),
    [
        ("gemm", "m3_n4_k5_TN"),
        ("conv", "w9_h8_c3_n2_k7_r5_s3_pad1_2_stride2_1"),
        ("rnn", "gru_h7_n3_t2"),
        ("sparse_gemm", "m3_n4_k5_NN_sparsity0.5"),
        ("all_reduce", "n12"),
        ("linear_layer", "linear_m3_n4_k5_bias"),
    ],
)
def test_an_id_that_no_list_has(family, unlisted):
    """Sizes read from it give that id again."""
    assert unlisted == problem_of(family, unlisted).id


@pytest.mark.parametrize(
    ("family", "id", "reason"),
    [
        ("gemm", "m0_n1_k1_NN", "m is '0'"),
        ("gemm", "m01_n1_k1_NN", "write m1_n1_k1_NN"),
        ("gemm", f"m{'9' * 5000}_n1_k1_NN", "m is"),
        ("conv", "w9_h9_c1_n1_k1_r3_s3_pad0_0_stride0_1", "stride_w is '0'"),
        ("conv", "w2_h9_c1_n1_k1_r3_s3_pad0_0_stride1_1", "larger than the padded image"),
        ("sparse_gemm", "m3_n4_k5_NN_sparsity0.0", "sparsity is '0.0'"),
    ],
)
def test_an_id_of_no_possible_kernel_is_refused(family, id, reason):
    """Sizes begin at 1, padding at 0, sparsity lies between 0 and 1; an id has one spelling."""
    with pytest.raises(DeepbenchError, match=reason):
        problem_of(family, id)


@given(
    pairs=st.lists(st.tuples(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3)), min_size=2, max_size=20)
)
def test_the_mean_ratio_is_geometric_and_turns_round(pairs):
    """It agrees with scipy's, lies in its interval, and is the inverse seen from the other side."""
    one, two = (
        machine_comparison.contender(
            "box", [point(p, pair[i]) for p, pair in zip(GEMMS, pairs, strict=False)]
        )
        for i in (0, 1)
    )
    [there], [back] = machine_comparison.groups(one, two), machine_comparison.groups(two, one)
    ratios = [b / a for a, b in pairs]
    assert there.ratio == pytest.approx(stats.gmean(ratios))
    assert there.low <= there.ratio * (1 + 1e-9) and there.ratio <= there.high * (1 + 1e-9)
    assert there.ratio * back.ratio == pytest.approx(1)
    assert there.shared == len(pairs)


def test_only_what_both_have_is_compared():
    """Coverage says how much each has; one shared kernel has no interval."""
    one = machine_comparison.contender("a", [point(GEMMS[0], 1.0), point(GEMMS[1], 2.0)])
    two = machine_comparison.contender("b", [point(GEMMS[1], 1.0), point(GEMMS[2], 1.0)])
    [group] = machine_comparison.groups(one, two)
    assert (group.ratio, group.shared, group.first_has, group.other_has) == (0.5, 1, 2, 2)
    assert math.isnan(group.low)


def test_precisions_are_groups_of_their_own():
    """A float16 time is never held against a float32 one."""
    both = [point(precision="float32"), point(precision="float16")]
    found = machine_comparison.groups(
        machine_comparison.contender("a", both), machine_comparison.contender("b", both)
    )
    assert {group.precision for group in found} == {"float32", "float16"}


def test_the_newest_time_of_a_framework_counts():
    """A release by name, a framework's newest, and no choice between frameworks by guess."""
    found = [point(seconds=3.0, release=OLD), point(seconds=2.0), point(seconds=1.0, release=OTHER)]
    kernel = found[0].kernel

    def seconds(spec):
        return machine_comparison.contender(spec, found).points[kernel].seconds

    assert (seconds("box@torch"), seconds("box@torch-2.0.1"), seconds("box@numpy")) == (
        2.0,
        3.0,
        1.0,
    )
    with pytest.raises(DeepbenchError, match="write one of box@numpy, box@torch"):
        machine_comparison.contender("box", found)
    with pytest.raises(DeepbenchError, match=r"torch-2\.13\.0"):
        machine_comparison.contender("box@torch-2.13.1", found)


def test_the_newest_times_that_agree_are_compared():
    """As on the page Compare: an older time, where only that was taken in the other's state."""
    far = [point(seconds=9.0, state="far"), point(seconds=2.0, state="near", release=OLD)]
    near = [point(seconds=3.0, state="near", release=OTHER)]
    first = machine_comparison.contender("box@torch", [*far, *near])
    other = machine_comparison.contender("box@numpy", [*far, *near])
    (found,) = machine_comparison.changes(first, other)
    assert (2.0, 3.0) == (found.first.seconds, found.other.seconds)
    one = machine_comparison.contender("box@torch-2.13.0", [*far, *near])
    assert [] == machine_comparison.changes(one, other)
    assert any("far" in line for line in machine_comparison.remarks(one, other))


def test_times_on_other_threads_are_left_out():
    """Of one machine; an older time on as many threads takes their place."""
    two = [point(seconds=9.0, threads="1"), point(seconds=2.0, threads="2", release=OLD)]
    far = [point(seconds=3.0, threads="2", release=OTHER)]
    one = machine_comparison.contender("box@torch", two)
    other = machine_comparison.contender("box@numpy", far)
    (found,) = machine_comparison.changes(one, other)
    assert 1.5 == found.ratio
    alone = machine_comparison.contender("box@torch", two[:1])
    assert [] == machine_comparison.changes(alone, other)


def test_a_comparison_is_of_the_usual_conditions():
    """A cold cache or another layout is another figure, whichever was stored last; so is a device,
    which is to be chosen."""
    usual = point(seconds=2.0)
    others = [point(seconds=9.0, cache="cold"), point(seconds=8.0, layout="channels_last")]
    found = machine_comparison.contender("box", [usual, *others])
    assert [2.0] == [each.seconds for each in found.points.values()]
    both = [usual, point(seconds=1.0, device="cuda")]
    with pytest.raises(DeepbenchError, match="box has results on cpu and cuda: choose one with"):
        machine_comparison.contender("box", both)
    chosen = machine_comparison.contender("box", both, device="cuda")
    assert [1.0] == [each.seconds for each in chosen.points.values()]
    with pytest.raises(DeepbenchError, match="box has no results under the usual conditions"):
        machine_comparison.contender("box", others)


def test_the_interval_is_students():
    """Of the logarithms of the ratios, as scipy.stats.t has it."""
    ratios = [0.5, 0.7, 1.3, 0.9, 0.8]
    one = machine_comparison.contender("a", [point(p, 1.0) for p in GEMMS[:5]])
    two = machine_comparison.contender(
        "b", [point(p, r) for p, r in zip(GEMMS, ratios, strict=False)]
    )
    [group] = machine_comparison.groups(one, two)
    logs = np.log(ratios)
    expected = stats.t.interval(0.95, len(logs) - 1, loc=logs.mean(), scale=stats.sem(logs))
    assert (group.low, group.high) == pytest.approx(tuple(np.exp(expected)))


def test_the_widest_wins_and_losses_are_listed(results):
    """As many of each as asked for, the widest first, none in both lists."""
    path = results.parent / "2017-07-14__train__DeepBench_NV_TitanXp.xlsx"
    rows = [(1760, n, 1760, "N", "N", time) for n, time in ((16, 0.5), (32, 8), (64, 1.5))]
    published_result_filing.file(
        results, workbook_values.read(workbooks.write(path, workbooks.gemm(*rows))), len
    )
    [pair] = json.loads(
        run(results, "nvidia-m40", "nvidia-titan-xp", "--widest", "2", "--format", "json").output
    )
    assert [0.5, 0.5, 4] == [pytest.approx(row["other / first"]) for row in pair["widest"]]
    exact = [(row["first, s"], row["other, s"]) for row in pair["widest"]]
    assert [(0.001, 0.0005), (0.003, 0.0015), (0.002, 0.008)] == exact
    text = run(results, "nvidia-m40", "nvidia-titan-xp", "--widest", "1").output
    faster, slower = text.split("first is faster")
    assert ["m1760_n16_k1760_NN" in faster, "m1760_n64_k1760_NN" in text] == [True, False]
    assert "m1760_n32_k1760_NN" in slower


def test_the_share_of_peak_is_flops_over_time_over_peak():
    """From the problem's own FLOPs; without a peak for the precision there is no share."""
    peaks = {"cpu": {"float32": Figure(1e12, "FLOP/s", "measured: x")}}
    one = machine_comparison.contender("a", [point(seconds=0.5)], Profile("a", peaks=peaks))
    expected = load("gemm", "training")[0].flops / 0.5 / 1e12
    assert one.of_peak(next(iter(one.points.values()))) == pytest.approx(expected)
    assert one.of_peak(point(precision="int8")) is None


def test_mixed_precision_has_the_peak_of_its_products():
    """32-bit operands that are multiplied in 16 bits are held against the float16 peak."""
    peaks = {
        "cpu": {name: Figure(x, "FLOP/s", "x") for name, x in (("float32", 1), ("float16", 8))}
    }
    one = machine_comparison.contender(
        "a", [point(precision="float32_mixed")], Profile("a", peaks=peaks)
    )
    [only] = one.points.values()
    assert only.rate / 8 == one.of_peak(only)


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Two machines with published times, the second twice as fast."""
    rows = [(1760, n, 1760, "N", "N") for n in (16, 32, 64)]
    for machine, factor in (("NV_M40", 1.0), ("NV_P100", 0.5)):
        path = tmp_path / f"2017-07-14__train__DeepBench_{machine}.xlsx"
        section = workbooks.gemm(*((*row, factor * (i + 1)) for i, row in enumerate(rows)))
        published_result_filing.file(
            tmp_path / "results", workbook_values.read(workbooks.write(path, section)), len
        )
    workbooks.with_release_of_2017(tmp_path, monkeypatch)
    return tmp_path / "results"


def run(results, *args):
    return CliRunner().invoke(compare, [*args, "--results", str(results)])


def test_published_machines_compare(results):
    """As a table, Markdown, CSV and JSON, with the shares of the data sheets' peaks."""
    names = ("nvidia-m40", "nvidia-p100")
    text = run(results, *names).output
    assert "nvidia-p100@published-2017.7.14 against nvidia-m40@published-2017.7.14" in text
    assert "| gemm" in run(results, *names, "--format", "markdown").output
    [row] = csv.DictReader(io.StringIO(run(results, *names, "--format", "csv").output))
    assert (row["other / first"], row["both have"]) == ("0.5", "3")
    [pair] = json.loads(run(results, *names, "--format", "json").output)
    known = machine_profile.read(results, "nvidia-p100").peaks["cuda"]["float32"].value
    flops = [problem_of("gemm", f"m1760_n{n}_k1760_NN").flops for n in (16, 32, 64)]
    shares = [f / (0.0005 * (i + 1)) / known for i, f in enumerate(flops)]
    [group] = pair["groups"]
    assert group["other_of_peak"] == pytest.approx(np.exp(np.mean(np.log(shares))))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("nvidia-m40", "nvidia-p1000"), "nvidia-p100"),
        (("nvidia-m40", "nvidia-p100@published-2017.7.15"), "published-2017.7.14"),
    ],
)
def test_unknown_names_are_named_with_the_nearest(results, names, expected):
    """A machine or a release that is not there."""
    with pytest.raises(DeepbenchError, match=expected):
        raise run(results, *names).exception


def test_one_machine_alone_is_no_comparison(results):
    """It is compared with this machine, which may have no results."""
    assert "has no results" in str(run(results, "nvidia-m40").exception)


def test_this_machine_is_the_first_unless_two_are_named(results, monkeypatch):
    """A release without a machine is this machine's."""
    monkeypatch.setattr(machine_entry, "default_name", lambda: "nvidia-m40")
    assert (
        "nvidia-p100@published-2017.7.14 against nvidia-m40@" in run(results, "nvidia-p100").output
    )
    two = ("@published-2017.7.14", "nvidia-p100")
    assert "against nvidia-m40@published-2017.7.14" in run(results, *two).output


def test_points_are_what_asv_stored(results):
    """Every axis of a benchmark is a field of the point."""
    releases = {release.hash: release for release in release_table.load()}
    found = point_reading.load(results, "nvidia-m40", releases)
    assert [0.001, 0.002, 0.003] == [one.seconds for one in found]
    assert {(one.family, one.set, one.operation, one.device) for one in found} == {
        ("gemm", "training", "forward", "cuda")
    }
    assert {"published-2017.7.14"} == {one.release.name for one in found}


def test_a_device_that_a_machine_has_no_results_on_is_named():
    """Where no side has any on it, the comparison is refused."""
    box = machine_comparison.contender("box", [point()], device="cuda")
    card = machine_comparison.contender("card", [point(device="cuda")], device="cuda")
    line = "box@torch-2.13.0 has results on cpu, none on cuda"
    assert [line] == machine_comparison.elsewhere([box, card], "cuda")
    assert [] == machine_comparison.elsewhere([box, card], None)
    with pytest.raises(DeepbenchError, match=f"{line}: leave out --device"):
        machine_comparison.elsewhere([box], "cuda")
