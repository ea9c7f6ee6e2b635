"""`python -m deepbench_ops.distributed.training`: the program of every rank."""

import os

from deepbench_ops import lifetime


def main() -> None:
    """End with the launcher from here on, which is before torch is imported, and be this rank."""
    lifetime.end_with(os.getppid())
    from deepbench_ops.distributed.training import rank

    rank.main()


if __name__ == "__main__":
    main()
