"""Thread counts are settled from the environment alone."""

import os
import subprocess
import sys

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import threads


def test_every_pool_gets_the_count_asked_for():
    """fix() writes the wanted count into each pool's variable and returns it."""
    environ = {"DEEPBENCH_THREADS": "3", "OMP_NUM_THREADS": "99"}
    assert threads.fix(environ) == 3
    assert {environ[name] for name in threads.THREAD_VARIABLES} == {"3"}


def test_the_default_is_the_physical_cores():
    """With nothing asked for, the count is the physical cores, at least one."""
    assert threads.wanted({}) == threads.physical_cores() >= 1


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", " ", "²"])
def test_nonsense_is_refused(text):
    """Anything but a whole number from 1 up is refused with the value named."""
    with pytest.raises(DeepbenchError, match="DEEPBENCH_THREADS"):
        threads.wanted({"DEEPBENCH_THREADS": text})


@pytest.mark.parametrize(
    ("siblings", "count", "expected"),
    [
        ([(0, 1), (2, 3), (4, 5)], 3, {0, 2, 4}),
        ([(0, 1), (2, 3), (4, 5)], 2, {0, 2}),
        ([(0, 3), (1, 4), (2, 5)], 3, {0, 1, 2}),
        ([(0, 1), (2, 3), (4, 5)], 4, {0, 1, 2, 4}),
        ([(0, 1), (2, 3), (4, 5)], 9, {0, 1, 2, 3, 4, 5}),
    ],
)
def test_processes_in_turns_have_a_hardware_thread_of_each_core(
    monkeypatch, siblings, count, expected
):
    """However a machine numbers the hardware threads of a core; second ones come last."""
    monkeypatch.delenv("DEEPBENCH_CORES", raising=False)
    core = {cpu: (str(number), "0") for number, cpus in enumerate(siblings) for cpu in cpus}
    monkeypatch.setattr(threads, "allowed_cpus", lambda: frozenset(core))
    monkeypatch.setattr(threads, "_core_of", core.__getitem__)
    assert expected == threads.cores(count)


@pytest.mark.parametrize("name", ["core_cpus_list", "thread_siblings_list"])
def test_cores_of_two_clusters_with_the_same_number_are_two_cores(tmp_path, monkeypatch, name):
    """As of ARM processors since Linux 6.0: each cluster numbers its cores from 0."""
    siblings = ["0", "1", "2", "3", "4,6", "5", "4,6"]
    for cpu, (number, shared) in enumerate(zip("0123010", siblings, strict=True)):
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text("0\n")
        (topology / "core_id").write_text(f"{number}\n")
        (topology / name).write_text(f"{shared}\n")
    monkeypatch.delenv("DEEPBENCH_CORES", raising=False)
    monkeypatch.setattr(threads.core_choice, "CPUS", tmp_path)
    monkeypatch.setattr(threads, "allowed_cpus", lambda: frozenset(range(8)))
    assert [0, 1, 2, 3, 4, 5, 7] == threads.one_cpu_per_core()


PINNING = """
import os, sys, threading, time
from deepbench_ops.measure import threads

threads.physical_cores()
stop = time.perf_counter() + 0.3

def work():
    while time.perf_counter() < stop:
        sum(range(1000))
    if threading.current_thread() is not threading.main_thread():
        time.sleep(30)

def idle():
    time.sleep(30)

busy = threading.Thread(target=work, daemon=True)
lazy = threading.Thread(target=idle, daemon=True)
for thread in (lazy, busy):
    thread.start()
work()
print(threads.pin(2))
of = lambda thread: sorted(os.sched_getaffinity(thread.native_id))
main = threading.main_thread()
print(of(main), of(busy), of(lazy))
late = threading.Thread(target=idle, daemon=True)
threads.unpin()
late.start()
print(of(main), of(busy), of(late), threads.physical_cores())
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.skipif(threads.physical_cores() < 2, reason="pinning apart takes two cores")
def test_busy_threads_are_pinned_apart_and_set_free_again():
    """The two threads that worked get a core each, an idle one keeps all; unpin undoes it."""
    done = subprocess.run([sys.executable, "-c", PINNING], capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)
    said, pinned, freed = done.stdout.splitlines()
    everywhere = str(sorted(os.sched_getaffinity(0)))
    first, second = threads.one_cpu_per_core()[:2]
    assert said == f"2 busiest threads pinned to cpu {first},{second}"
    assert sorted(pinned.removesuffix(f" {everywhere}").split()) == [f"[{first}]", f"[{second}]"]
    assert freed == f"{everywhere} {everywhere} {everywhere} {threads.physical_cores()}"


CHECKED = """
import os
from deepbench_ops.backends import output_check
from deepbench_ops.measure import kernel_measurement, threads

os.environ["DEEPBENCH_FRAMEWORK"] = "numpy"
threads.fix()
prepared = kernel_measurement.prepare("gemm", "m35_n700_k2048_NN", "float32")
check = output_check.verify_output
cores = []

def noted(*given, **named):
    cores.append(sorted(os.sched_getaffinity(0)))
    return check(*given, **named)

output_check.verify_output = noted
os.environ["DEEPBENCH_SPOOL"] = "."
kernel_measurement.timed(prepared, "gemm.Training.kernel_forward", ["a", "float32"], quick=True)
print(cores == [sorted(threads.allowed_cpus())])
"""


def test_outputs_are_checked_on_all_cores(tmp_path):
    """Threads that a pinned thread starts share its core: on 16 cores a check took a minute."""
    done = subprocess.run(
        [sys.executable, "-c", CHECKED], capture_output=True, text=True, cwd=tmp_path
    )
    assert "True" == done.stdout.strip(), done.stderr
