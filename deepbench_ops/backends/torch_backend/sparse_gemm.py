"""C = op(A)·op(B) with A in torch's compressed rows, the dense product, and the conversion.

On the CPU, MKL computes float32: torch passes it row-major B and C without a copy, but would copy
column-major ones and convert 64-bit positions in every call. torch's own loop computes 16-bit
precisions, as `torch.sparse.mm` with the reduction "sum", and makes a new C. On a GPU cuSPARSE
computes all. The operands are converted to the form that each needs before the timed calls.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import torch

from deepbench_ops.backends.families import sparse_gemm
from deepbench_ops.backends.families.sparse_gemm import (
    SparseInputs,
    concatenated,
    layout_note,
    layout_of_a,
    row_major,
)
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.accumulation_width import ONES, refused
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.sparse_gemm import SparseGemm

LACKING = {
    "tf32": "torch multiplies compressed rows in float32 proper, never in tf32",
    "int8": "torch has no product of compressed rows with int8 values",
}


def build(
    backend: TorchDevice, problem: SparseGemm, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare one of the three operations in float32 or a 16-bit precision.

    Raises Unsupported for a precision in which torch cannot multiply, for all three operations: the
    dense product and the conversion are measured to be compared with the sparse product.
    """
    if precision in LACKING:
        raise Unsupported(LACKING[precision])
    drawn = sparse_gemm.inputs(problem, precision, seed)
    prepared = _PREPARE[operation](backend, problem, drawn, precision)

    def reset() -> None:
        true_precision(precision, backend.device)
        prepared.reset()

    reset()
    complete = replace(prepared, reset=reset)
    return assemble(backend, problem, precision, operation, drawn, complete)


def _product(
    backend: TorchDevice, problem: SparseGemm, drawn: SparseInputs, precision: str
) -> Prepared:
    """Prepare the sparse product, by the function for this precision and device."""
    if problem.a_transposed:
        raise Unsupported("torch converts transposed compressed rows to new ones in every call")
    if backend.device != "cpu" and precision != "float32" and problem.n > 1:
        raise Unsupported(
            f"torch multiplies compressed rows in {precision} on a GPU by cuSPARSE, which rounds"
            " sums of some products to 16 bits before it adds them to others"
        )
    layout = layout_note(problem, compressed=True, order="row-major")
    a = _compressed(backend, drawn, precision)
    b = backend.tensor(row_major(drawn.b), DTYPES[precision])
    if backend.device == "cpu" and precision != "float32":
        _require_32_bit_sums(precision)
        return _reduction(a, b, layout)
    if backend.device == "cpu" and not torch.backends.mkl.is_available():
        raise Unsupported("this build of torch has no MKL, which multiplies compressed rows")
    c = torch.empty((problem.m, problem.n), dtype=b.dtype, device=backend.device)
    library = "MKL, not told to optimise for repetition" if backend.device == "cpu" else "cuSPARSE"
    if problem.n == 1:
        name, run = "addmv", partial(torch.addmv, c[:, 0], a, b[:, 0], beta=0, out=c[:, 0])
    else:
        name, run = "addmm", partial(torch.addmm, c, a, b, beta=0, out=c)
    return Prepared(
        run=run,
        reset=partial(c.fill_, float("nan")),
        output=lambda: c,
        notes={
            "layout": layout,
            "route": f"torch.{name} into a given C, beta 0: {library}",
        },
    )


def _reduction(a: torch.Tensor, b: torch.Tensor, layout: str) -> Prepared:
    """Prepare ``torch.sparse.mm(a, b, "sum")``, with a matrix even for a B of one column."""
    newest = LatestOutput(partial(torch.sparse.mm, a, b, "sum"), _nothing((a.shape[0], b.shape[1])))
    return Prepared(
        run=newest.run,
        reset=newest.reset,
        output=lambda: newest.output,
        notes={
            "layout": layout.replace("vectors", "matrices of one column"),
            "route": 'torch.sparse.mm(A, B, "sum"): torch\'s own loop, adding in float32; a new C'
            " in every call",
        },
    )


