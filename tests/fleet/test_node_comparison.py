"""Slow nodes among many: found where they are, and no others."""

import math

import numpy as np
import pytest

from deepbench_ops.fleet import node_comparison
from deepbench_ops.fleet.node_comparison import ALL, FAST, SLOW, TOO_FEW, USUAL, NodeTimes

FAMILIES = ("gemm", "conv")


def fleet(nodes=12, kernels=8, noise=0.01, slow=None, seed=0):
    """Times of nodes: slow maps (node, family) to a ratio."""
    random = np.random.default_rng(seed)
    truth = {
        ("numpy-2.0.0", (f"{family}.Training.kernel_forward", (str(number),))): random.uniform(1, 9)
        for family in FAMILIES
        for number in range(kernels)
    }
    return {
        f"n{place}": NodeTimes(
            {
                kernel: seconds
                * math.exp(random.normal(0, noise))
                * (slow or {}).get((f"n{place}", kernel[1][0].partition(".")[0]), 1.0)
                for kernel, seconds in truth.items()
            },
            float(place),
        )
        for place in range(nodes)
    }


def found(times, beyond=0.03):
    """Kinds by node and family."""
    levels = node_comparison.compare(times, beyond)
    return {(each.node, each.family): each for each in levels}


def test_alike_nodes_are_as_usual():
    """In every family and in all."""
    levels = found(fleet())
    assert 12 * (len(FAMILIES) + 1) == len(levels)
    assert {USUAL} == {each.kind for each in levels.values()}


def test_a_node_that_is_slow_at_one_family_is_found_there():
    """Its ratio is near the truth, and nothing else is slow."""
    levels = found(fleet(slow={("n3", "gemm"): 1.2}))
    assert [("n3", "gemm")] == [place for place, each in levels.items() if each.kind == SLOW]
    assert levels["n3", "gemm"].ratio == pytest.approx(1.2, rel=0.02)


def test_a_slow_and_a_fast_node_are_distinguished():
    """Over all families."""
    ratios = {(node, family): r for node, r in (("n1", 1.3), ("n2", 0.8)) for family in FAMILIES}
    levels = found(fleet(slow=ratios))
    assert (SLOW, FAST) == (levels["n1", ALL].kind, levels["n2", ALL].kind)


def test_one_odd_kernel_makes_no_slow_node():
    """The others outweigh it."""
    times = fleet()
    kernel = next(iter(times["n5"].seconds))
    times["n5"].seconds[kernel] *= 3
    assert USUAL == found(times)["n5", "gemm"].kind


@pytest.mark.slow
def test_false_alarms_are_rare():
    """In 200 fleets of alike nodes no more than a few have any slow node."""
    alarms = [
        any(each.kind == SLOW for each in found(fleet(nodes=6, seed=seed), beyond=0.0).values())
        for seed in range(200)
    ]
    assert sum(alarms) <= 8


def test_two_kernels_are_too_few_for_an_interval():
    """The ratio is shown without one."""
    levels = found(fleet(kernels=2))
    assert {TOO_FEW} == {each.kind for (_, family), each in levels.items() if family != ALL}


def test_two_nodes_cannot_be_compared():
    """Either may be the slow one."""
    assert [] == node_comparison.compare(fleet(nodes=2), 0.03)


def test_a_kernel_that_one_node_lacks_is_left_out():
    """Of all nodes."""
    times = fleet(kernels=4)
    kernel = next(iter(times["n0"].seconds))
    del times["n0"].seconds[kernel]
    assert {3} == {each.kernels for (_, family), each in found(times).items() if family == "gemm"}


def test_a_node_is_slow_since_the_first_survey_without_a_break():
    """One in which it was as usual begins the count again."""
    slow, usual = fleet(slow={("n3", "gemm"): 1.5}), fleet()
    surveys = [node_comparison.compare(times, 0.03) for times in (slow, usual, slow, slow)]
    for number, levels in enumerate(surveys):
        surveys[number] = [
            type(each)(**{**vars(each), "measured_at": float(number)}) for each in levels
        ]
    assert {("n3", "gemm"): 2.0} == node_comparison.slow_since(surveys)


def test_a_kernel_has_the_interval_of_its_own_rounds():
    """It holds the true ratio; a kernel with two rounds has none."""
    times = fleet(nodes=4, noise=0.0, slow={("n3", "gemm"): 1.2})
    factors = (0.99, 1.0, 1.0, 1.01)
    for each in times.values():
        for place, (kernel, seconds) in enumerate(each.seconds.items()):
            few = 2 if place == 0 else len(factors)
            each.rounds[kernel] = [seconds * factor for factor in factors[:few]]
    levels = node_comparison.compare_kernels(times, 0.03)
    slow = [each for each in levels if each.kind == SLOW]
    assert {("n3", "gemm")} == {(each.node, each.kernel[1][0].partition(".")[0]) for each in slow}
    assert 7 == len(slow)
    assert all(each.low < 1.2 < each.high for each in slow)
    assert 4 == sum(each.kind == TOO_FEW for each in levels)
