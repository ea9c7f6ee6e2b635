"""Depthwise convolutions in numpy: a product and a sum for each entry of the filter."""

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import grouped_conv as family
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.grouped_conv import GroupedConv
from deepbench_ops.random_operands import aligned_empty


def build(
    backend: Backend, problem: GroupedConv, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward pass of a depthwise convolution in float32; raise Unsupported for
    everything else."""
    p = problem
    if not p.groups == p.c == p.k or operation != "forward" or precision != "float32":
        raise Unsupported(
            "numpy is measured only with the forward pass of depthwise convolutions in float32"
        )
    drawn = family.inputs(problem, precision, seed)
    images = np.ascontiguousarray(drawn.images.transpose(0, 2, 3, 1))
    filters = np.ascontiguousarray(drawn.filters[:, 0].transpose(1, 2, 0))
    output = aligned_empty((p.n, p.each.p, p.each.q, p.k), np.float32)
    product = aligned_empty(output.shape, np.float32)
    around = ((0, 0), (p.pad, p.pad), (p.pad, p.pad), (0, 0))
    down, along = (p.stride * (size - 1) + 1 for size in (p.each.p, p.each.q))

    def run() -> None:
        padded = np.pad(images, around)
        output.fill(0)
        for r, s in np.ndindex(p.r, p.s):
            seen = padded[:, r : r + down : p.stride, s : s + along : p.stride]
            np.multiply(seen, filters[r, s], out=product)
            np.add(output, product, out=output)

    prepared = Prepared(
        run=run,
        reset=lambda: output.fill(np.nan),
        output=lambda: output.transpose(0, 3, 1, 2),
        notes={
            "route": f"np.pad, then np.multiply and np.add {p.r * p.s} times",
            "layout": "channels last: NHWC, filters R, S, channel",
        },
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
