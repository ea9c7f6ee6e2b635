"""The order in which kernels of a history are measured."""

import math

from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.measuring_order import MeasuringOrder, work

SMALL, MEDIUM, LARGE = (
    KernelIdentity("rnn", name, "float32") for name in ("small", "medium", "large")
)
WORK = {SMALL: 1e9, MEDIUM: 1e10, LARGE: 1e12}


def measured(
    order: MeasuringOrder,
    still_open: list[KernelIdentity],
    seconds: dict[KernelIdentity, float],
    budget: float = 1e9,
):
    """Return the kernels of one round in the order in which they are measured."""
    taken = []

    def left() -> float:
        return budget - sum(map(seconds.__getitem__, taken))

    for group in order.groups(still_open, left, lambda task: 6 - taken.count(task)):
        for task in group:
            order.took(task, seconds[task])
            taken.append(task)
    return taken


def test_the_first_round_goes_from_little_work_to_much():
    """Kernels that have never been measured are ordered by their work."""
    order = MeasuringOrder(list(WORK), 1e9, WORK.__getitem__)
    assert [SMALL, MEDIUM, LARGE] == measured(
        order, [LARGE, SMALL, MEDIUM], dict.fromkeys(WORK, 1.0)
    )


def test_a_kernel_is_not_begun_whose_fewest_rounds_do_not_fit():
    """The time of a smaller kernel tells that six rounds of the large one take 3000 of 100 s."""
    order = MeasuringOrder(list(WORK), 100.0, WORK.__getitem__)
    seconds = {SMALL: 1.0, MEDIUM: 5.0, LARGE: 500.0}
    assert [SMALL, MEDIUM] == measured(order, list(WORK), seconds, budget=100.0)
    assert 500.0 == order.expected(LARGE)


def test_kernels_join_when_there_is_time_for_their_fewest_rounds():
    """Small ones that have six rounds need one more, medium ones five; all are in a round then."""
    order = MeasuringOrder(list(WORK), 130.0, WORK.__getitem__)
    for task, seconds in ((SMALL, 10.0), (MEDIUM, 20.0), (LARGE, 100.0)):
        order.took(task, seconds)
    needed = {SMALL: 1, MEDIUM: 5, LARGE: 5}.__getitem__
    assert {SMALL} == order.affordable(WORK, 149.0, needed)
    assert {SMALL, MEDIUM} == order.affordable(WORK, 150.0, needed)
    assert {SMALL, MEDIUM} == order.affordable(WORK, 649.0, needed)
    assert set(WORK) == order.affordable(WORK, 650.0, needed)


def test_the_start_of_processes_counts():
    """Of 1000 seconds 100 are left: two groups took 200 in rounds, and so 350 each to start."""
    order = MeasuringOrder([SMALL, LARGE], 1000.0, WORK.__getitem__)
    for _ in order.groups([SMALL, LARGE]):
        order.took(SMALL, 50.0)
        order.took(LARGE, 50.0)
    assert set() == order.affordable([SMALL, LARGE], 100.0, lambda task: 1)
    assert {SMALL, LARGE} == order.affordable([SMALL, LARGE], 800.0, lambda task: 1)


def test_a_kernel_that_would_take_long_is_known_without_a_round():
    """The preparation of one release shows it; the other releases do not prepare it."""
    order = MeasuringOrder([SMALL, LARGE], 100.0, WORK.__getitem__)
    order.took(SMALL, 1.0)
    order.would_take(LARGE, 500.0)
    assert (True, 500.0) == (order.was_tried(LARGE), order.expected(LARGE))
    assert {SMALL} == order.affordable([SMALL, LARGE], 99.0, lambda task: 6)


def test_kernels_that_were_not_tried_count_as_the_mean_of_the_others():
    """Estimates from their work would be far too long: a small kernel's time is its preparation."""
    order = MeasuringOrder(list(WORK), 100.0, WORK.__getitem__)
    rounds = {SMALL: 2, MEDIUM: 5, LARGE: 6}.__getitem__
    assert 0.0 == order.seconds_of(rounds)
    order.took(SMALL, 1.0)
    order.would_take(MEDIUM, 5.0)
    assert 2 * 1.0 + 5 * 5.0 + 6 * 3.0 == order.seconds_of(rounds)


def test_the_shortest_round_of_a_kernel_is_expected_again():
    """The first one also checks a small problem, and a neighbour may slow any of them."""
    order = MeasuringOrder(list(WORK), 100.0, WORK.__getitem__)
    order.would_take(SMALL, 60.0)
    for seconds in (5.0, 2.0, 40.0):
        order.took(SMALL, seconds)
    assert 2.0 == order.expected(SMALL)


def test_a_first_try_has_a_limit_and_a_known_kernel_has_what_is_left():
    """Twelve parts of 60 seconds for one kernel: two of its six rounds."""
    order = MeasuringOrder(list(WORK), 90.0, WORK.__getitem__)
    assert math.inf == order.seconds_for(SMALL, 90.0)  # the first may take any time
    order.took(SMALL, 0.1)
    assert 10.0 == order.seconds_for(MEDIUM, 80.0)
    assert 5.0 == order.seconds_for(MEDIUM, 5.0)
    assert 80.0 == order.seconds_for(SMALL, 80.0)
    assert 80.0 == order.seconds_for(LARGE, 80.0)  # expected to need more than a first try


def test_the_cheapest_is_measured_where_nothing_fits():
    """Seconds that are left are used, by one kernel at a time."""
    order = MeasuringOrder(list(WORK), 60.0, WORK.__getitem__)
    for task, seconds in ((SMALL, 90.0), (MEDIUM, 50.0), (LARGE, 500.0)):
        order.took(task, seconds)
    assert [[MEDIUM]] == list(order.groups(list(WORK), lambda: 40.0))


def test_families_are_not_estimated_from_each_other():
    """FLOPs of one family say nothing about the time of another: it is tried once."""
    other = KernelIdentity("softmax", "large", "float32")
    order = MeasuringOrder([SMALL, other], 60.0, {SMALL: 1e9, other: 1e15}.__getitem__)
    assert [SMALL, other] == measured(order, [SMALL, other], {SMALL: 1.0, other: 1.0})


def test_work_is_flops_or_bytes_where_nothing_is_computed():
    """A product has FLOPs; storing keys and values in a cache moves bytes alone."""
    gemm = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")
    cache = KernelIdentity("cache_store", "cache_b1_h8_d128_held0_added10240_block512", "float32")
    assert 2 * 35 * 700 * 2048 == work(gemm)
    assert 2 * 2 * 4 * 8 * 128 * 10240 <= work(cache)
