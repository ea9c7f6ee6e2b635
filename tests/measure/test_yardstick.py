"""The yardsticks run for real here; only their bookkeeping is asserted, never their speed."""

import threading
from threading import Barrier

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import yardstick


@pytest.mark.parametrize("kind", yardstick.KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_thread_does_its_share(kind, threads):
    """A slice of three units runs those and one that does not count, on each thread."""
    fixed = yardstick.Yardstick(kind, threads)
    done = []

    def counting(index):
        make = yardstick._sgemm if kind == "compute" else yardstick._memory_copy
        work = make(index)
        return yardstick.Work((lambda: (done.append(index), work.units[0]()),), work.keep)

    together = Barrier(threads)
    fixed.close()
    fixed._crew = [yardstick._Hand(counting, index, 0, together) for index in range(threads)]
    assert fixed.slice(3) > 0
    fixed.close()
    assert sorted(done) == sorted(list(range(threads)) * 4)


def test_the_sgemm_multiplies():
    """The compute unit leaves the product of its two operands in its third buffer."""
    work = yardstick._sgemm(0)
    a, b, c = work.keep
    work.units[0]()
    assert abs(c - a @ b).max() < 1e-3


def test_the_copy_copies():
    """Each unit of a copy leaves its own source in its own target."""
    work = yardstick._memcpy(3, 4096)
    sources, targets = work.keep[::2], work.keep[1::2]
    for unit, source, target in zip(work.units, sources, targets, strict=True):
        assert not (source == target).any()
        unit()
        assert (source == target).all()


def test_a_copy_takes_the_next_buffers_every_time():
    """As many units as there are pairs of buffers use every pair once, in turn."""
    fixed = yardstick.Yardstick("memory", 1)
    used = []
    work = fixed._crew[0].work
    units = tuple(lambda index=index: used.append(index) for index in range(len(work.units)))
    hand = yardstick._Hand(lambda seed: yardstick.Work(units, work.keep), 0, 0, Barrier(1))
    hand.begin(yardstick.BUFFERS)
    hand.wait()
    hand.end()
    fixed.close()
    assert used == [*range(yardstick.BUFFERS), 0]


def test_closing_ends_the_threads():
    """After close() the helper threads are gone."""
    before = set(threading.enumerate())
    fixed = yardstick.Yardstick("compute", 3)
    started = set(threading.enumerate()) - before
    fixed.close()
    for thread in started:
        thread.join(timeout=5)
    assert len(started) == 3
    assert not any(thread.is_alive() for thread in started)


def test_another_wheel_version_is_refused(monkeypatch):
    """A yardstick library of another version would change the fixed, so it is named and refused."""
    monkeypatch.setattr(yardstick.importlib.metadata, "version", lambda name: "0.3.1")
    with pytest.raises(DeepbenchError, match=r"0\.3\.1, not 0\.3\.34"):
        yardstick.Yardstick("compute", 1)


def test_unknown_kind_is_refused():
    """A kind that does not exist is named, with those that do."""
    with pytest.raises(DeepbenchError, match=r"'disk'.*compute, memory"):
        yardstick.Yardstick("disk", 1)


@pytest.mark.parametrize(
    "flops, bytes_moved, kind",
    [(1e9, 1e6, "compute"), (9e8, 1e9, "memory"), (1e6, 1e6, "compute"), (0, 1, "compute")],
)
def test_kind_follows_what_a_neighbour_can_slow(flops, bytes_moved, kind):
    """Kernels bound by memory alone have a copy as yardstick, all others the sgemm."""
    assert yardstick.kind_for(flops, bytes_moved) == kind
