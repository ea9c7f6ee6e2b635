"""MPI through mpi4py. MPI libraries sum into a second vector, and have no bfloat16."""

from deepbench_ops.distributed.transports import Declaration

ALGORITHMS = ("linear", "nonoverlapping", "recursive-doubling", "ring", "segmented-ring")
"""Algorithms of Open MPI; its numbers of them begin at 1."""

TRANSPORT = Declaration(
    position=30,
    library="mpi4py",
    module="deepbench_ops.distributed.mpi4py_messages",
    kind="MpiTransport",
    launchers=("Open MPI", "MPICH"),
    wants_mpirun=True,
    sums_bfloat16=False,
    copies=1,
    copies_in_place=1,
    algorithms={
        name: {
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_allreduce_algorithm": str(number),
        }
        for number, name in enumerate(ALGORITHMS, 1)
    },
)
