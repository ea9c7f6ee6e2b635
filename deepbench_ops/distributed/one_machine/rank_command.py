"""Command that starts the ranks of a group, and their environment variables."""

import os
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from deepbench_ops.distributed import transport_interface
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure import threads
from deepbench_ops.problems.suggestions import unknown

THREADS = 1
"""Number of threads of each rank; all ranks share the cores of one machine."""

DEFAULT_ALGORITHM = "default"
"""The algorithm that the library chooses by size and number of ranks."""

MPIRUN = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
"""Environment variables that let mpirun of Open MPI 4 and 5 run as root, start more ranks than
cores, and not bind ranks to cores. They are variables so that the command works with every MPI."""

WITHOUT_NETWORK = "^tcp,ofi"
"""Transports of Open MPI that ranks of one machine go without: they share memory, and these open
ports on all interfaces."""

LAUNCHERS_OWN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK")
"""Variables that an outer torchrun may have set and that are wrong for the ranks started here."""


def command(name: str, size: int, folder: Path) -> list[str]:
    """Return the command that starts `size` ranks; raise Unsupported if it needs a missing
    mpirun."""
    python = [sys.executable, "-m"]
    if not transport_interface.wants_mpirun(name):
        return [
            *python,
            "deepbench_ops.distributed.one_machine.fork_server",
            name,
            str(size),
            str(folder),
        ]
    mpirun = shutil.which("mpirun") or shutil.which("mpiexec")
    if mpirun is None:
        raise Unsupported(f"{name} needs mpirun, which is not installed here: install Open MPI")
    return [
        mpirun,
        "-n",
        str(size),
        *python,
        "deepbench_ops.distributed.one_machine.rank_program",
        name,
        str(folder),
    ]


def environment(name: str, algorithm: str = DEFAULT_ALGORITHM) -> dict[str, str]:
    """Return the environment variables of the ranks: threads, loopback interface, algorithm.

    Raises DeepbenchError for an algorithm that the transport does not have.
    """
    choices: dict[str, Mapping[str, str]] = {
        DEFAULT_ALGORITHM: {},
        **transport_interface.declaration(name).algorithms,
    }
    if algorithm not in choices:
        raise unknown(f"{name} algorithm", algorithm, tuple(choices))
    environ = {key: value for key, value in os.environ.items() if key not in LAUNCHERS_OWN}
    environ["DEEPBENCH_THREADS"] = str(THREADS)
    threads.fix(environ)
    # No other machine has to reach the ranks. Without this gloo would also look up the name of its
    # host, which fails on some machines.
    local = dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), loopback())
    local["OMPI_MCA_btl"] = WITHOUT_NETWORK
    return {**local, **environ, **MPIRUN, **choices[algorithm]}


def loopback() -> str:
    """Return the name of the loopback interface."""
    names = [name for _, name in socket.if_nameindex()]
    return next((name for name in names if name.startswith("lo")), "lo")
