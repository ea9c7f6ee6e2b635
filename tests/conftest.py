"""Shared setup of all tests: no time limit on a single example, since machines are shared; all
cores, which an earlier test may have given up; a single thread of torch; the variables that it
began with; no external settings; and no lock on measuring."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import settings

from deepbench_ops.measure import library_variables, threads

# External settings, which some hosts have: commands report them in a line of their own, and results
# carry them. A library reads them when it is loaded, as by one of the plugins below.
for name, _ in library_variables.foreign():
    del os.environ[name]

settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")

pytest_plugins = [
    "browsing",
    "empty_home",
    "marked_processes",
    "slow_tests",
    "temporary_files",
]


def pytest_collection_finish() -> None:
    """Keep the collected tests, millions of objects, out of the garbage collections of each test: a
    test that measures collects before every sample."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def all_cores() -> Iterator[None]:
    """Kernels that were measured pin the threads of this process, which its children inherit."""
    yield
    threads.unpin()


@pytest.fixture(autouse=True)
def one_torch_thread() -> None:
    """Tests run in more processes than there are cores: the threads of a pool would wait for each
    other at the end of every small operation, for seconds in all."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def same_variables() -> Iterator[None]:
    """Libraries set variables of this process when they are imported, as MONAI and torch's compiler
    do; commands that later tests start would report them as external settings."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(autouse=True)
def settings_read_again() -> Iterator[None]:
    """A test may set a variable that steers a library; the process reads its settings once."""
    kept = library_variables.environment_at_start, library_variables.of_this_process
    for read in kept:  # a test may replace them until it ends
        read.cache_clear()
    yield
    for read in kept:
        read.cache_clear()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that measure run in several processes at once, all of them in this one project."""
    monkeypatch.setattr("deepbench_ops.commands.options.measuring_lock", nullcontext)
