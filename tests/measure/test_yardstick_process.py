"""The yardstick's own process, for real: it stops the asker, answers it, and ends with it."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import threads
from deepbench_ops.measure.disturbance_wait_budget import MOST_SECONDS
from deepbench_ops.measure.yardstick_process import YardstickProcess

ONE_THREAD = {**os.environ, "DEEPBENCH_THREADS": "1"}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("DEEPBENCH_THREADS", "1")
    running = YardstickProcess()
    yield running
    if running._process.poll() is None:
        running.close()


def test_a_reading_is_seconds_per_unit(server):
    """Readings of one and of eight units are of the same order, so they are per unit.

    The best of many in turns: other processes may take the core during most of the longer ones.
    """
    client = server.client("compute", None)
    one, many = zip(*((client.slice(1), client.slice(8)) for _ in range(20)), strict=True)
    assert 0.3 < min(one) / min(many) < 3


def test_the_asker_stands_still_meanwhile(server):
    """A thread that spins in the asking process makes no progress while the yardstick runs."""
    client = server.client("compute", None)
    gaps = []
    done = threading.Event()

    def spin():
        last = time.perf_counter()
        while not done.is_set():
            now = time.perf_counter()
            gaps.append(now - last)
            last = now
        gaps.append(time.perf_counter() - last)  # it may wake up only to find itself done

    spinner = threading.Thread(target=spin)
    spinner.start()
    while len(gaps) < 1000:  # it is under way
        time.sleep(0.001)
    seconds = 64 * client.slice(64)
    done.set()
    spinner.join()
    assert max(gaps) >= 0.9 * seconds


def test_units_fill_the_time_asked_for(server):
    """units_for() grows with the time and is never zero."""
    client = server.client("compute", None)
    assert client.units_for(0.0) == 1
    assert client.units_for(1.0) > client.units_for(0.1) > 1


def test_one_thread_has_no_latency(server):
    """Where a kernel has one core there is no second one to answer."""
    assert server.client("compute", None).core_latency() is None


def test_latency_is_read_again_and_again(monkeypatch):
    """Two cores have a plausible latency in every reading, for milliseconds of work each."""
    monkeypatch.setenv("DEEPBENCH_THREADS", "2")
    if threads.physical_cores() < 2:
        pytest.skip("one core: there is no other to answer")
    running = YardstickProcess()
    try:
        client = running.client("compute", None)
        found = [client.core_latency() for _ in range(5)]
    finally:
        running.close()
    assert all(each is None or 20 < each < 100_000 for each in found)
    assert any(each is not None for each in found)


def test_an_answer_left_by_a_dead_process_is_passed_over(server):
    """The answer to a killed child does not become the reading of the next one."""
    client = server.client("compute", 0.5)
    child = os.fork()
    if child == 0:
        stream = server._process.stdin
        stream.write(b'{"name": "gone-0", "stop": %d, "do": "unit", "kind": "memory"}\n' % child)
        stream.flush()
        os._exit(0)
    os.waitpid(child, 0)
    assert client.slice(2) < 0.1
    assert server.ask(do="unit", kind="compute") == client._unit_seconds


def test_the_wait_budget_is_one_for_all_clients_of_a_run(server):
    """Seconds that one process has waited are spent for all that share the yardstick."""
    first, second = server.client("compute", None), server.client("memory", None)
    assert first.may_wait(MOST_SECONDS)
    assert not second.may_wait(MOST_SECONDS)


def test_an_unknown_kind_is_refused_in_words(server):
    """The other end's error arrives as this end's, and the process lives on."""
    with pytest.raises(DeepbenchError, match="unknown yardstick 'disk'"):
        server.client("disk", None)
    assert server.client("compute", None).slice(1) > 0


def test_a_dead_yardstick_is_reported(server):
    """When its process has gone, asking says so instead of waiting."""
    client = server.client("compute", None)
    server._process.kill()
    server._process.wait()
    with pytest.raises(DeepbenchError, match="yardstick's process has ended"):
        client.slice(1)


def test_it_ends_with_the_one_that_started_it():
    """The process is gone soon after its parent."""
    code = (
        "from deepbench_ops.measure.yardstick_process import YardstickProcess\n"
        "print(YardstickProcess()._process.pid)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ONE_THREAD, check=True
    )
    pid = int(done.stdout)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