def _dense_product(
    backend: TorchDevice, problem: SparseGemm, drawn: SparseInputs, precision: str
) -> Prepared:
    """Prepare ``torch.mm``, or ``torch.mv``, into a given C, column-major as for GEMM."""
    dtype = DTYPES[precision]
    stored = backend.tensor(drawn.a.dense(), dtype)
    a = stored.t() if problem.a_transposed else stored
    b = backend.tensor(drawn.b, dtype)
    c = torch.empty((problem.n, problem.m), dtype=dtype, device=backend.device).t()
    if problem.n == 1:
        name, run = "mv", partial(torch.mv, a, b[:, 0], out=c[:, 0])
    else:
        name, run = "mm", partial(torch.mm, a, b, out=c)
    return Prepared(
        run=run,
        reset=partial(c.fill_, float("nan")),
        output=lambda: c,
        notes={
            "layout": layout_note(problem, compressed=False, order="column-major"),
            "route": f"torch.{name} into a given C",
        },
    )


def _conversion(
    backend: TorchDevice, problem: SparseGemm, drawn: SparseInputs, precision: str
) -> Prepared:
    """Prepare ``Tensor.to_sparse_csr``, which makes new tensors in every call."""
    dense = backend.tensor(drawn.a.dense(), DTYPES[precision])
    nothing = _quietly(dense[:1, :1].to_sparse_csr)
    newest = LatestOutput(dense.to_sparse_csr, nothing)

    def values() -> torch.Tensor:
        made = newest.output
        parts = (made.crow_indices(), made.col_indices(), made.values())
        offsets, columns, numbers = (part.cpu().to(torch.float64).numpy() for part in parts)
        return torch.from_numpy(concatenated(drawn.a, offsets, columns, numbers)).to(backend.device)

    return Prepared(
        run=newest.run,
        reset=newest.reset,
        output=values,
        notes={
            "layout": layout_of_a(problem, compressed=False),
            "route": "Tensor.to_sparse_csr; int64 positions, which is what torch makes",
        },
    )


_PREPARE = {"forward": _product, "dense_forward": _dense_product, "conversion": _conversion}


def _compressed(backend: TorchDevice, drawn: SparseInputs, precision: str) -> torch.Tensor:
    """Return A as a tensor in compressed rows with 32-bit positions."""
    a = drawn.a
    offsets, columns = (backend.tensor(each, torch.int32) for each in (a.offsets, a.columns))
    values = backend.tensor(a.values, DTYPES[precision])
    return _quietly(lambda: torch.sparse_csr_tensor(offsets, columns, values, a.shape))


def _quietly(make: Callable[[], torch.Tensor]) -> torch.Tensor:
    """Return make(), without torch's warnings that compressed rows are a new feature."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        return make()


def _require_32_bit_sums(precision: str) -> None:
    """Raise Unsupported where torch's own loop is missing or adds up in 16 bits."""
    try:
        exact = adds_up_exactly(DTYPES[precision])
    except TypeError:  # torch before 2.0 takes no reduction
        raise Unsupported(
            f"torch {torch.__version__} has no product of compressed rows in {precision} on cpu"
        ) from None
    if not exact:
        raise Unsupported(refused("products of compressed rows", precision, "cpu"))


@cache
def adds_up_exactly(dtype: torch.dtype) -> bool:
    """Return whether torch's own loop adds up in 32 bits, by a trial; torch 2.0 does not."""
    row = _quietly(torch.ones((1, ONES), dtype=dtype).to_sparse_csr)
    found = torch.sparse.mm(row, torch.ones((ONES, 1), dtype=dtype), "sum")
    return float(found) == ONES


def _nothing(shape: tuple[int, ...]) -> torch.Tensor:
    """Return a tensor of NaN with this shape that takes no memory, for an output before a run."""
    return torch.full((), float("nan")).expand(shape)
