"""Grouped products in torch: grouped_mm with the ends of the groups, for y, dx and dW."""

from collections.abc import Callable, Iterable

import torch

from deepbench_ops.backends.families import grouped_gemm as family
from deepbench_ops.backends.families.grouped_gemm import GroupedInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.models.grouped_product import grouped_product
from deepbench_ops.problems.grouped_gemm import GroupedGemm

ROW_BYTES = 16
"""Rows of all operands must begin at multiples of this number of bytes."""


def build(
    backend: TorchDevice, problem: GroupedGemm, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare one operation; raise Unsupported in releases without a grouped product."""
    dtype = DTYPES[precision]
    multiply, name = grouped_product()
    require_aligned_rows((problem.n, problem.k), precision)
    drawn = family.inputs(problem, precision, seed)
    true_precision(precision, backend.device)
    newest = LatestOutput(_call(multiply, backend, drawn, dtype, operation))

    def reset() -> None:
        newest.reset()
        true_precision(precision, backend.device)

    notes = {"route": f"{name}, ends of the groups in int32", "output": "allocated in every call"}
    prepared = Prepared(run=newest.run, reset=reset, output=newest.value, notes=notes)
    return assemble(backend, problem, precision, operation, drawn, prepared)


def require_aligned_rows(sizes: Iterable[int], precision: str) -> None:
    """Raise Unsupported where torch's grouped product cannot take rows of these sizes.

    sizes: lengths of rows, in numbers.
    """
    for size in sizes:
        if size * DTYPES[precision].itemsize % ROW_BYTES:
            raise Unsupported(
                f"torch's grouped product takes rows of a multiple of {ROW_BYTES} bytes: {size}"
                f" numbers in {precision} are no multiple"
            )


def _call(
    multiply: Callable[..., torch.Tensor],
    backend: TorchDevice,
    drawn: GroupedInputs,
    dtype: torch.dtype,
    operation: str,
) -> Callable[[], torch.Tensor]:
    ends = torch.from_numpy(drawn.ends).to(backend.device)
    if operation == "backward_weight":
        dy, x = backend.tensor(drawn.dy, dtype).t(), backend.tensor(drawn.x, dtype)
        return lambda: multiply(dy, x, offs=ends)
    w = backend.tensor(drawn.w, dtype)
    if operation == "forward":
        x, turned = backend.tensor(drawn.x, dtype), w.transpose(1, 2)
        return lambda: multiply(x, turned, offs=ends)
    dy = backend.tensor(drawn.dy, dtype)
    return lambda: multiply(dy, w, offs=ends)
