"""`python -m deepbench_ops.distributed.training`: the program of every rank."""

import os

from deepbench_ops import lifetime


def main() -> None:
    """Make this process end with its launcher, before torch is imported; run this rank."""
    lifetime.end_with(os.getppid())
    from deepbench_ops.distributed.training import rank

    rank.main()


if __name__ == "__main__":
    main()
