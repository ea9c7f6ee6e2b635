"""Environment variables that launchers set for their processes."""

import os
from collections.abc import Mapping

from deepbench_ops.errors import DeepbenchError

VARIABLES = {
    "torchrun": ("RANK", "WORLD_SIZE"),
    "Open MPI": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    "MPICH": ("PMI_RANK", "PMI_SIZE"),
}
ON_THIS_MACHINE = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


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
        raise DeepbenchError("no launcher here: start this with torchrun or mpirun")
    rank, size = VARIABLES[name]
    return int(environ[rank]), int(environ[size])


def here(environ: Mapping[str, str] = os.environ) -> int:
    """Return the number of ranks on this machine, 1 if the launcher does not report it."""
    counts = (environ.get(variable, "") for variable in ON_THIS_MACHINE)
    return next((int(text) for text in counts if text.isdigit()), 1)
