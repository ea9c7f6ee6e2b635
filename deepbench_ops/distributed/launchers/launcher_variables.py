"""Environment variables that launchers set for their processes."""

import os
from collections.abc import Mapping

from deepbench_ops.errors import DeepbenchError

VARIABLES = {
    "torchrun": ("RANK", "WORLD_SIZE"),
    "Open MPI": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    "MPICH": ("PMI_RANK", "PMI_SIZE"),
    "Slurm": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
}
"""Rank and number of ranks by launcher. The first whose variables are set is taken: torchrun may
itself be started by srun, and mpirun in a job of Slurm."""

LOCAL_RANK = {
    "Open MPI": "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPICH": "MPI_LOCALRANKID",
    "Slurm": "SLURM_LOCALID",
}
"""Rank among those of a machine, by launcher that sets no variables of torch."""

ON_THIS_MACHINE = (
    *("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"),
    "SLURM_NTASKS_PER_NODE",
)


def found(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the name of the launcher that has started this process, None for none."""
    for name, variables in VARIABLES.items():
        if all(environ.get(variable, "").isdigit() for variable in variables):
            return name
    return None


def place(environ: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """Return (rank, size) from the launcher's variables; raise DeepbenchError without a
    launcher."""
    name = found(environ)
    if name is None:
        raise DeepbenchError("no launcher here: start this with torchrun, srun or mpirun")
    rank, size = VARIABLES[name]
    return int(environ[rank]), int(environ[size])


def here(environ: Mapping[str, str] = os.environ) -> int:
    """Return the number of ranks on this machine, 1 if the launcher does not report it."""
    counts = (environ.get(variable, "") for variable in ON_THIS_MACHINE)
    return next((int(text) for text in counts if text.isdigit()), 1)


def for_torch(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables by which torch finds the other ranks, for a launcher that sets none.

    Raises DeepbenchError where the ranks of srun or mpirun have no place to meet.
    """
    name = found(environ)
    if name not in LOCAL_RANK:
        return {}
    for variable in ("MASTER_ADDR", "MASTER_PORT"):
        if not environ.get(variable):
            raise DeepbenchError(
                f"{variable} is not set: ranks of {name} meet at a port of the first node, so set"
                " MASTER_ADDR and MASTER_PORT to its name and a free port"
            )
    rank, size = place(environ)
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": environ.get(LOCAL_RANK[name], "0"),
        "LOCAL_WORLD_SIZE": str(here(environ)),
    }
