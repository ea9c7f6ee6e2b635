"""Use of the processors by others during a measurement."""

import subprocess
import sys
import time

import pytest

from deepbench_ops.machine import other_load


@pytest.mark.parametrize(
    ("busy", "stolen", "own", "expected"),
    [
        (10.0, 0.0, 10.0, ""),
        (14.0, 0.0, 10.0, "other processes took 20%"),
        (10.0, 6.0, 10.0, "other systems of this host took 30%"),
    ],
)
def test_use_by_others_is_what_this_process_did_not_take(busy, stolen, own, expected):
    """Two processors for ten seconds: 10 seconds of our own leave 4 of 14 to others."""
    usages = iter([other_load.Usage(100.0, 1.0), other_load.Usage(100.0 + busy, 1.0 + stolen)])
    owns, times = iter([5.0, 5.0 + own]), iter([0.0, 10.0])
    watch = other_load.LoadMonitor(lambda: next(usages), owns.__next__, times.__next__, cores=2)
    found = watch.found()
    assert expected == found.removesuffix(" of its processors' time")


def test_usage_is_of_the_processors_that_may_be_used(tmp_path):
    """A container of two cores says nothing of the sixty-two others."""
    path = tmp_path / "stat"
    path.write_text(
        "cpu  9 9 9 9 9 9 9 9\ncpu0 100 0 200 5 5 0 0 100 0 0\ncpu1 900 0 0 0 0 0 0 0\nintr 1"
    )
    found = other_load.usage(path, cores=[0])
    assert (300 / other_load.TICKS, 100 / other_load.TICKS) == (found.busy, found.stolen)
    assert other_load.usage(tmp_path / "none") is None


@pytest.mark.slow
def test_a_real_neighbour_is_seen():
    """A process that keeps a core busy for a second."""
    if other_load.usage() is None:
        pytest.skip("this system does not report the use of its processors")
    watch = other_load.LoadMonitor()
    spinning = "import time\nend = time.time() + 8\nwhile time.time() < end: pass"
    with subprocess.Popen([sys.executable, "-c", spinning]) as neighbour:
        time.sleep(6)
        message = watch.found()
        neighbour.kill()
    assert "other processes took" in message
