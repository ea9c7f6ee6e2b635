"""Groups of real processes on this machine: their sums and their errors."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from installed_frameworks import needed
from listening_sockets import listening
from processes import eventually_gone, marked_pids, state

from deepbench_ops import problems
from deepbench_ops.backends import output_check
from deepbench_ops.distributed import (
    collective_kernel,
    collective_timing,
    prepared_ranks,
    transport_interface,
)
from deepbench_ops.distributed.collective_options import CollectiveRequest
from deepbench_ops.distributed.one_machine import forked_process, rank_command
from deepbench_ops.distributed.one_machine.rank_group import RankGroup
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.measure import kernel_measurement, record_handover
from deepbench_ops.problems.all_reduce import AllReduce

TIMEOUT = 60.0
SMALL = AllReduce(elements=1000)


pytestmark = pytest.mark.usefixtures("none_left")


@pytest.fixture
def fault(monkeypatch, tmp_path):
    """Breaks the ranks' program: give it Python that changes `RankMember` in each process."""

    def breaks(text):
        head = "from deepbench_ops.distributed.rank_member import RankMember\n"
        (tmp_path / "sitecustomize.py").write_text(head + text)
        path = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))

    return breaks


def demand(name):
    """Skip with the reason where a transport cannot be had."""
    needed(*("mpi4py", "mpirun") if name == "mpi" else ("torch",))


def group(name, size, **more):
    """A group of ranks that gives up within a minute."""
    demand(name)
    return RankGroup(name, size, **{"timeout": TIMEOUT, **more})


