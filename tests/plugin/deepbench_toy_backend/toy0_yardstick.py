"""Fixed workloads of the device "toy0", in numpy."""

import numpy as np

from deepbench_ops.measure.device_yardsticks import Work, Workload, Workloads

SIZE, BYTES = 128, 2**22
LIBRARY = f"numpy {np.__version__}"


def product(seed):
    a, b = (np.full((SIZE, SIZE), seed + number, np.float32) for number in (1, 2))
    c = np.empty_like(a)
    return Work((lambda: np.matmul(a, b, c),), (a, b, c))


def copy(seed):
    source = np.full(BYTES, seed, np.uint8)
    target = np.empty_like(source)
    return Work((lambda: np.copyto(target, source),), (source, target))


WORKLOADS = Workloads(
    version="1",
    compute=Workload(f"product of matrices of {SIZE} x {SIZE}", LIBRARY, product),
    memory=Workload(f"copy of {BYTES} bytes", LIBRARY, copy, bytes=2 * BYTES),
    cached_bytes=2**20,
)
