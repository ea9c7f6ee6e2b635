"""numpy and scipy on the CPU: one module per family of kernels."""

POSITION = 10
"""Place among the frameworks in tables and menus."""

VARIABLES = ("NPY_", "NUMPY_")
"""Prefixes of the environment variables that steer it."""
COMPANIONS = ("threadpoolctl",)

TRANSPORTS = {"cpu": "mpi"}
"""MPI through mpi4py, if mpi4py and mpirun are installed."""

RUNS_ON = ("cpu",)
"""The devices that it runs on."""

PRECISIONS = ("float32", "float16", "int8", "float32_int4", "float32_mxfp4")
"""The precisions that it has kernels in, of any family."""
