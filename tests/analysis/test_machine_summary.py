"""Summaries of a machine's results: numbers of kernels, their releases, and shares of the roof."""

import pytest
from example_points import GEMMS, RELEASES, lines_of, point, profile_with

from deepbench_ops.analysis.kernel_lines import lines
from deepbench_ops.analysis.machine_summary import family_summaries, selections
from deepbench_ops.problems.selections import select


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
