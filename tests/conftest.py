"""Shared setup of all tests: no time limit on a single example, since machines are shared; all
cores, which an earlier test may have given up; the variables that it began with; no lock on
measuring; and an end of the time for slow tests."""

import os
import time
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import settings

from deepbench_ops.measure import threads

settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")

pytest_plugins = ["browsing", "empty_home", "marked_processes"]

SLOW_TESTS_UNTIL = "DEEPBENCH_SLOW_TESTS_UNTIL"
"""Seconds since 1970 after which no slow test begins, but those that are seeded; each of the others
is skipped by its name."""


@pytest.fixture(autouse=True)
def all_cores() -> Iterator[None]:
    """Kernels that were measured pin the threads of this process, which its children inherit."""
    yield
    threads.unpin()


@pytest.fixture(autouse=True)
def same_variables() -> Iterator[None]:
    """Libraries set variables of this process when they are imported, as MONAI and torch's compiler
    do; commands that later tests start would report them as settings from outside."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that measure run in several processes at once, all of them in this one project."""
    monkeypatch.setattr("deepbench_ops.commands.options.measuring_lock", nullcontext)


def pytest_runtest_setup(item: pytest.Item) -> None:
    until = os.environ.get(SLOW_TESTS_UNTIL)
    late = item.get_closest_marker("slow") and not item.get_closest_marker("seeded")
    if until and late and time.time() > float(until):
        pytest.skip(f"no time was left for {item.nodeid}")
