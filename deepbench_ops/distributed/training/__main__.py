"""`python -m deepbench_ops.distributed.training`: the program of every rank."""

import os

from deepbench_ops import process_lifetime


def main() -> None:
    """Make this process end with its launcher, before torch is imported; run this rank."""
    process_lifetime.end_with(os.getppid())
    from deepbench_ops.distributed.training import training_rank_program

    training_rank_program.main()


if __name__ == "__main__":
    main()
