"""What pages derive from seconds: shares of a roofline, a family's speed, how complete it is."""

from dataclasses import replace
from datetime import date

import pytest
from points import GEMMS, point

from deepbench_ops.analysis.lines import lines
from deepbench_ops.analysis.overview import family_summaries, selections
from deepbench_ops.analysis.points import TOO_FAR, TOO_FEW
from deepbench_ops.analysis.roofline import roof, share
from deepbench_ops.analysis.speed_index import speeds
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.profile import Figure, Profile
from deepbench_ops.pages.catalogue_data import how_obtained
from deepbench_ops.problems.selections import select
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import model_runs

RELEASES = [Release("torch", f"2.{n}.0", date(2026, 1 + n, 1)) for n in range(4)]


def profile(peak, bandwidth):
    return Profile(
        "box",
        peaks={"cpu": {"float32": Figure(peak, "FLOP/s", "measured")}},
        bandwidth={"cpu": Figure(bandwidth, "bytes/s", "measured")},
    )


def measured(*rows):
    """Lines of kernels, each given by its seconds at the releases, None where it has none."""
    found = [
        point(problem_id=GEMMS[kernel], release=release, seconds=seconds)
        for kernel, row in enumerate(rows)
        for release, seconds in zip(RELEASES, row, strict=True)
        if seconds is not None
    ]
    return lines(found, RELEASES, fewest=1)


def test_the_roof_is_the_lower_of_arithmetic_and_memory():
    one = point()
    intensity = one.problem.intensity("float32")
    assert roof(profile(1e12, 1e15), one) == 1e12
    assert roof(profile(1e15, 1e9), one) == pytest.approx(1e9 * intensity)
    assert share(profile(1e12, 1e15), one) == pytest.approx(one.problem.flops / 1e12)


@pytest.mark.parametrize("known", [None, Profile("box"), profile(None, 1e9), profile(1e12, None)])
def test_without_peak_or_bandwidth_there_is_no_roof(known):
    assert roof(known, point()) is None
    assert share(known, point()) is None


def test_mixed_kernels_have_the_peak_of_16_bits_and_the_bytes_of_32():
    one = point(precision="float32_mixed")
    known = replace(profile(1e12, 1e9), peaks={"cpu": {"float16": Figure(8e12, "FLOP/s", "told")}})
    assert roof(known, one) == pytest.approx(1e9 * one.problem.intensity("float32"))
    fast = replace(known, bandwidth={"cpu": Figure(1e15, "bytes/s", "told")})
    assert roof(fast, one) == 8e12
    assert roof(profile(1e12, 1e9), one) is None


def test_a_precision_of_unknown_weight_has_no_roof():
    assert roof(profile(1e12, 1e9), point(precision="float7")) is None


def test_speed_is_the_geometric_mean_of_what_each_kernel_gains():
    """Twice, as, and half as fast come to the same speed; large kernels count no more."""
    (speed,) = speeds(measured((2.0, 1.0, 1.0, 1.0), (9e3, 9e3, 9e3, 9e3), (1.0, 2.0, 1.0, 1.0)))
    assert speed.values == pytest.approx((1.0, 1.0, 2 ** (1 / 3), 2 ** (1 / 3)))
    assert (3, 3, 3, 3) == speed.kernels
    assert tuple(RELEASES) == speed.releases


def test_kernels_that_come_or_go_do_not_move_the_speed():
    steady = [(1.0, 0.5, 0.5, 0.25)] * 3
    (alone,) = speeds(measured(*steady))
    (joined,) = speeds(measured(*steady, (None, 7.0, 3.5 * 2, 3.5), (4.0, 2.0, None, None)))
    assert alone.values == pytest.approx((1.0, 2.0, 2.0, 4.0))
    assert joined.values == pytest.approx(alone.values)


def test_few_kernels_are_no_family():
    assert [] == speeds(measured((1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 3.0, 4.0)))


def test_a_standing_is_of_the_newest_times():
    """The median share of the roof, and how much of the headline is there."""
    found = measured((4.0, 3.0, 2.0, 1.0), (None, None, 1.0, None))
    roofs = {"box": profile(1e12, 1e15)}
    (one,) = family_summaries(found, roofs, select("headline"))
    shares = [line.points[-1].problem.flops / 1e12 for line in found]
    assert one.of_roof == pytest.approx(sum(shares) / 2)
    assert (2, RELEASES[-1]) == (one.kernels, one.newest)
    listed = {member.problem.id for member in select("headline", "gemm")}
    assert len(listed & set(GEMMS[:2])) == one.headline


def told(*kernels, **about):
    return selections([point(**{**about, **kernel}) for kernel in kernels])


