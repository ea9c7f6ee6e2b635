"""Ranks of a placement on several nodes: their commands, and real ones on this machine."""

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest
from installed_frameworks import needed
from processes import eventually_gone, marked_pids

from deepbench_ops.distributed import collective_kernel
from deepbench_ops.distributed.launchers import launcher_commands, launcher_variables
from deepbench_ops.distributed.launchers.launched_group import LaunchedGroup
from deepbench_ops.distributed.launchers.rank_placement import LOOPBACK, RankPlacement
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.all_gather import AllGather
from deepbench_ops.problems.all_reduce import AllReduce

LAUNCHERS = {"torchrun": ("gloo", ("torch",)), "mpirun": ("mpi", ("mpi4py", "mpirun"))}
"""A transport of each launcher that runs without a scheduler, and the packages that it needs."""


@pytest.fixture
def environ(monkeypatch):
    """The environment of ranks that meet at node1, port 29500."""
    monkeypatch.setenv("MASTER_ADDR", "node1")
    monkeypatch.setenv("MASTER_PORT", "29500")
    return launcher_commands.environment(RankPlacement(2, 4, "srun", "hdr200"))


def commands(launcher, environ, hosts=(), interconnect="hdr200"):
    """The commands for two nodes with four ranks each."""
    placement = RankPlacement(2, 4, launcher, interconnect, hosts)
    return launcher_commands.commands(placement, ["program", "argument"], environ)


def test_srun_starts_all_ranks(environ):
    """With as many on each node as the placement has."""
    (command,) = commands("srun", environ)
    assert "srun --nodes 2 --ntasks 8 --ntasks-per-node 4" in shlex.join(command)
    assert [sys.executable, "-m", "program", "argument"] == command[-4:]


def test_mpirun_takes_hosts_and_variables(environ):
    """As many slots of each host as the placement has ranks there, and where the ranks meet."""
    (command,) = commands("mpirun", environ, ("n1", "n2"))
    assert ["mpirun", "-n", "8", "--host", "n1:4,n2:4"] == command[:5]
    assert "-x DEEPBENCH_THREADS" in shlex.join(command)


def test_torchrun_is_started_on_the_other_hosts_by_ssh(environ):
    """The first one runs here; the other one gets folder and variables."""
    here, there = commands("torchrun", environ, ("n1", "n2"))
    assert [sys.executable, "-m", "torch.distributed.run"] == here[:3]
    assert ["ssh", "-o", "BatchMode=yes", "n2"] == there[:4]
    words = shlex.split(there[4])
    assert ["env", "-C", str(Path.cwd())] == words[:3]
    assert "MASTER_ADDR=node1" in words
    assert "--node-rank 1 --nproc-per-node 4 --master-addr node1 --master-port 29500" in there[4]


SLURM = {
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_LOCALID": "1",
    "SLURM_NTASKS_PER_NODE": "2",
    "MASTER_ADDR": "node1",
    "MASTER_PORT": "29500",
}
"""Variables of the last of two ranks on each of two nodes."""


def test_a_rank_of_srun_finds_its_place():
    """Rank, size and ranks of its node, in the variables that torch reads."""
    assert ("Slurm", (3, 4)) == (launcher_variables.found(SLURM), launcher_variables.place(SLURM))
    expected = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
    assert expected == launcher_variables.for_torch(SLURM)


def test_torchrun_and_mpirun_in_a_job_of_slurm_go_first():
    """Their ranks are not those of srun."""
    torchrun = {**SLURM, "RANK": "0", "WORLD_SIZE": "2"}
    mpirun = {**SLURM, "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    assert [(0, 2), (1, 2)] == [launcher_variables.place(each) for each in (torchrun, mpirun)]
    assert {} == launcher_variables.for_torch(torchrun)


def test_a_rank_of_mpirun_finds_its_place_for_torch():
    """With its rank on its machine, which picks its GPU."""
    places = {"RANK": "3", "SIZE": "4", "LOCAL_RANK": "1", "LOCAL_SIZE": "2"}
    mpirun = {f"OMPI_COMM_WORLD_{name}": value for name, value in places.items()}
    meeting = {"MASTER_ADDR": "node1", "MASTER_PORT": "29500"}
    expected = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
    assert expected == launcher_variables.for_torch({**mpirun, **meeting})


def test_ranks_of_srun_without_a_place_to_meet_are_refused():
    """The variable that is missing is named."""
    with pytest.raises(DeepbenchError, match="MASTER_PORT is not set"):
        launcher_variables.for_torch({**SLURM, "MASTER_PORT": ""})


@pytest.fixture
def started(request, mark):
    """Two nodes with a rank each, on this machine; none outlives the test."""
    transport, packages = LAUNCHERS[request.param]
    needed(*packages)
    group = LaunchedGroup(transport, RankPlacement(2, 1, request.param, LOOPBACK), timeout=60)
    yield group
    group.close(killing=True)
    assert eventually_gone(mark)


@pytest.mark.parametrize("started", LAUNCHERS, indirect=True)
def test_ranks_of_two_nodes_exchange_vectors(started, mark):
    """Every entry on both is right, and the versions name the placement."""
    for problem in (AllReduce(elements=70000), AllGather(elements=1000)):
        kernel = collective_kernel.prepare(problem, started)
        assert kernel.clock(3) > 0
        started.ask("verify")
    facts = ("nodes", "ranks_per_node", "interconnect")
    assert ("2", "1", LOOPBACK) == tuple(started.versions[name] for name in facts)
    started.close()
    assert eventually_gone(mark)


@pytest.mark.slow
@pytest.mark.parametrize("started", LAUNCHERS, indirect=True)
def test_a_rank_that_dies_ends_the_group(started, mark):
    """With one error, and no rank is left."""
    (victim,) = [pid for pid in marked_pids(mark) if is_rank(pid, 1)]
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(DeepbenchError):
        for _ in range(3):
            started.ask("prepare", elements=1000)
    assert eventually_gone(mark, 40)


def is_rank(pid, rank):
    """Whether a process is that rank's Python."""
    variables = set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    program = b"launched_rank_program" in Path(f"/proc/{pid}/cmdline").read_bytes()
    wanted = {f"RANK={rank}".encode(), f"OMPI_COMM_WORLD_RANK={rank}".encode()}
    return program and bool(wanted & variables)


def test_ranks_that_are_on_fewer_nodes_are_refused(mark, monkeypatch):
    """Times of one machine are not filed as those of two."""
    needed("mpi4py", "mpirun")
    placement = RankPlacement(2, 1, "mpirun", "hdr200")
    with pytest.raises(DeepbenchError, match=r"the 2 ranks run on .*, and not on 2 nodes"):
        LaunchedGroup("mpi", placement, timeout=60)
    assert eventually_gone(mark)


def test_a_launcher_that_cannot_connect_a_transport_is_refused():
    """Before anything is started."""
    needed("torch")
    with pytest.raises(Unsupported, match="gloo cannot connect ranks that mpirun has started"):
        LaunchedGroup("gloo", RankPlacement(2, 1, "mpirun", LOOPBACK))


def test_a_launcher_that_fails_is_quoted(mark, monkeypatch, tmp_path):
    """One line with its last line."""
    needed("torch")
    broken = tmp_path / "srun"
    broken.write_text("#!/bin/sh\necho 'srun: error: Unable to allocate resources' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(DeepbenchError, match="srun ended while starting: srun: error: Unable"):
        LaunchedGroup("gloo", RankPlacement(2, 1, "srun", "hdr200"), timeout=60)
    assert eventually_gone(mark)