@pytest.mark.parametrize("name", ["gloo", "mpi"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_every_rank_ends_with_the_sum(name, size):
    """Each of any number of ranks holds the exact sum, and says how long it took."""
    with group(name, size) as ranks:
        kernel = collective_kernel.prepare(SMALL, ranks)
        assert size == len(set(ranks.pids.values()))
        assert kernel.clock(3) > 0
        ranks.ask("verify")
        assert output_check.spot_check(kernel).ok
        kernel.reset()
        kernel.run()
        np.testing.assert_array_equal(kernel.reference.everywhere()[0], kernel.result())


def test_any_length_is_summed():
    """A vector shorter than the ranks are many, one of several blocks, and drawn ones."""
    with group("gloo", 3) as ranks:

        @settings(max_examples=20)
        @given(st.integers(1, 300_000))
        @example(1)
        @example(2)
        @example(65521)
        @example(65522)
        def summed(elements):
            kernel = collective_kernel.prepare(AllReduce(elements=elements), ranks)
            assert output_check.spot_check(kernel).ok

        summed()


def test_one_group_takes_sizes_in_turn():
    """A table over several sizes uses the same ranks, and each line has its bandwidths."""
    sizes = (AllReduce(elements=4000), AllReduce(elements=90_000))
    with group("gloo", 4) as ranks:
        title, header, *lines = collective_timing.lines(
            ranks, CollectiveRequest(sizes, repeats=6, timeout=TIMEOUT)
        )
    assert "4 ranks over gloo" in title
    assert header.split()[:3] == ["problem", "bytes", "ranks"]
    for problem, line in zip(sizes, lines, strict=True):
        cells = line.split()
        assert [problem.id, str(4 * problem.elements), "4", "6"] == cells[:4]
        assert line.endswith("exact")
        milliseconds, algorithm, bus = (float(cells[i]) for i in (4, 6, 7))
        assert algorithm == pytest.approx(4 * problem.elements / milliseconds / 1e6, rel=1e-3)
        assert bus == pytest.approx(algorithm * 1.5, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("size", [8, 16, 32])
def test_the_largest_groups_work(size):
    """Up to thirty-two ranks meet, sum and leave, also where there are fewer cores."""
    with group("gloo", size, timeout=120.0) as ranks:
        kernel = collective_kernel.prepare(problems.find("all_reduce", "n100000"), ranks)
        assert kernel.clock(2) > 0
        ranks.ask("verify")


@pytest.mark.slow
def test_every_published_size_is_summed():
    """Each of the seven sizes, up to 64.5 million entries, is right on two ranks."""
    with group("gloo", 2) as ranks:
        for problem in problems.load("all_reduce", "training"):
            kernel = collective_kernel.prepare(problem, ranks)
            assert kernel.clock(1) > 0
            ranks.ask("verify")
            assert output_check.spot_check(kernel).ok, problem.id


def test_more_sums_than_stay_finite_are_timed_in_parts():
    """A slice of thousands of sums in place neither overflows nor ends up wrong."""
    with group("gloo", 2) as ranks:
        kernel = collective_kernel.prepare(AllReduce(elements=10), ranks)
        assert kernel.clock(1000) > 0
        assert np.isfinite(kernel.result()).all()


def test_the_slowest_rank_counts(fault):
    """The time is that of the rank that took longest, not rank 0's nor a mean."""
    fault(
        "def slice(self, calls):\n"
        "    return {'seconds': float(self._transport.rank)}\n"
        "RankMember.slice = slice\n"
    )
    with group("gloo", 3) as ranks:
        assert 0.5 == collective_kernel.prepare(SMALL, ranks).clock(4)


@pytest.mark.slow
def test_ranks_sleep_between_orders():
    """Ranks that wait for an order use no processor time, so that they disturb nothing."""
    with group("gloo", 3) as ranks:
        collective_kernel.prepare(SMALL, ranks)
        before = [ticks(pid) for pid in ranks.pids.values()]
        time.sleep(1.0)
        assert [pytest.approx(each, abs=2) for each in before] == [
            ticks(pid) for pid in ranks.pids.values()
        ]
        assert {"S"} == {state(pid) for pid in ranks.pids.values()}


def ticks(pid):
    """Processor time used so far, in hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_ranks_have_one_thread_for_arithmetic(monkeypatch):
    """Ranks share the cores: whatever the caller's threads, each gets one, and the notes say so."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("DEEPBENCH_THREADS", "7")
    assert "1" == rank_command.environment("gloo")["OMP_NUM_THREADS"]
    with group("gloo", 2) as ranks:
        assert "1" == collective_kernel.prepare(SMALL, ranks).notes["threads per rank"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gloo", "mpi"])
def test_a_killed_rank_ends_the_run_and_is_named(name, mark):
    """A rank killed in the middle of its sums ends all of them soon, under its number."""
    with group(name, 3) as ranks:
        collective_kernel.prepare(AllReduce(elements=1_000_000), ranks)
        killing = threading.Timer(0.5, os.kill, (ranks.pids[1], signal.SIGKILL))
        killing.start()
        start = time.monotonic()
        with pytest.raises(DeepbenchError, match=r"rank 1 of 3 .*while exchanging") as error:
            ranks.ask("slice", calls=1_000_000)
        assert time.monotonic() - start < 10
        assert name == "mpi" or "was killed by SIGKILL" in str(error.value)
        assert [] == marked_pids(mark)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gloo", "mpi"])
def test_a_rank_that_is_dead_already_is_named(name):
    """A rank that ended between two orders is found out by the next."""
    with group(name, 2) as ranks:
        collective_kernel.prepare(SMALL, ranks)
        os.kill(ranks.pids[0], signal.SIGKILL)
        with pytest.raises(DeepbenchError, match="rank 0 of 2"):
            ranks.ask("slice", calls=1)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1])
def test_of_signs_that_come_at_once_all_are_weighed(first, monkeypatch):
    """The dead rank is named, not the one that misses it, in whatever order both are heard."""
    hear = RankGroup._hear

    def late(ranks, seconds):
        time.sleep(1.0)
        return sorted(hear(ranks, seconds), key=lambda sign: sign[0] != first)

    with group("gloo", 2) as ranks:
        collective_kernel.prepare(SMALL, ranks)
        monkeypatch.setattr(RankGroup, "_hear", late)
        os.kill(ranks.pids[0], signal.SIGKILL)
        with pytest.raises(DeepbenchError, match="rank 0 of 2 was killed by SIGKILL"):
            ranks.ask("slice", calls=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gloo", "mpi"])
def test_a_stopped_rank_ends_the_run_in_time_and_is_named(name, mark):
    """A rank that does nothing any more, while the others wait inside a sum, is found out."""
    with group(name, 3, timeout=20.0) as ranks:
        collective_kernel.prepare(AllReduce(elements=1_000_000), ranks)
        ranks.timeout = 3.0
        threading.Timer(0.5, os.kill, (ranks.pids[2], signal.SIGSTOP)).start()
        start = time.monotonic()
        with pytest.raises(DeepbenchError, match=r"^rank 2 of 3 did not answer within 3 s"):
            ranks.ask("slice", calls=1_000_000)
        assert time.monotonic() - start < 10
        assert [] == marked_pids(mark)


@pytest.mark.slow
def test_a_rank_that_hangs_in_its_own_code_is_named(fault):
    """The message names a rank that is alive but hangs, not those that wait for it."""
    fault(
        "import time\n"
        "prepare = RankMember.prepare\n"
        "def hang(self, **details):\n"
        "    if self._transport.rank == 1:\n"
        "        self.doing = 'preparing its vector'\n"
        "        time.sleep(1000)\n"
        "    return prepare(self, **details)\n"
        "RankMember.prepare = hang\n"
    )
    with group("gloo", 2, timeout=15.0) as ranks:
        ranks.timeout = 2.0
        with pytest.raises(DeepbenchError, match=r"^rank 1 of 2 did not answer within 2 s: still"):
            ranks.ask("prepare", elements=10)


@pytest.mark.slow
def test_a_rank_that_never_joins_is_named(fault):
    """Ranks that wait in vain for one to join are given up after the time allowed."""
    fault(
        "import time\n"
        "from deepbench_ops.distributed.one_machine import rank_program\n"
        "join = rank_program.LocalRank._join\n"
        "def late(self, **details):\n"
        "    if self._rank == 1:\n"
        "        import os, signal\n"
        "        os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    return join(self, **details)\n"
        "rank_program.LocalRank._join = late\n"
    )
    with pytest.raises(DeepbenchError, match=r"^rank 1 of 2 did not answer within 15 s"):
        group("gloo", 2, timeout=15.0)


@pytest.mark.slow
def test_a_rank_that_crashes_is_named_with_its_last_words(fault):
    """The last line of a rank that has ended is part of the message, with its exit status."""
    fault(
        "import os, sys\n"
        "def crash(self, **details):\n"
        "    if self._transport.rank == 1:\n"
        "        print('out of luck', file=sys.stderr, flush=True)\n"
        "        os._exit(7)\n"
        "    return {}\n"
        "RankMember.prepare = crash\n"
    )
    with (
        group("gloo", 2) as ranks,
        pytest.raises(DeepbenchError, match=r"rank 1 of 2 ended with status 7 .*\(out of luck\)"),
    ):
        ranks.ask("prepare", elements=10)


WRONG = """
run, timed = RankMember.run, RankMember._timed


def spoil(self):
    if self._transport.rank == 1:
        self._values[7] = {value}


def wrong_run(self):
    answer = run(self)
    {when_run}
    return answer


def wrong_timed(self, calls):
    seconds = timed(self, calls)
    {when_timed}
    return seconds


RankMember.run, RankMember._timed = wrong_run, wrong_timed
"""


@pytest.mark.parametrize(
    ("value", "shown"),
    [("self._values[7] * 2", r"[-\d.e]+"), ("float('nan')", "nan"), ("float('inf')", "inf")],
)
def test_a_wrong_sum_is_found_before_anything_is_timed(fault, value, shown):
    """A wrong or non-finite entry names rank, entry and value, and there is no line for it."""
    fault(WRONG.format(value=value, when_run="spoil(self)", when_timed="pass"))
    with group("gloo", 3) as ranks:
        lines = collective_timing.lines(
            ranks, CollectiveRequest((SMALL,), repeats=2, timeout=TIMEOUT)
        )
        next(lines), next(lines)
        with pytest.raises(
            DeepbenchError, match=f"rank 1 of 3 .* entry 7 of 1000 is {shown} instead of -?[0-9.]+e"
        ):
            next(lines)


def test_a_sum_that_goes_wrong_while_it_is_timed_is_found(fault):
    """The very sums that were timed are compared as well, before their time is printed."""
    fault(WRONG.format(value="0", when_run="pass", when_timed="spoil(self)"))
    with group("gloo", 2) as ranks:
        lines = collective_timing.lines(
            ranks, CollectiveRequest((SMALL,), repeats=2, timeout=TIMEOUT)
        )
        next(lines), next(lines)
        with pytest.raises(DeepbenchError, match=r"rank 1 of 2 .* entry 7"):
            next(lines)


def test_in_asv_a_sum_that_is_wrong_at_full_size_leaves_no_record(fault, monkeypatch, tmp_path):
    """Ranks whose twin was right are timed, and their sum is compared before it counts."""
    demand("gloo")
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "torch")
    monkeypatch.setenv("DEEPBENCH_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setattr(prepared_ranks.PreparedRanks, "yardstick_client", None)
    large = f"self._values.size > {max(prepared_ranks.PROBE_ELEMENTS)}"
    fault(WRONG.format(value="0", when_run="pass", when_timed=f"{large} and spoil(self)"))
    ranks = prepared_ranks.prepare("all_reduce", "n6553600", "float32", 2)
    try:
        with pytest.raises(DeepbenchError, match=r"rank 1 of 2 holds a wrong sum.* entry 7"):
            kernel_measurement.timed(ranks, "all_reduce", ["n6553600", "float32", "2"], quick=True)
    finally:
        ranks.close()
    assert [] == record_handover.collect(tmp_path / "spool")


@pytest.mark.slow
def test_what_many_ranks_spend_on_meeting_forbids_no_large_sum(fault, monkeypatch):
    """A small sum of half a second lets a large one be tried; one too long at both is refused."""
    demand("gloo")
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "torch")
    monkeypatch.setenv("DEEPBENCH_CALL_LIMIT", "10")
    fault("RankMember._timed = lambda self, calls: 0.5\n")
    prepared_ranks.prepare("all_reduce", "n16777217", "float32", 2).close()
    with pytest.raises(Unsupported, match=r"one call would take about 32 s over gloo"):
        fault("RankMember._timed = lambda self, calls: 0.5 * self._values.size / 2**18\n")
        prepared_ranks.prepare("all_reduce", "n16777217", "float32", 2)


@pytest.mark.parametrize(("name", "expected"), [("gloo", {"127.0.0.1"}), ("mpi", set())])
def test_no_other_machine_can_reach_the_ranks(name, expected):
    """All that the ranks listen on is bound to the loopback address; those of MPI share memory. The
    port of mpirun itself is Open MPI's own, and docs/how-to/all_reduce.md names it."""
    with group(name, 3) as ranks:
        assert expected == listening(ranks.pids.values())


def test_an_unknown_transport_is_refused():
    """A transport that there is not is answered with those that there are."""
    with pytest.raises(DeepbenchError, match=r"unknown transport 'glou'.*gloo"):
        RankGroup("glou", 2)


@pytest.mark.parametrize(("name", "choice"), [("gloo", "tree"), ("mpi", "rings")])
def test_an_unknown_algorithm_is_refused(name, choice):
    """An algorithm that the transport does not have is refused before anything starts."""
    with pytest.raises(DeepbenchError, match=f"unknown {name} algorithm '{choice}'"):
        rank_command.environment(name, choice)


@pytest.mark.parametrize("algorithm", transport_interface.declaration("mpi").algorithms)
def test_every_mpi_algorithm_sums(algorithm):
    """Each of Open MPI's algorithms gives the exact sum, and is named where the table has it."""
    with group("mpi", 4, algorithm=algorithm) as ranks:
        assert algorithm == ranks.versions["algorithm"]
        kernel = collective_kernel.prepare(AllReduce(elements=70_000), ranks)
        assert output_check.spot_check(kernel).ok


def test_a_missing_library_is_a_reason(monkeypatch):
    """A transport whose library is not installed is unsupported, with what to install."""
    monkeypatch.setattr(transport_interface, "find_spec", lambda name: None)
    with pytest.raises(Unsupported, match="mpi needs mpi4py, which is not installed"):
        RankGroup("mpi", 2)


def test_a_missing_mpirun_is_a_reason(monkeypatch):
    """mpi4py alone starts no ranks."""
    monkeypatch.setattr(transport_interface, "find_spec", lambda name: object())
    monkeypatch.setattr(rank_command.shutil, "which", lambda name: None)
    with pytest.raises(Unsupported, match="mpirun"):
        RankGroup("mpi", 2)


def test_ranks_without_gpus_are_a_reason():
    """nccl on a machine with fewer GPUs than ranks is unsupported and says how many it finds."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    with pytest.raises(Unsupported, match="nccl"):
        group("nccl", max(2, count + 1))


def test_more_than_fits_into_memory_is_a_reason(monkeypatch):
    """Vectors that this machine has no memory for are refused, not tried."""
    monkeypatch.setattr(collective_kernel.free_memory, "available", lambda: 2**30)
    with pytest.raises(Unsupported, match=r"32 ranks .* need about 9\.7 GiB .* 1\.0 GiB"):
        collective_kernel.demand_memory(AllReduce(64_500_000), "float32", 32, 32, "gloo")


GROUP_THAT_IS_KILLED = """
import os, signal
from deepbench_ops.distributed.one_machine.rank_group import RankGroup
ranks = RankGroup("{name}", 2)
if {stopping}:
    os.kill(ranks.pids[1], signal.SIGSTOP)  # one that cannot end by itself
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", ["gloo", "mpi"])
@pytest.mark.parametrize("stopping", [False, True])
def test_ranks_end_when_their_group_is_killed(mark, tmp_path, monkeypatch, name, stopping):
    """When the process that asked for them dies without a word, no rank and no file lives on."""
    demand(name)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = GROUP_THAT_IS_KILLED.format(name=name, stopping=stopping)
    done = subprocess.run([sys.executable, "-c", program], timeout=TIMEOUT)
    assert -signal.SIGKILL == done.returncode
    assert eventually_gone(mark)
    assert [] == list(tmp_path.glob("deepbench-*"))


def test_closing_twice_is_harmless():
    """close() may be called again, and leaves no folder."""
    ranks = group("gloo", 2)
    folder = ranks._folder
    ranks.close()
    ranks.close()
    assert not folder.exists()


FORKED = """
import os, sys
from pathlib import Path
import torch
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.distributed import collective_kernel
from deepbench_ops.distributed.one_machine.rank_group import RankGroup
if child := os.fork():  # as asv does: the child has none of the threads that importing started
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
with RankGroup("gloo", 3) as ranks:
    collective_kernel.prepare(AllReduce(elements=1000), ranks)
    program = lambda pid: Path(f"/proc/{pid}/cmdline").read_bytes()
    assert {program("self")} == {program(pid) for pid in ranks.pids.values()}
    assert "1" == ranks.versions["torch_threads"]
"""


def fork_of(text):
    """Run a program that has imported torch and goes on in a fork; return its output."""
    demand("gloo")
    command = [sys.executable, "-c", FORKED + text]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)


def test_where_torch_is_imported_the_ranks_are_forks_that_import_nothing():
    """They sum with a thread each, whatever torch was imported for, and end with the group."""
    found = fork_of("")
    assert (0, "") == (found.returncode, found.stderr)


def test_of_forks_the_one_that_dies_is_named():
    """The message says how it ended, as for ranks that are a program's, and the rest end too."""
    found = fork_of("    os.kill(ranks.pids[1], 9)\n    ranks.ask('run')\n")
    assert "rank 1 of 3 was killed by SIGKILL while exchanging" in found.stderr


def test_forks_end_with_the_one_who_asked():
    """Even when that is killed and can send them nothing."""
    found = fork_of("    os.kill(os.getpid(), 9)\n")
    assert -signal.SIGKILL % 256 == found.returncode % 256


def test_ranks_on_gpus_are_never_forks_of_who_asks(monkeypatch, tmp_path):
    """Who asks may have looked for a device, which its forks could not open any more."""
    (tmp_path / "only one thread").touch()
    monkeypatch.setattr(forked_process, "TASKS", tmp_path)
    monkeypatch.setitem(sys.modules, "torch", forked_process)
    assert forked_process.possible("gloo")
    assert not forked_process.possible("nccl")