def test_a_standing_knows_what_its_kernels_were_chosen_from():
    """The headline or one batch of each model where there is nothing else, whole sets elsewhere."""
    shown, other = ({"problem_id": id} for id in ("m1760_n128_k1760_NN", "m1760_n16_k1760_NN"))
    assert ("headline --family gemm",) == told(shown)
    assert ("training --family gemm",) == told(shown, other)
    layer = {"problem_id": "lstm_h1024_n128_t25", "operation": "fused_forward"}
    assert ("headline --family rnn --fused",) == told(layer, family="rnn")
    served = {"set": "inference_server"}
    one = {"problem_id": select("models-inference")[0].problem.id, **served}
    ranks = {"problem_id": "n16777217", "operation": "sum"}
    assert ("models-inference --family model",) == told(one, family="model")
    assert ("inference-server --family gemm", "training --family gemm") == told(
        other, {**other, **served}
    )
    assert ("headline --family all_reduce",) == told({**ranks, "ranks": 8}, family="all_reduce")
    assert ("training --family all_reduce",) == told({**ranks, "ranks": 2}, family="all_reduce")


RUN = {
    "kind": "latency",
    "model": "mmoe",
    "batch": 8,
    "threads": 1,
    "precision": "float32",
    "by": "eager",
    "device": "cpu",
    "release": "torch-2.13.0",
    "median_seconds": 1.0,
}


def test_a_run_of_a_model_replaces_the_one_that_asked_the_same(tmp_path):
    model_runs.add(tmp_path / "box", [RUN, {**RUN, "batch": 16}])
    model_runs.add(tmp_path / "box", [{**RUN, "median_seconds": 2.0}])
    kept = {run["batch"]: run["median_seconds"] for run in model_runs.load(tmp_path / "box")}
    assert {8: 2.0, 16: 1.0} == kept


def test_another_layout_or_number_of_threads_is_another_question(tmp_path):
    """And a run from before either was recorded was in the usual layout, with torch's own."""
    asked = {**RUN, "layout": "published", "inter_op": None}
    others = [{**asked, "layout": "channels_last"}, {**asked, "inter_op": 1}]
    model_runs.add(tmp_path / "box", [RUN, *others, {**asked, "median_seconds": 2.0}])
    kept = model_runs.load(tmp_path / "box")
    assert [2.0, 1.0, 1.0] == [run["median_seconds"] for run in kept]


@pytest.mark.parametrize("line", ["{", '{"kind": "speed"}', '{"kind": "latency"}', "[]"])
def test_a_broken_run_is_named_and_nothing_is_lost(tmp_path, line):
    path = model_runs.add(tmp_path / "box", [RUN])
    torn = path.read_text() + line + "\n"
    path.write_text(torn)
    for asked in (model_runs.load, lambda folder: model_runs.add(folder, [RUN])):
        with pytest.raises(DeepbenchError, match="line 2 is not a run of a model"):
            asked(tmp_path / "box")
    assert torn == path.read_text()


def test_a_standing_tells_the_release_of_each_of_its_times():
    """Kernels that the newest release did not measure come from the one before, and count there."""
    old = [point(problem_id=id, release=RELEASES[0]) for id in GEMMS[:3]]
    new = [point(problem_id=GEMMS[0], release=RELEASES[1])]
    (one,) = family_summaries(lines([*old, *new], RELEASES, fewest=1), {}, [])
    assert [(RELEASES[1], 1), (RELEASES[0], 2)] == [(s.release, s.kernels) for s in one.sources]
    assert all(source.selections for source in one.sources)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("measured: 2048^3 GEMM", "measured: 2048^3 GEMM"),
        (
            "not measured: torch is not installed in this environment: install it; numpy has none",
            "not measured: numpy has none",
        ),
        (
            "not measured: torch is not installed",
            "not measured: no framework that could measure it is installed",
        ),
    ],
)
def test_a_peak_that_was_not_measured_says_so_in_a_short_line(how, told):
    """The first reason, and none of the hints at what to install."""
    assert told == how_obtained(how)


@pytest.mark.parametrize(
    ("samples", "low", "high", "why"),
    [
        (4, 0.5, 2.0, ""),
        (9, 0.9, 1.1, ""),
        (1, None, None, TOO_FEW),
        (3, 0.99, 1.01, TOO_FEW),
        (9, -43.4, 61.3, TOO_FAR),
        (9, 0.4, 1.1, TOO_FAR),
        (9, 0.9, 2.1, TOO_FAR),
    ],
)
def test_an_interval_rests_on_four_samples_and_reaches_twice_as_far_at_most(
    samples, low, high, why
):
    """One that does not is none, and why is said in a few words."""
    found = point(seconds=1.0, samples=samples, low=low, high=high)
    assert (None if why else (low, high)) == found.interval
    assert why == found.without_interval
