"""Memory bandwidth: the triad on processors and accelerators."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from deepbench_ops.backends import free_memory
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine import memory_bandwidth, profile_measurement, triad_processes
from deepbench_ops.measure import threads

CPUS = threads.one_cpu_per_core()[:2]
MIB, GIB = 2**20, 2**30


def test_the_triad_counts_24_bytes_an_element(monkeypatch):
    """Of the fastest run; elements that the processes cannot share are left out."""
    answer = SimpleNamespace(returncode=0, stdout='{"seconds": 0.5, "runs": 3}\n', stderr="")
    monkeypatch.setattr(memory_bandwidth.subprocess, "run", lambda *_, **__: answer)
    figure = memory_bandwidth.triad([0, 1, 2], 2**21, 3.0)
    assert 24.0 * (2**21 - 2**21 % 3) / 0.5 == figure.value
    assert "3 processes, best of 3" in figure.how


def test_processes_measure_a_possible_bandwidth():
    """Real processes end, within 0.2 to 2,000 GB/s, after at least one run."""
    figure = memory_bandwidth.triad(CPUS, 2**22, 0.2)
    assert 2e8 < figure.value < 2e12
    assert f"{len(CPUS)} processes, best of" in figure.how


def test_a_run_lasts_until_its_last_process_has_ended(monkeypatch):
    """The slower of two parts counts, from the common start."""
    slow = []

    def blocks(_):
        slow.append(1)
        if len(slow) > 1:  # the first fills the caches
            triad_processes.time.sleep(0.05)

    monkeypatch.setattr(triad_processes, "triad_blocks", blocks)
    monkeypatch.setattr(triad_processes, "RESULT", 0.0)
    fastest, runs = triad_processes.measure(2 * 2**14, 0.1, [CPUS[0]] * 2)
    assert 0.05 < fastest < 1.0
    assert 1 <= runs <= 3


def test_a_wrong_result_is_an_error(monkeypatch):
    """Of one process or of all."""
    monkeypatch.setattr(triad_processes, "triad_blocks", lambda _: None)
    with pytest.raises(RuntimeError, match="1 of 1 processes failed"):
        triad_processes.measure(2**14, 0.01, CPUS[:1])


def test_processes_that_fail_give_the_reason(monkeypatch):
    """Such as too little memory: the last line that they wrote."""
    answer = SimpleNamespace(returncode=1, stdout="", stderr="Traceback\nMemoryError: no room\n")
    monkeypatch.setattr(memory_bandwidth.subprocess, "run", lambda *_, **__: answer)
    with pytest.raises(DeepbenchError, match="on 2 processes failed: MemoryError: no room"):
        memory_bandwidth.triad([0, 1], 2**21, 3.0)


def test_triad_arrays_outgrow_the_cache_but_not_the_memory():
    """Four times the last-level cache, 64 MiB at least, an eighth of the free memory at most."""
    assert 64 * MIB == 8 * memory_bandwidth.triad_elements(0, 64 * GIB)
    assert 1024 * MIB == 8 * memory_bandwidth.triad_elements(256 * MIB, 64 * GIB)
    assert 256 * MIB == 8 * memory_bandwidth.triad_elements(256 * MIB, 2 * GIB)
    assert 64 * MIB == 8 * memory_bandwidth.triad_elements(0, float("inf"))


@pytest.mark.parametrize(("cache", "free"), [(300 * MIB, 800e6), (0, 80 * MIB), (0, -1.0)])
def test_arrays_that_lie_in_the_caches_measure_no_memory(cache, free):
    """Next to programs that fill the memory: a reason, instead of the bandwidth of a cache."""
    with pytest.raises(Unsupported, match=r"MiB of memory are free: .* would lie in the caches of"):
        memory_bandwidth.triad_elements(cache, free)


def test_cached_files_leave_room_for_the_triad(tmp_path, monkeypatch):
    """The system frees them; the limit of a container is no room, however much is free."""
    asked = []

    def elements(_, free):
        asked.append(free)
        raise Unsupported("enough is known")

    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 4096 kB\n")
    monkeypatch.setattr(free_memory, "MEMINFO", meminfo)
    monkeypatch.setattr(free_memory, "CGROUP_FOLDER", tmp_path)
    monkeypatch.setattr(memory_bandwidth, "triad_elements", elements)
    profile_measurement._bandwidth("cpu", 1)
    (tmp_path / "memory.max").write_text("3145728\n")
    (tmp_path / "memory.current").write_text("2097152\n")
    (tmp_path / "memory.stat").write_text("inactive_file 0\n")
    assert "not measured: enough is known" == profile_measurement._bandwidth("cpu", 1).how
    assert [4 * MIB, MIB] == asked


def test_triad_blocks_compute_the_triad():
    """Block by block, a becomes b + 3c."""
    a, b, c = np.zeros(10), np.arange(10.0), np.ones(10)
    triad_processes.triad_blocks([(a[:6], b[:6], c[:6]), (a[6:], b[6:], c[6:])])
    np.testing.assert_array_equal(b + 3 * c, a)


@pytest.fixture
def accelerator(monkeypatch):
    """torch with an accelerator; returns how much of its memory is free, and the arrays made."""
    state = {"free": 64 * GIB, "arrays": []}

    def full(shape, value, device):
        state["arrays"].append(shape[0])
        return value

    cuda = SimpleNamespace(
        is_available=lambda: True,
        mem_get_info=lambda: (state["free"], 80 * GIB),
        synchronize=lambda: None,
    )
    fake = SimpleNamespace(__version__="2", cuda=cuda, full=full, add=lambda *_, **__: None)
    monkeypatch.setitem(sys.modules, "torch", fake)
    return state


def test_the_triad_of_an_accelerator_fits_its_free_memory(accelerator):
    """Three arrays of a GiB where there is room, and half of the free memory at most."""
    ticks = iter(range(10**6))
    figure = memory_bandwidth.cuda_triad(3.0, lambda: float(next(ticks)))
    assert 12.0 * 2**28 == figure.value
    accelerator["free"] = 2 * GIB
    assert "3 x 341 MiB" in memory_bandwidth.cuda_triad(3.0, lambda: float(next(ticks))).how
    assert 3 * 4 * accelerator["arrays"][-1] <= GIB


def test_a_full_accelerator_has_no_bandwidth(accelerator):
    """Next to a server of models: a reason, and no arrays that fit the caches."""
    accelerator["free"] = GIB // 2
    with pytest.raises(Unsupported, match=r"0\.5 GiB of the accelerator's memory are free"):
        memory_bandwidth.cuda_triad(1.0)
    assert [] == accelerator["arrays"]
