"""The ranks that torchrun and mpirun start, on one machine and between two hosts of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import installed_frameworks
import network
import pytest
from processes import MARK, eventually_gone, marked_pids

pytestmark = pytest.mark.slow

PYTHON = sys.executable
TORCHRUN = [PYTHON, "-m", "torch.distributed.run"]
PROGRAM = [
    "deepbench_ops.distributed",
    "--elements",
    "1000",
    "--elements",
    "70000",
    "--repeats",
    "4",
]
ENDLESS = ["deepbench_ops.distributed", "--elements", "300000", "--repeats", "1000000"]


@pytest.fixture(autouse=True)
def mark(monkeypatch):
    """Marks all processes that a test starts; none of them may outlive it."""
    unique = uuid.uuid4().hex
    monkeypatch.setenv(MARK, unique)
    # mpirun refuses root, and more ranks than cores, unless asked to allow them.
    for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe"):
        monkeypatch.setenv(f"OMPI_{name}", "1")
    yield unique
    assert eventually_gone(unique)


@pytest.fixture
def hosts():
    """Two hosts, or a skip with the reason why there are none."""
    reason = network.impossible()
    if reason:
        pytest.skip(reason)
    with network.two_hosts() as both:
        yield both


def needed(launcher):
    """Skip with the reason where a launcher cannot be had."""
    installed_frameworks.needed(*("mpi4py", "mpirun") if launcher == "mpirun" else ("torch",))


def command(launcher, ranks, program):
    """The command that starts so many ranks on one machine."""
    needed(launcher)
    if launcher == "torchrun":
        return [*TORCHRUN, "--standalone", "--nproc-per-node", str(ranks), "-m", *program]
    return ["mpirun", "-n", str(ranks), PYTHON, "-m", *program]


def start(arguments, **environ):
    """Start a command, with both outputs in one pipe."""
    return subprocess.Popen(
        arguments,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process, seconds=120):
    """Wait for a command; (exit status, its output)."""
    try:
        said, _ = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return process.returncode, said


def table(said):
    """The lines of the table in the output, as cells."""
    return [line.split() for line in said.splitlines() if line.startswith("n")]


def ours(said):
    """The lines of our own errors."""
    return [line for line in said.splitlines() if line.startswith("deepbench: error:")]


@pytest.mark.parametrize("launcher", ["torchrun", "mpirun"])
def test_rank_0_prints_the_table(launcher):
    """Three ranks of a launcher time both sizes, and one table comes out."""
    status, said = finish(start(command(launcher, 3, PROGRAM)))
    assert (0, []) == (status, ours(said)), said
    first, second = table(said)
    assert ["n1000", "4000", "3", "4"] == first[:4]
    assert ["n70000", "280000", "3", "4"] == second[:4]
    assert "exact" == second[-1]


def test_torchrun_between_two_hosts(hosts):
    """Two ranks on each of two hosts, meeting over a network cable, sum right."""
    needed("torchrun")
    running = []
    for number, host in enumerate(hosts):
        where = ["--master-addr", hosts[0].address, "--master-port", "29500"]
        nodes = ["--nnodes", "2", "--node-rank", str(number), "--nproc-per-node", "2"]
        arguments = host.command(*TORCHRUN, *nodes, *where, "-m", *PROGRAM)
        running.append(start(arguments, GLOO_SOCKET_IFNAME=host.interface))
    (status, said), (other, elsewhere) = map(finish, running)
    assert (0, 0) == (status, other), said + elsewhere
    assert [["n1000", "4000", "4"], ["n70000", "280000", "4"]] == [c[:3] for c in table(said)]
    assert [] == table(elsewhere)


def test_mpirun_between_two_hosts(hosts, tmp_path):
    """The ranks of a hostfile, two on each of two hosts, sum right."""
    needed("mpirun")
    first, second = hosts
    hostfile = tmp_path / "hosts"
    hostfile.write_text("".join(f"{host.address} slots=2\n" for host in hosts))
    agent = tmp_path / "agent"  # stands in for ssh: drops the address, runs the rest there
    there = f"ip netns exec {second.namespace} unshare --uts sh -c"
    agent.write_text(f'#!/bin/sh\nshift\nexec {there} "hostname {second.namespace}; $*"\n')
    agent.chmod(0o755)
    mpirun = ["mpirun", "--mca", "plm_rsh_agent", str(agent), "--hostfile", str(hostfile)]
    passed = [word for name in ("PYTHONPATH", MARK) if name in os.environ for word in ("-x", name)]
    arguments = first.command(*mpirun, *passed, "-n", "4", PYTHON, "-m", *PROGRAM)
    status, said = finish(start(arguments))
    assert 0 == status, said
    assert [["n1000", "4000", "4"], ["n70000", "280000", "4"]] == [c[:3] for c in table(said)]


def test_a_cut_cable_ends_the_run(hosts):
    """When the hosts lose each other in the middle of a sum, both ends stop in time."""
    needed("torchrun")
    running = []
    for number, host in enumerate(hosts):
        environ = {
            "RANK": str(number),
            "WORLD_SIZE": "2",
            "MASTER_ADDR": hosts[0].address,
            "MASTER_PORT": "29500",
            "GLOO_SOCKET_IFNAME": host.interface,
        }
        program = host.command(PYTHON, "-m", *ENDLESS, "--timeout", "10")
        running.append(start(program, **environ))
    for line in running[0].stdout:
        if line.startswith("problem"):
            break
    time.sleep(2)
    network.cut(hosts[1])
    before = time.monotonic()
    (status, said), (other, elsewhere) = map(finish, running)
    assert time.monotonic() - before < 60
    assert 0 not in (status, other)
    assert any("rank 1 of 2" in line for line in ours(said)), said
    assert ours(elsewhere), elsewhere


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("launcher", ["torchrun", "mpirun"])
def test_a_rank_that_fails_ends_the_run_and_is_named(launcher, how, mark):
    """A rank that dies or stops in the middle of its sums ends all, and somebody names it."""
    running = start(command(launcher, 3, [*ENDLESS, "--timeout", "6"]))
    victim = rank_process(mark, 1)
    for line in running.stdout:
        if line.startswith("problem"):
            break
    time.sleep(1)
    os.kill(victim, how)
    before = time.monotonic()
    status, said = finish(running)
    assert time.monotonic() - before < 60
    assert 0 != status
    named = [line for line in ours(said) if "rank 1 of 3" in line]
    launchers_word = "process rank 1 " in said or "rank      : 1 " in said
    assert named or launchers_word, said
    assert [] == [line for line in ours(said) if "rank 1 of 3" not in line]
    assert eventually_gone(mark, 40)


def rank_process(mark, rank, seconds=60):
    """The process of a rank, as the launcher's variables in its environment tell."""
    wanted = {f"RANK={rank}".encode(), f"OMPI_COMM_WORLD_RANK={rank}".encode()}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for pid in marked_pids(mark):
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if wanted & set(variables):
                return pid
        time.sleep(0.1)
    raise AssertionError(f"no rank {rank} among {marked_pids(mark)}")


