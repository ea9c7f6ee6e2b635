"""Kernels that do not fit in memory are refused before they are allocated."""

import tracemalloc

import pytest

from deepbench_ops.backends import free_memory
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure import kernel_measurement

PROBLEM = "m7680_n48000_k2560_NN"


def test_a_problem_beyond_memory_is_skipped_with_both_sizes(monkeypatch):
    """The reason names the bytes needed and available, and nothing large was allocated."""
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "numpy")
    kernel_measurement._backend.cache_clear()
    monkeypatch.setattr(NumpyBackend, "memory_available", lambda self: 1e9)
    tracemalloc.start()
    with pytest.raises(Unsupported, match=r"needs about 7\.\d+e\+09 bytes .* 1e\+09 are available"):
        kernel_measurement.prepare("gemm", PROBLEM, "float32")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e8


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system that says nothing about its memory until a test writes it down."""
    monkeypatch.setattr(free_memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(free_memory, "CGROUP_FOLDER", tmp_path)
    return tmp_path


def test_the_system_says_what_is_available(system):
    """The kernel's own estimate, in bytes; without it nothing is known."""
    assert float("inf") == free_memory.available()
    (system / "meminfo").write_text("MemTotal: 100 kB\nMemAvailable:     50 kB\n")
    assert 51200.0 == free_memory.available()


@pytest.mark.parametrize(("limit", "expected"), [("3000\n", 2400.0), ("max\n", float("inf"))])
def test_a_container_has_what_its_limit_leaves(system, limit, expected):
    """Used memory counts, cached files do not; without a limit it is unknown."""
    (system / "memory.max").write_text(limit)
    (system / "memory.current").write_text("1000\n")
    (system / "memory.stat").write_text("active_file 7\ninactive_file 400\n")
    assert expected == free_memory.available()
