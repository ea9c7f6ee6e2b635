"""C += A·B in torch: addmm_ for floating point, _int_mm for int8.

Operands are column-major strided views. torch passes them to its libraries with the published
transposes, and C is written in place.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.families.gemm import GemmInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.random_operands import random_bits

INT8_MULTIPLE = {"cpu": 1, "cuda": 8}
INT8_LEAST_N = {"cpu": 1, "cuda": 24}
"""Requirements of torch._int_mm by device: sizes are multiples, and n (the rows of the transposed
product) has a smallest value. On CUDA it needs multiples of 8 and more than 16 rows."""


def build(backend: TorchDevice, problem: Gemm, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare a GEMM in any precision that this release has on this device."""
    inputs = gemm.inputs(problem, precision, seed)
    operands, notes = inputs, {}
    if precision == "int8":
        operands, notes["padding"] = _padded(inputs, backend.device, seed)
    dtype = DTYPES[precision]
    a = backend.tensor(operands.a, dtype)
    b = backend.tensor(operands.b, dtype)
    initial = backend.tensor(operands.c, torch.int32 if precision == "int8" else dtype)
    output = torch.empty_like(initial)
    if precision == "int8":
        run = _int8_run(a, b, output)
        notes["route"] = "torch._int_mm of the transposes, then add_"
    else:
        run = partial(output.addmm_, a, b)
        notes["route"] = "Tensor.addmm_"
    reset = partial(_reset, output, initial, precision)
    reset()
    m, n = inputs.c.shape
    prepared = Prepared(run=run, reset=reset, output=lambda: output[:m, :n], notes=notes)
    return assemble(backend, problem, precision, operation, inputs, prepared)


def _reset(output: torch.Tensor, initial: torch.Tensor, precision: str) -> None:
    """Restore C, and set the process-wide switches for the precision."""
    true_precision(precision, output.device.type)
    output.copy_(initial)


def _int8_run(a: torch.Tensor, b: torch.Tensor, output: torch.Tensor) -> Callable[[], object]:
    """Return a call of C += A·B for int8. `_int_mm` writes row-major outputs only, so it computes
    the transposed product."""
    multiply = torch._int_mm  # AttributeError in releases without it
    left, right, total = _plain_strides(b.t()), _plain_strides(a.t()), output.t()
    product = torch.empty_like(total)
    add = total.add_

    def run() -> None:
        multiply(left, right, out=product)
        add(product)

    return run


def _plain_strides(matrix: torch.Tensor) -> torch.Tensor:
    """Return the matrix; a single row or column gets the strides of a row-major matrix.

    The stride along a dimension of size 1 has no meaning. But on the CPU `_int_mm` takes leading
    dimensions from it, and then does not write its output and raises no error (seen in 2.13.0,
    pytorch issue 195066).
    """
    if 1 not in matrix.shape:
        return matrix
    return matrix.as_strided(matrix.shape, (matrix.shape[1], 1))


def _padded(inputs: GemmInputs, device: str, seed: int) -> tuple[GemmInputs, str]:
    """Return int8 inputs enlarged to the sizes that `_int_mm` requires on `device`, and a note.

    New rows of A and columns of B are random, so the padding does not make the work easier. The
    padding along k is zero, so C is unchanged.
    """
    (m, k), n = inputs.a.shape, inputs.b.shape[1]
    to, least = INT8_MULTIPLE[device], INT8_LEAST_N[device]
    big_m, big_n, big_k = -(-m // to) * to, -(-max(n, least) // to) * to, -(-k // to) * to
    if (big_m, big_n, big_k) == (m, n, k):
        return inputs, "none"
    a = _enlarged(inputs.a, (big_m, big_k), seed, 3)
    b = _enlarged(inputs.b, (big_k, big_n), seed, 4)
    a[:, k:] = 0
    b[k:, :] = 0
    c = np.zeros((big_n, big_m), dtype=np.int32).T
    c[:m, :n] = inputs.c
    note = f"m {m} to {big_m}, n {n} to {big_n}, k {k} to {big_k}; not counted in FLOPs and bytes"
    return GemmInputs(a, b, c, inputs.notes), note


def _enlarged(values: np.ndarray, shape: tuple[int, int], seed: int, stream: int) -> np.ndarray:
    """Return a larger int8 copy of `values` in the same memory order, the rest random."""
    order = "C" if values.flags.c_contiguous and not values.flags.f_contiguous else "F"
    bits = random_bits(shape[0] * shape[1], seed, stream).view(np.int8)
    larger = np.array(bits.reshape(shape, order=order), order=order)  # type: ignore[call-overload]
    larger[: values.shape[0], : values.shape[1]] = values
    return np.asarray(larger)
