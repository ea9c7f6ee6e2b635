"""No process outlives the one that started it: real processes, killed without warning."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from command import COMMAND
from installed_frameworks import needed
from processes import MARK, PAIR, eventually_gone, marked_pids, state

from deepbench_ops import process_lifetime

ROOT = Path(__file__).resolve().parents[2]
AFTER = 2.0
"""Seconds after which none may be left."""

YARDSTICK = """
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.yardstick_process import YardstickProcess
client = YardstickProcess().client("compute", None)
print("ready", flush=True)
try:
    while True:
        client.slice(1000)
except DeepbenchError as error:
    print(error, flush=True)
"""

ASV = """
import os, sys, tempfile, time
from deepbench_ops import process_lifetime
from deepbench_ops.asv_adapter import asv_api
class Environment:
    env_vars = {}
    def run(self, args, **options):
        return asv_api.check_output([sys.executable, *args], **options)
process_lifetime.bind_forks()
print("ready", flush=True)
server = asv_api.ForkServer(Environment(), "benchmarks")
server.preimport()
name = "gemm.InferenceServer.kernel_forward-0"
try:
    while True:
        with tempfile.NamedTemporaryFile() as result:
            server.run(name, "{}", "None", result.name, 60, os.getcwd())
        time.sleep(float(os.environ.get("PAUSE", "0")))
finally:
    server.close()
"""

UNREAD = """
import sys, time
from deepbench_ops import process_lifetime
process_lifetime.end_when_unread(sys.stdout.fileno())
print("ready", flush=True)
time.sleep(float(sys.argv[1]))
"""

FORKS = """
import os, time
from deepbench_ops import process_lifetime
process_lifetime.bind_forks()
if os.fork():
    print("ready", flush=True)
else:
    os.fork()
