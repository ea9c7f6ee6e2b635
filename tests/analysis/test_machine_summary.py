"""Summaries of a machine's results: numbers of kernels, their releases, and shares of the roof."""

import pytest
from example_points import GEMMS, RELEASES, lines_of, point, profile_with

from deepbench_ops.analysis.kernel_lines import lines
from deepbench_ops.analysis.machine_summary import family_summaries, selections
from deepbench_ops.analysis.pooled_sets import newest_point
from deepbench_ops.measure.machine_states import CHANGED, FAR, NEAR
from deepbench_ops.problems.selections import Selected, select


def test_a_summary_is_of_the_newest_times():
    """The median share of the roof, and how much of the headline is there."""
    found = lines_of((4.0, 3.0, 2.0, 1.0), (None, None, 1.0, None))
    roofs = {"box": profile_with(1e12, 1e15)}
    (one,) = family_summaries(found, roofs, select("headline"))
    shares = [line.points[-1].problem.flops / 1e12 for line in found]
    assert one.of_roof == pytest.approx(sum(shares) / 2)
    assert (2, RELEASES[-1]) == (one.kernels, one.newest)
    listed = {member.problem.id for member in select("headline", "gemm")}
    assert len(listed & set(GEMMS[:2])) == one.headline


def selected(*kernels, **about):
    return selections([point(**{**about, **kernel}) for kernel in kernels])


def test_a_summary_names_the_selections_of_its_kernels():
    """The headline or one batch of each model where there is nothing else, whole sets elsewhere."""
    shown, other = ({"problem_id": id} for id in ("m1760_n128_k1760_NN", "m1760_n16_k1760_NN"))
    assert ("headline --family gemm",) == selected(shown)
    assert ("training --family gemm",) == selected(shown, other)
    layer = {"problem_id": "lstm_h1024_n128_t25", "operation": "fused_forward"}
    assert ("headline --family rnn --fused",) == selected(layer, family="rnn")
    served = {"set": "inference_server"}
    one = {"problem_id": select("models-inference")[0].problem.id, **served}
    ranks = {"problem_id": "n16777217", "operation": "sum"}
    assert ("models-inference --family model",) == selected(one, family="model")
    assert ("inference-server --family gemm", "training --family gemm") == selected(
        other, {**other, **served}
    )
    assert ("headline --family all_reduce",) == selected({**ranks, "ranks": 8}, family="all_reduce")
    assert ("training --family all_reduce",) == selected({**ranks, "ranks": 2}, family="all_reduce")


def test_a_summary_names_the_release_of_each_of_its_times():
    """Kernels that the newest release did not measure come from the one before, and count there."""
    old = [point(problem_id=id, release=RELEASES[0]) for id in GEMMS[:3]]
    new = [point(problem_id=GEMMS[0], release=RELEASES[1])]
    (one,) = family_summaries(lines([*old, *new], RELEASES, fewest=1), {}, [])
    assert [(RELEASES[1], 1), (RELEASES[0], 2)] == [(s.release, s.kernels) for s in one.sources]
    assert all(source.selections for source in one.sources)


@pytest.mark.parametrize("other", [{"state": FAR}, {"set": "inference_server"}])
def test_a_kernel_of_two_lines_counts_once(other):
    """With the newest time of both lines, though the other one is faster."""
    new = [point(problem_id=id, release=RELEASES[1], state=NEAR, seconds=2.0) for id in GEMMS[:3]]
    old = [each._replace(release=RELEASES[0], seconds=1.0, **other) for each in new]
    profiles = {"box": profile_with(1e12, 1e15)}
    (one,) = family_summaries(lines([*old, *new], RELEASES, fewest=1), profiles, [])
    assert (3, RELEASES[1]) == (one.kernels, one.newest)
    assert [(RELEASES[1], 3)] == [(source.release, source.kernels) for source in one.sources]
    assert one.of_roof == pytest.approx(sorted(p.flops for p in new)[1] / 2e12)


def test_a_kernel_of_two_sets_counts_in_both_for_the_headline():
    """Its command picks both, too."""
    sets = ("training", "inference_server")
    both = [point(set=name, rounds=(1.0, 1.0)) for name in sets]
    wanted = [Selected(name, both[0].problem) for name in sets]
    (one,) = family_summaries(lines(both, [both[0].release], fewest=1), {}, wanted)
    assert (1, 2) == (one.kernels, one.headline)
    (source,) = one.sources
    assert (1, selections(both)) == (source.kernels, source.selections)


@pytest.mark.parametrize(("state", "seconds"), [(CHANGED, 1.0), (FAR, 1.5)])
def test_of_two_times_of_one_release_one_state_counts(state, seconds):
    """The one in which times can be compared; times of two states are never pooled."""
    found = newest_point([point(state=state, seconds=1.5), point(state=NEAR, seconds=1.0)])
    assert seconds == found.seconds
