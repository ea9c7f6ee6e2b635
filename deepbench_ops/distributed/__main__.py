"""`python -m deepbench_ops.distributed`: collective operations, as one rank under a launcher.

torchrun --nnodes 2 --nproc-per-node 4 ... -m deepbench_ops.distributed
mpirun -n 8 --hostfile hosts python -m deepbench_ops.distributed
"""

import os

from deepbench_ops.measure import threads


def main() -> None:
    """Fix the number of threads before a library that starts threads is loaded; run this rank."""
    os.environ.setdefault("DEEPBENCH_THREADS", "1")
    threads.fix()
    from deepbench_ops.distributed.launchers import collective_program

    collective_program.main()


if __name__ == "__main__":
    main()
