"""Estimates are judged by how they behave, never by how fast this machine is."""

from contextlib import suppress

import pytest
from installed_frameworks import loaded

from deepbench_ops import backends
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.measure import call_estimate, kernel_measurement
from deepbench_ops.problems.gemm import Gemm


def test_estimate_scales_with_the_work():
    """Twice the work along one axis is estimated to take twice as long."""
    backend = loaded("numpy")
    one = call_estimate.seconds(backend, Gemm(m=2000, n=500, k=1000), "float32", "forward")
    two = call_estimate.seconds(backend, Gemm(m=4000, n=500, k=1000), "float32", "forward")
    assert two == pytest.approx(2 * one)


@pytest.mark.parametrize("name", backends.NAMES)
def test_estimate_leaves_the_threads_as_they_were(monkeypatch, name):
    """The try with a single thread is undone, whatever the count was before."""
    monkeypatch.setattr(call_estimate, "_rates", RunCache("here"))
    backend = loaded(name)
    before = backend.threads()
    try:
        backend.set_threads(2)
    except Unsupported as reason:
        pytest.skip(str(reason))
    call_estimate.seconds(backend, Gemm(m=20, n=20, k=20), "float32", "forward", limit=1e-9)
    after = backend.threads()
    with suppress(Unsupported):  # some keep the threads they have begun with
        backend.set_threads(before)
    assert 2 == after


SMALL = (Gemm(m=200, n=200, k=200), "float32", "forward")


@pytest.fixture
def answered(monkeypatch):
    """Return a function that sets the seconds of coming calls, with all threads and with one."""
    monkeypatch.setattr(call_estimate, "_rates", RunCache("here"))
    backend = loaded("numpy")

    def takes(*, threads, one=()):
        for name, seconds in (("_best_of_some", threads), ("_best_on_one_thread", one)):
            calls = iter(seconds)
            monkeypatch.setattr(call_estimate, name, lambda *_, calls=calls: next(calls))
        return backend

    return takes


def test_a_rate_that_forbids_is_tried_again_and_the_better_one_kept(answered):
    """A process that had no processor to itself does not make the others skip a problem."""
    backend = answered(threads=[1000.0], one=[1000.0])
    slow = call_estimate.seconds(backend, *SMALL, limit=30)
    assert slow == call_estimate.seconds(backend, *SMALL)
    backend = answered(threads=[0.001])
    assert call_estimate.seconds(backend, *SMALL, limit=30) < slow / 1000
    assert call_estimate.seconds(backend, *SMALL) < slow / 1000


def test_a_rate_that_forbids_is_tried_with_one_thread(answered):
    """Threads that wait for each other on a busy machine do not make a problem look too long."""
    backend = answered(threads=[1000.0], one=[0.001])
    assert call_estimate.seconds(backend, *SMALL, limit=30) < 30


def test_a_rate_that_allows_costs_one_try(answered):
    """Most kernels are far from the limit: their first try is all that is spent on them."""
    backend = answered(threads=[0.001])
    assert (
        call_estimate.seconds(backend, *SMALL, limit=30)
        == call_estimate.seconds(backend, *SMALL)
        < 30
    )


@pytest.fixture
def tried(monkeypatch):
    """Return a function that sets the seconds of a product, and the list of tried ones."""
    monkeypatch.setattr(call_estimate, "_rates", RunCache("here"))
    backend, products = loaded("numpy"), []

    def takes(seconds):
        def call(*kernel):
            products.append(kernel[-1])
            return seconds(kernel[-1])

        monkeypatch.setattr(backend, "build", lambda problem, *_: problem)
        monkeypatch.setattr(call_estimate, "_best_of_some", call)
        monkeypatch.setattr(call_estimate, "_best_on_one_thread", call)
        return backend, products

    return takes


LARGE = (Gemm(m=8000, n=8000, k=8000), "float32", "forward")


def test_what_every_call_costs_is_not_taken_for_a_rate(tried):
    """20 ms, however small the product, and a second of a trillion FLOPs: no call of minutes."""
    backend, _ = tried(lambda product: 0.02 + product.flops / 1e12)
    assert call_estimate.seconds(backend, *LARGE) > 1000
    assert 1 < call_estimate.seconds(backend, *LARGE, limit=30) < 30


def test_what_is_slow_is_not_tried_for_long(tried):
    """Where a larger product takes as much longer as it is larger, the estimate stays."""
    backend, products = tried(lambda product: product.flops / 1e9)
    assert call_estimate.seconds(backend, *LARGE, limit=30) == pytest.approx(LARGE[0].flops / 1e9)
    assert max(product.flops / 1e9 for product in products) <= call_estimate.LONGEST_TRIAL_SECONDS


@pytest.mark.parametrize(
    ("calls", "tried"),
    [
        ([0.3, 0.002] + [0.3] * 9, 2),  # the first made something for the others
        ([0.02] * 9, 3),
        ([4.0, 1.0], 1),
        ([0.00001] * 99, 50),
    ],
)
def test_so_many_calls_are_tried_and_the_fastest_counts(calls, tried, monkeypatch):
    """Two at least but of the longest, three of a tenth of a second, fifty of the shortest."""
    left = iter(calls)
    monkeypatch.setattr(call_estimate, "time_calls", lambda *_: next(left))
    assert min(calls[:tried]) == call_estimate._best_of_some(None)
    assert len(calls) - tried == len(list(left))


def test_what_forbids_again_is_tried_again_at_its_largest_alone(tried):
    """A second process tries the size that the first one found once more, and none below it."""
    backend, products = tried(lambda product: product.flops / 1e9)
    first = call_estimate.seconds(backend, *LARGE, limit=30)
    largest = products[-1]
    del products[:]
    assert first == call_estimate.seconds(backend, *LARGE, limit=30)
    assert [largest] == products


def test_what_would_take_too_long_is_skipped_with_the_seconds(monkeypatch):
    """Beyond the limit a problem is refused before it is built, expectation and limit named."""
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "numpy")
    kernel_measurement._backend.cache_clear()
    monkeypatch.setenv("DEEPBENCH_CALL_LIMIT", "0.001")
    monkeypatch.setattr(call_estimate, "seconds", lambda *_: 0.25)
    with pytest.raises(Unsupported, match=r"about 0\.25 s with numpy.* limit of 0\.001 s"):
        kernel_measurement.prepare("gemm", "m512_n1_k512_NN", "float32")


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", ""])
def test_a_limit_that_is_no_time_is_refused(monkeypatch, text):
    """A call limit that is not a number above zero is named and refused."""
    monkeypatch.setenv("DEEPBENCH_CALL_LIMIT", text)
    with pytest.raises(DeepbenchError, match="DEEPBENCH_CALL_LIMIT"):
        kernel_measurement.call_limit()