time.sleep(60)
"""

STARTS = """
import os, sys
from deepbench_ops.measure import core_latency, kernel_process, worker_control, yardstick_process
from deepbench_ops.releases.command_output import command_output
os.register_at_fork(before=lambda: print("forked", file=sys.stderr))
core_latency.read(os.sched_getaffinity(0))
worker_control.LiveWorker(worker_control.Launch(sys.executable), {0}).close()
yardstick_process.YardstickProcess().close()
task = {"family": "gemm", "problem": "m16_n16_k16_NN", "precision": "float32"}
print(kernel_process.measured({**task, "operation": "forward"}, {})["params"][0])
print(command_output(["echo", "installed"], ".", os.environ, 10.0))
"""


@pytest.fixture(autouse=True)
def mark(monkeypatch):
    """Marks all processes that a test starts; none of them may outlive it."""
    unique = uuid.uuid4().hex
    monkeypatch.setenv(MARK, unique)
    yield unique
    for pid in marked_pids(unique):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def running(program: str) -> Iterator[subprocess.Popen[str]]:
    """The program, one of those above, once it is ready."""
    environ = {**os.environ, "DEEPBENCH_THREADS": "1", "DEEPBENCH_FRAMEWORK": "numpy"}
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout and "ready\n" == process.stdout.readline()
            yield process
        finally:
            process.kill()


def parent(pid: int) -> int:
    """The process that started this one."""
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def children(of: int, mark: str) -> list[int]:
    """The marked processes that this one started."""
    found = []
    for pid in marked_pids(mark):
        with suppress(OSError):
            found += [pid] if parent(pid) == of else []
    return found


@pytest.mark.parametrize("program", [PAIR, YARDSTICK, FORKS])
def test_a_killed_process_leaves_none(mark, program):
    """Live workers, stopped ones among them, yardsticks and forks of forks end with a parent."""
    with running(program) as process:
        while len(marked_pids(mark)) < 3:
            time.sleep(0.01)
        process.kill()
    assert eventually_gone(mark, AFTER)


@pytest.mark.parametrize("victim", ["guardian", "reader"])
def test_a_kernel_goes_on_when_its_yardstick_is_killed(mark, victim):
    """When one of its two processes is killed during a reading, the other wakes the asker, which
    reports it."""
    with running(YARDSTICK) as process:
        (guardian,) = children(process.pid, mark)
        (reader,) = children(guardian, mark)
        while state(process.pid) != "T":
            time.sleep(0.001)
        os.kill(guardian if victim == "guardian" else reader, signal.SIGKILL)
        said, _ = process.communicate(timeout=20)
    assert "the yardstick's process has ended; start the run again\n" == said
    assert eventually_gone(mark, AFTER)


def test_a_yardstick_that_something_else_stops_goes_on(mark):
    """Its guardian wakes it, also where it holds the kernel stopped."""
    with running(YARDSTICK) as process:
        (guardian,) = children(process.pid, mark)
        (reader,) = children(guardian, mark)
        os.kill(reader, signal.SIGSTOP)
        until = time.monotonic() + 10
        while state(reader) == "T" and time.monotonic() < until:
            time.sleep(0.01)
        assert "T" != state(reader)
        assert process.poll() is None


def test_a_parent_that_has_ended_already_is_noticed():
    """A child whose parent ended before it could ask for the signal ends at once."""
    child = os.fork()
    if not child:
        process_lifetime.end_with(1 << 30)
        os._exit(0)
    assert -signal.SIGKILL == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_programs_are_started_without_a_fork_of_this_process():
    """A library with threads, such as jax, warns of each fork, and the fork may wait for ever."""
    environ = {**os.environ, "DEEPBENCH_FRAMEWORK": "numpy", "DEEPBENCH_THREADS": "1"}
    command = [sys.executable, "-c", STARTS]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert ("", 0) == (done.stderr, done.returncode)
    assert "m16_n16_k16_NN\ninstalled\n\n" == done.stdout


def test_a_program_that_does_not_exist_is_named():
    with pytest.raises(FileNotFoundError, match="no/such/program"):
        process_lifetime.bound(["no/such/program"])


@pytest.mark.parametrize("pause", ["0", "60"])
def test_asv_leaves_no_server(mark, monkeypatch, pause):
    """asv's fork server, its children and the yardstick end with asv, which is killed while a
    kernel is measured, and between two of them."""
    monkeypatch.setenv("PAUSE", pause)
    with running(ASV) as asv:
        while len(marked_pids(mark)) < 5:  # asv, its server, guardian, reader, a kernel
            time.sleep(0.01)
        while pause != "0" and len(marked_pids(mark)) > 4:
            time.sleep(0.01)
        asv.kill()
    assert eventually_gone(mark, AFTER)


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["deepbench_ops.cli", "deepbench_ops.distributed.training"])
def test_a_training_over_ranks_leaves_none(mark, victim):
    """The ranks end with the command, and that fails where one of them ends."""
    needed("torch")
    command = [*COMMAND, "scaling", "wide_deep", "--ranks", "2", "--seconds", "60"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as scaling:
        while len(marked_pids(mark)) < 3 and scaling.poll() is None:
            time.sleep(0.1)
        time.sleep(1.0)
        pid, *_ = [each for each in marked_pids(mark) if victim in program(each)]
        os.kill(pid, signal.SIGKILL)
        assert 0 != scaling.wait(20)
    assert eventually_gone(mark, AFTER)


def program(pid: int) -> str:
    """The command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_kills_at_random_moments_leave_none(mark, number):
    """Any of a run's processes is killed at any moment, then asv: none is left, and none hangs."""
    chance = random.Random(number)
    program = chance.choice([ASV, ASV, PAIR])
    with running(program) as process:
        time.sleep(chance.uniform(0.0, 3.0))
        victim = chance.choice([process.pid, *marked_pids(mark)])
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        time.sleep(chance.uniform(0.0, 0.5))
        process.kill()
    assert eventually_gone(mark, AFTER)


def test_a_process_ends_with_the_reader_of_its_output():
    """It sleeps, and would notice nothing itself."""
    with subprocess.Popen(
        [sys.executable, "-c", UNREAD, "600"], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        assert b"ready\n" == process.stdout.readline()
        process.stdout.close()
        assert -signal.SIGTERM == process.wait(AFTER)


def test_a_process_that_writes_to_a_file_goes_on_to_its_end(tmp_path):
    """A file has no reader."""
    with (tmp_path / "said").open("w") as said:
        done = subprocess.run([sys.executable, "-c", UNREAD, "0.2"], cwd=ROOT, stdout=said)
    assert 0 == done.returncode
