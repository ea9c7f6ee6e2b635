"""The command lines by which srun, torchrun and mpirun start ranks on several nodes.

They are called on the first node, where rank 0 runs, and whose address all ranks get.
"""

import os
import platform
import shlex
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from deepbench_ops.distributed import transport_interface
from deepbench_ops.distributed.launchers.rank_placement import LAUNCHERS, LOOPBACK, RankPlacement
from deepbench_ops.distributed.one_machine import rank_command
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure import threads

PASSED = (
    *("DEEPBENCH_", "GLOO_", "NCCL_", "MASTER_", "OMP_", "MKL_", "OPENBLAS_"),
    *("PYTHONPATH", "PATH", "LD_LIBRARY_PATH"),
)
"""Beginnings of the variables that ranks on other hosts get; srun gives them all variables."""


def demand(transport: str, placement: RankPlacement) -> None:
    """Raise Unsupported where the launcher is missing, or cannot connect ranks of a transport."""
    transport_interface.demand(transport)
    own = LAUNCHERS[placement.launcher]
    if own not in transport_interface.declaration(transport).launchers:
        raise Unsupported(f"{transport} cannot connect ranks that {placement.launcher} has started")
    demand_installed(placement)


def demand_installed(placement: RankPlacement) -> None:
    """Raise Unsupported where the launcher is missing on this node."""
    if placement.launcher != "torchrun" and shutil.which(placement.launcher) is None:
        raise Unsupported(f"{placement.launcher} is not installed here")


def commands(
    placement: RankPlacement,
    program: Sequence[str],
    environ: Mapping[str, str],
    binding: bool = True,
) -> list[list[str]]:
    """Return the commands that start all ranks together.

    program: arguments of Python after -m. environ: that of `environment`. binding: whether srun
    may bind each rank to one core; ranks with several threads need all of their node's cores.
    """
    ranks, here = str(placement.ranks), str(placement.ranks_per_node)
    if placement.launcher == "torchrun":
        return [_torchrun(placement, each, program, environ) for each in range(placement.nodes)]
    python = [sys.executable, "-m", *program]
    if placement.launcher == "srun":
        where = ["--nodes", str(placement.nodes), "--ntasks", ranks, "--ntasks-per-node", here]
        where += [] if binding else ["--cpu-bind=none"]
        return [["srun", *where, "--mpi=none", "--kill-on-bad-exit=1", *python]]
    hosts = ",".join(f"{host}:{here}" for host in placement.hosts)
    passed = [word for name in _passed(environ) for word in ("-x", name)]
    return [["mpirun", "-n", ranks, *(["--host", hosts] if hosts else []), *passed, *python]]


def environment(placement: RankPlacement) -> dict[str, str]:
    """Return the environment variables of the ranks: one thread each, and where they meet.

    torch takes another number of threads later, as a training does.

    Variables of the user are kept, also MASTER_ADDR, MASTER_PORT and the network interface.
    """
    environ = {
        key: value for key, value in os.environ.items() if key not in rank_command.LAUNCHERS_OWN
    }
    environ["DEEPBENCH_THREADS"] = str(rank_command.THREADS)
    threads.fix(environ)
    usual = {"MASTER_ADDR": platform.node(), "MASTER_PORT": str(_free_port())}
    if placement.interconnect == LOOPBACK:
        interface = rank_command.loopback()
        usual |= {"MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": interface}
    return {**usual, **rank_command.MPIRUN, **environ}


def _torchrun(
    placement: RankPlacement, number: int, program: Sequence[str], environ: Mapping[str, str]
) -> list[str]:
    """Return torchrun's command for one node; on every host but the first ssh starts it."""
    command = [
        *(sys.executable, "-m", "torch.distributed.run"),
        *("--nnodes", str(placement.nodes), "--node-rank", str(number)),
        *("--nproc-per-node", str(placement.ranks_per_node)),
        *("--master-addr", environ["MASTER_ADDR"], "--master-port", environ["MASTER_PORT"]),
        *("-m", *program),
    ]
    if not placement.hosts or number == 0:
        return command
    variables = [f"{name}={environ[name]}" for name in _passed(environ)]
    there = shlex.join(["env", "-C", str(Path.cwd()), *variables, *command])
    return ["ssh", "-o", "BatchMode=yes", placement.hosts[number], there]


def _passed(environ: Mapping[str, str]) -> list[str]:
    return sorted(name for name in environ if name.startswith(PASSED))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        return int(free.getsockname()[1])
