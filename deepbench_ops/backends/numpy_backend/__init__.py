"""numpy and scipy on the CPU: one module per family of kernels."""

POSITION = 10
"""Place among the frameworks in tables and menus."""

VARIABLES = ("NPY_", "NUMPY_")
"""Prefixes of the environment variables that steer it."""
COMPANIONS = ("threadpoolctl",)

TRANSPORTS = {"cpu": "mpi"}
"""MPI through mpi4py, if mpi4py and mpirun are installed."""