def single(*arguments, **environ):
    """Start the program without a launcher; (exit status, its output)."""
    return finish(start([PYTHON, "-m", "deepbench_ops.distributed", *arguments], **environ))


ALONE = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
PAIR = {**ALONE, "WORLD_SIZE": "2"}


@pytest.mark.parametrize(
    ("arguments", "environ", "message"),
    [
        ([], {}, "no launcher here"),
        ([], ALONE, "1 rank alone"),
        (["--elements", "0"], PAIR, "--elements is 0"),
        (["--problem", "n1"], PAIR, "unknown all_reduce problem 'n1'"),
        (["--timeout", "-1"], PAIR, "--timeout is '-1'"),
        (["--transport", "glou"], PAIR, "unknown transport 'glou'"),
        (["--transport", "mpi"], PAIR, "ranks started by torchrun connect over gloo or nccl"),
        (["--nonsense"], PAIR, "unrecognized arguments: --nonsense"),
    ],
)
def test_bad_input_is_one_line(arguments, environ, message):
    """An impossible request ends in one line and a status that is not 0."""
    status, said = single(*arguments, **environ)
    assert 2 == status
    assert 1 == len(said.splitlines())
    assert said.startswith(f"deepbench: error: {message}")


def test_a_port_in_use_is_one_line():
    """Rank 0 cannot offer a meeting point at a port that somebody listens on."""
    needed("torchrun")
    with socket.create_server(("", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, said = single("--elements", "10", **{**PAIR, "MASTER_PORT": port})
    assert 2 == status
    (line,) = ours(said)
    assert line.startswith("deepbench: error: rank 0 of 2 could not join the others")
    assert port in line
    assert "address already in use" in line


def test_ranks_that_never_come_are_waited_for_in_vain():
    """A rank whose partner does not start gives up after the time allowed."""
    needed("torchrun")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    status, said = single("--elements", "10", "--timeout", "3", **{**PAIR, "MASTER_PORT": port})
    assert 2 == status
    assert 1 == len(ours(said))
    assert "rank 0 of 2 could not join the others" in said
