"""Slow tests: a longer time limit, their order, and the time after which none begins."""

import os
import time
from collections import Counter

import pytest

SLOW_SECONDS = 1800
"""Time limit of a slow test; that of the others is `timeout` in pyproject.toml."""

SLOW_TESTS_UNTIL = "DEEPBENCH_SLOW_TESTS_UNTIL"
"""Seconds since 1970 after which no slow test begins, but those that are seeded; each of the others
is skipped by its name."""


@pytest.hookimpl(trylast=True)  # once those that are not asked for are gone
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each slow test its limit, unless it has one of its own.

    Files with seeded tests come first, since these take minutes each and are never skipped, then
    the files with the most tests: processes that take a file at a time then end together.
    """
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
    tests_of = Counter(item.path for item in items)
    seeded = {item.path for item in items if item.get_closest_marker("seeded")}
    items.sort(key=lambda item: (item.path not in seeded, -tests_of[item.path]))


def pytest_runtest_setup(item: pytest.Item) -> None:
    until = os.environ.get(SLOW_TESTS_UNTIL)
    late = item.get_closest_marker("slow") and not item.get_closest_marker("seeded")
    if until and late and time.time() > float(until):
        pytest.skip(f"no time was left for {item.nodeid}")
