"""The script that reads the latency of memory, on a buffer of a few lines."""

import memory_latency
import pytest


@pytest.fixture
def probe():
    """A cycle over a hundred lines."""
    try:
        return memory_latency.MemoryLatency(100 * memory_latency.LINE)
    except OSError as error:
        pytest.skip(str(error))


def test_the_cycle_visits_each_line_once(probe):
    """After as many accesses as there are lines the first one is reached, and not before."""
    visited = [probe.follow(steps) for steps in range(1, probe.count + 1)]
    assert probe.count == len(set(visited))
    assert probe.first == visited[-1]
    assert {0} == {(each - probe.first) % memory_latency.LINE for each in visited}


def test_a_reading_is_nanoseconds(probe):
    """A line in the first cache takes between a tenth of a nanosecond and a microsecond."""
    assert 0.1 < probe.read(seconds=0.001) < 1000


def test_sizes_lie_inside_each_cache_and_beyond_the_last():
    """Half of each, and four times the last."""
    caches = {"L2": 2**20, "L3": 2**25}
    assert {"inside L2": 2**19, "inside L3": 2**24, "beyond": 2**27} == memory_latency.places(
        caches
    )
