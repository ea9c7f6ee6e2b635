"""The order in which kernels of a history are measured."""

from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.measuring_order import MeasuringOrder, work

SMALL, MEDIUM, LARGE = (
    KernelIdentity("rnn", name, "float32") for name in ("small", "medium", "large")
)
WORK = {SMALL: 1e9, MEDIUM: 1e10, LARGE: 1e12}


def measured(
    order: MeasuringOrder, still_open: list[KernelIdentity], seconds: dict[KernelIdentity, float]
):
    """Return the kernels of one round in the order in which they are measured."""
    taken = []
    for group in order.groups(still_open):
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


def test_a_kernel_is_not_begun_that_would_take_more_than_its_share():
    """The time of a smaller kernel tells that the large one takes 500 of 60 seconds."""
    order = MeasuringOrder(list(WORK), 60.0, WORK.__getitem__)
    seconds = {SMALL: 1.0, MEDIUM: 5.0, LARGE: 500.0}
    assert [SMALL, MEDIUM] == measured(order, list(WORK), seconds)
    assert 500.0 == order.expected(LARGE)


def test_what_costs_least_is_measured_where_all_need_more_than_their_share():
    """Seconds that are left are used, by one kernel at a time."""
    order = MeasuringOrder(list(WORK), 60.0, WORK.__getitem__)
    for task, seconds in ((SMALL, 90.0), (MEDIUM, 50.0), (LARGE, 500.0)):
        order.took(task, seconds)
    assert [[MEDIUM]] == list(order.groups(list(WORK)))


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
