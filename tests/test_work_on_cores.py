"""Work on all cores: real processes, killed and given up."""

import math
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from deepbench_ops import work_on_cores
from deepbench_ops.errors import DeepbenchError


def test_the_results_come_in_order():
    """One of each value, from other processes than this one."""
    assert list(work_on_cores.results(math.factorial, range(20), 3)) == [
        math.factorial(value) for value in range(20)
    ]
    assert os.getpid() not in set(work_on_cores.results(_process, range(4)))


def test_an_error_of_the_function_is_raised():
    """As where it is called here."""
    with pytest.raises(ValueError, match="not defined"):
        list(work_on_cores.results(math.factorial, [1, -1]))


def test_a_killed_process_is_an_error():
    """Nothing waits for its result."""
    with pytest.raises(DeepbenchError, match="was killed, as Linux does where memory runs out"):
        list(work_on_cores.results(_kill, [0]))


def test_work_that_is_given_up_ends_at_once(tmp_path):
    """The function tidies up, and no process is left."""
    left = [(tmp_path / str(number), seconds) for number, seconds in enumerate((0, *6 * [600]))]
    found = work_on_cores.results(_write_for, left)
    assert 0 == next(found)
    while not any(path.exists() for path, _ in left):
        time.sleep(0.01)
    began = time.monotonic()
    found.close()
    while multiprocessing.active_children() and time.monotonic() - began < 30:
        time.sleep(0.01)  # a thread takes note of their end
    assert time.monotonic() - began < 30
    assert not any(path.exists() for path, _ in left)


def _process(_: int) -> int:
    return os.getpid()


def _kill(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _write_for(asked: tuple[Path, int]) -> int:
    """Keep a file for so many seconds."""
    path, seconds = asked
    path.touch()
    try:
        time.sleep(seconds)
    finally:
        path.unlink()
    return seconds
