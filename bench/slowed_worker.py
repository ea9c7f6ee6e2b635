"""The worker of a pair whose kernels have extra work in them, a known share of their own time.

The work is small products of numpy, as many as make up the share that the environment variable
EXTRA names (0.02 for 2 %), both sides being timed on the machine as it is. Used by
detection_on_kernels.py.
"""

import os
import time
from dataclasses import replace

import numpy as np

from deepbench_ops.measure import kernel_run, worker_program

PIECE = np.random.default_rng(0).standard_normal((48, 48), dtype=np.float32)
OUT = np.empty_like(PIECE)


def piece() -> None:
    """A few microseconds of work on one thread."""
    np.matmul(PIECE, PIECE, out=OUT)


def best(run, calls: int) -> float:
    """Return the seconds of one call, of the fastest of ten goes, of three where they are long."""
    found = []
    while len(found) < 3 or (len(found) < 10 and sum(found) * calls < 0.3):
        began = time.perf_counter()
        for _ in range(calls):
            run()
        found.append((time.perf_counter() - began) / calls)
    return min(found)


def slowed(prepare, share: float):
    """Wrap what prepares kernels so that each does so much more."""

    def wrapped(*args: str):
        prepared = prepare(*args)
        kernel = prepared.kernel
        plain = kernel.run
        plain()
        pieces = max(1, round(share * best(plain, 1) / best(piece, 100)))

        def run() -> None:
            plain()
            for _ in range(pieces):
                piece()

        return replace(prepared, kernel=replace(kernel, run=run))

    return wrapped


if __name__ == "__main__":
    kernel_run.prepare = slowed(kernel_run.prepare, float(os.environ["EXTRA"]))
    worker_program.main()
