"""Yardsticks that read at once."""

import pytest

from deepbench_ops.measure import yardstick


@pytest.fixture
def read_yardsticks(monkeypatch):
    """The yardsticks that were read, in order; each reading is 1 s."""
    read = []

    def nominal(kind, threads, seconds):
        read.append((kind, threads))
        return 1.0

    names = {"yardstick_library": "lib 1", "yardstick_compute": "x", "yardstick_memory": "y"}
    monkeypatch.setattr(yardstick, "nominal", nominal)
    monkeypatch.setattr(yardstick, "versions", lambda: names)
    return read
