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


def leave(times, node, kept):
    """Take all kernels but those in places `kept` from a node."""
    for place, kernel in enumerate(list(times[node].seconds)):
        if place not in kept:
            del times[node].seconds[kernel]


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
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_false_alarms_are_rare(share):
    """In 200 fleets of alike nodes no more than a few have any slow node; also where each node
    lacks a share of the kernels."""
    alarms = 0
    for seed in range(200):
        times, random = fleet(nodes=6, seed=seed), np.random.default_rng(seed)
        for node in times:
            leave(times, node, np.flatnonzero(random.random(16) >= share))
        alarms += any(each.kind == SLOW for each in found(times, beyond=0.0).values())
    assert alarms <= 8


def test_two_kernels_are_too_few_for_an_interval():
    """The ratio is shown without one."""
    levels = found(fleet(kernels=2))
    assert {TOO_FEW} == {each.kind for (_, family), each in levels.items() if family != ALL}


def test_two_nodes_cannot_be_compared():
    """Either may be the slow one."""
    assert [] == node_comparison.compare(fleet(nodes=2), 0.03)


def test_an_incomplete_node_among_ten_hides_no_kernel_of_the_others():
    """It is compared by its own kernels, and the missing ones are counted."""
    times = fleet(nodes=10, slow={("n3", "conv"): 1.2, ("n7", "gemm"): 1.2})
    leave(times, "n7", range(5))
    levels = found(times)
    assert [("n3", "conv"), ("n7", "gemm")] == [
        place for place, each in levels.items() if each.kind == SLOW and place[1] != ALL
    ]
    assert (5, 11) == (levels["n7", ALL].kernels, levels["n7", ALL].missing)
    assert (0, 8, TOO_FEW) == (
        levels["n7", "conv"].kernels,
        levels["n7", "conv"].missing,
        levels["n7", "conv"].kind,
    )
    others = [each for (node, family), each in levels.items() if node != "n7" and family == ALL]
    assert [(16, 0)] * 9 == [(each.kernels, each.missing) for each in others]
    assert 9 * 16 + 5 == len(node_comparison.compare_kernels(times, 0.03))


def test_two_nodes_with_different_kernels_are_compared_through_five_others():
    """Each by its own; the slow one is found."""
    slow = {("n1", family): 1.2 for family in FAMILIES}
    times = fleet(nodes=7, slow=slow)
    leave(times, "n0", range(8))
    leave(times, "n1", range(8, 16))
    levels = found(times)
    assert {"n1"} == {node for (node, _), each in levels.items() if each.kind == SLOW}
    assert levels["n1", ALL].ratio == pytest.approx(1.2, rel=0.02)
    assert {"n0": 8, "n1": 8} == {
        node: each.missing
        for (node, family), each in levels.items()
        if family == ALL and each.missing
    }


def test_only_incomplete_nodes_are_compared():
    """Where every kernel is missing on one of six nodes; each of them is counted."""
    times = fleet(nodes=6, kernels=9, slow={("n2", "gemm"): 1.2})
    for place in range(6):
        leave(times, f"n{place}", [number for number in range(18) if number % 6 != place])
    levels = found(times)
    assert [("n2", "gemm")] == [place for place, each in levels.items() if each.kind == SLOW]
    totals = [each for (_, family), each in levels.items() if family == ALL]
    assert [(15, 3)] * 6 == [(each.kernels, each.missing) for each in totals]


def test_nodes_without_a_common_kernel_cannot_be_compared():
    """Not even those of one family."""
    times = fleet(nodes=6)
    for place in range(6):
        leave(times, f"n{place}", [place])
    assert [] == node_comparison.compare(times, 0.03)
    assert [] == node_comparison.compare_kernels(times, 0.03)


def test_a_node_is_slow_since_the_first_survey_without_a_break():
    """One in which it was as usual begins the count again."""
    slow, usual = fleet(slow={("n3", "gemm"): 1.5}), fleet()
    surveys = [node_comparison.compare(times, 0.03) for times in (slow, usual, slow, slow)]
    for number, levels in enumerate(surveys):
        surveys[number] = [
            type(each)(**{**vars(each), "measured_at": float(number)}) for each in levels
        ]
    assert {("n3", "gemm"): 2.0} == node_comparison.slow_since(surveys)


def test_a_survey_that_lacks_a_node_is_no_break():
    """Nothing is known of the node then."""
    slow = fleet(slow={("n3", "gemm"): 1.5})
    hidden = fleet()
    leave(hidden, "n3", [])
    surveys = [node_comparison.compare(times, 0.03) for times in (slow, hidden, slow)]
    assert {("n3", "gemm"): 3.0} == node_comparison.slow_since(surveys[:2])
    assert {("n3", "gemm"): 3.0} == node_comparison.slow_since(surveys)


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
