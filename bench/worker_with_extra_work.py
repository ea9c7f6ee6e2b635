"""The worker of a pair whose kernels do extra work, a known share of their own time.

The extra work is small products of numpy, or of torch on a GPU. Their number gives the share in the
environment variable EXTRA (0.02 for 2 %), computed from times of both measured on this machine.
Used by detection_on_kernels.py.
"""

import os
import time
from dataclasses import replace
from functools import partial

import numpy as np

from deepbench_ops.measure import kernel_measurement, worker_program

SIZE = 48


def piece_on(device: str):
    """Return a function that does a few microseconds of work on one thread or on the GPU."""
    values = np.random.default_rng(0).standard_normal((SIZE, SIZE), dtype=np.float32)
    if device == "cpu":
        return partial(np.matmul, values, values, out=np.empty_like(values))
    import torch

    there = torch.from_numpy(values).to(device)
    return partial(torch.matmul, there, there, out=torch.empty_like(there))


def best(run, calls: int, synchronise) -> float:
    """Return the seconds per call in the fastest of ten repetitions; of three for long calls."""
    found = []
    while len(found) < 3 or (len(found) < 10 and sum(found) * calls < 0.3):
        synchronise()
        began = time.perf_counter()
        for _ in range(calls):
            run()
        synchronise()
        found.append((time.perf_counter() - began) / calls)
    return min(found)


def slowed(prepare, share: float):
    """Wrap a function that prepares kernels so that each does a share of extra work."""

    def wrapped(*args: str):
        prepared = prepare(*args)
        kernel = prepared.kernel
        plain, wait = kernel.run, kernel.synchronise
        piece = piece_on(prepared.backend.device)
        plain()
        calls = 1 if prepared.backend.device == "cpu" else 100
        pieces = max(1, round(share * best(plain, calls, wait) / best(piece, 100, wait)))

        def run() -> None:
            plain()
            for _ in range(pieces):
                piece()

        return replace(prepared, kernel=replace(kernel, run=run))

    return wrapped


if __name__ == "__main__":
    kernel_measurement.prepare = slowed(kernel_measurement.prepare, float(os.environ["EXTRA"]))
    worker_program.main()
