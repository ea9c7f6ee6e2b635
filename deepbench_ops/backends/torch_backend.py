"""torch on the CPU or an NVIDIA GPU: addmm_ for floating point, _int_mm for int8.

Operands are strided views that lie column-major, so torch passes them to its libraries with the
published transposes and C is written in place. What a release lacks is found out by trying it
on a tiny problem rather than from a table of releases.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch

from deepbench_ops.backends.base import Backend
from deepbench_ops.backends.inputs import GemmInputs, gemm_inputs, random_bits
from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.backends.reference import GemmReference
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.gemm import Gemm

DTYPES = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.int8,
}
PROBE_SIZE = 32
"""Every dimension of the problem on which an operation is tried."""

INT8_MULTIPLE = {"cpu": 1, "cuda": 8}
INT8_LEAST_N = {"cpu": 1, "cuda": 24}
"""torch._int_mm on CUDA wants multiples of 8, and more than 16 rows, which are our columns."""

DRIVER = Path("/proc/driver/nvidia/version")

# How torch words it when an operation does not exist for a type, a device or a chip; anything
# else it raises is a fault to be seen and not a gap to be skipped.
_LACKING = re.compile(
    r"not (been )?(implemented|supported|compiled)|could not run|no kernel image"
    r"|CUBLAS_STATUS_(NOT_SUPPORTED|ARCH_MISMATCH|INVALID_VALUE)",
    re.IGNORECASE,
)


class TorchBackend(Backend):
    """torch on "cpu" or "cuda" (the current GPU)."""

    name = "torch"

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        if device == "cuda":
            _demand_cuda()
        self._tried: dict[tuple[str, bool, bool], str] = {}

    def gemm(self, problem: Gemm, precision: str, seed: int = 0) -> Kernel:
        """Prepare a GEMM in any precision that this release has on this device."""
        inputs = gemm_inputs(problem, precision, seed)
        self._demand(problem, precision)
        return self._gemm(problem, precision, inputs, seed)

    def threads(self) -> int | None:
        """Return the number of threads of torch's own pool."""
        return int(torch.get_num_threads())

    def set_threads(self, count: int) -> None:
        """Set the size of torch's own pool, which MKL and oneDNN use as well."""
        torch.set_num_threads(count)

    def versions(self) -> dict[str, str]:
        """Return torch, numpy, mkl, onednn, cpu_capability, and on CUDA cuda, cudnn, driver."""
        build = torch.__config__.show()
        found = {
            "framework": f"torch {torch.__version__}",
            "torch": str(torch.__version__),
            "numpy": np.__version__,
            "blas": _search(r"BLAS_INFO=(\w+)", build),
            "mkl": _search(r"Math Kernel Library Version (\S+)", build),
            "onednn": _search(r"MKL-DNN v?(\S+)", build),
            "cpu_capability": _search(r"CPU capability usage: (\S+)", build),
            "torch_threads": str(torch.get_num_threads()),
        }
        if self.device == "cuda":
            found |= {
                "cuda": str(torch.version.cuda or ""),
                "hip": str(torch.version.hip or ""),
                "cudnn": str(torch.backends.cudnn.version() or ""),
                "driver": _driver(),
                "device": torch.cuda.get_device_name(),
            }
        return {key: value for key, value in found.items() if value}

    def _demand(self, problem: Gemm, precision: str) -> None:
        """Try the operation once on a tiny problem; raise Unsupported where torch lacks it."""
        if precision == "tf32":
            self._demand_tf32()
        kind = (precision, problem.a_transposed, problem.b_transposed)
        if kind not in self._tried:
            self._tried[kind] = self._try(problem, precision)
        if self._tried[kind]:
            raise Unsupported(self._tried[kind])

    def _try(self, problem: Gemm, precision: str) -> str:
        """Return why torch cannot do it, "" when it can."""
        tiny = replace(problem, m=PROBE_SIZE, n=PROBE_SIZE, k=PROBE_SIZE)
        try:
            kernel = self._gemm(tiny, precision, gemm_inputs(tiny, precision), 0)
            kernel.run()
            kernel.synchronise()
        except (RuntimeError, AttributeError) as error:
            text = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, RuntimeError) and not _LACKING.search(text):
                raise
            return (
                f"torch {torch.__version__} has no {precision} GEMM on {self.device}: {text[:160]}"
            )
        return ""

    def _demand_tf32(self) -> None:
        if self.device != "cuda":
            raise Unsupported(f"tf32 exists only on NVIDIA GPUs, not on {self.device}")
        if torch.version.hip or torch.cuda.get_device_capability() < (8, 0):
            raise Unsupported(
                "tf32 exists only on NVIDIA GPUs of compute capability 8.0 and later, not on"
                f" {torch.cuda.get_device_name()}"
            )

    def _gemm(self, problem: Gemm, precision: str, inputs: GemmInputs, seed: int) -> Kernel:
        notes = dict(inputs.notes)
        operands = inputs
        if precision == "int8":
            operands, notes["padding"] = _padded(inputs, self.device, seed)
        else:
            notes["padding"] = "none"
        dtype = DTYPES[precision]
        a = self._tensor(operands.a, dtype)
        b = self._tensor(operands.b, dtype)
        initial = self._tensor(operands.c, torch.int32 if precision == "int8" else dtype)
        output = initial.clone()
        if precision == "int8":
            run = _int8_run(a, b, output)
            notes["route"] = "torch._int_mm of the transposes, then add_"
        else:
            run = partial(output.addmm_, a, b)
            notes["route"] = "Tensor.addmm_"
        reset = partial(_reset, output, initial, "high" if precision == "tf32" else "highest")
        reset()
        m, n = inputs.c.shape

        def peek(index: Index) -> np.ndarray:
            where = tuple(torch.from_numpy(axis).to(self.device) for axis in index)
            return _widened(output[where])

        return Kernel(
            label=f"torch {self.device} {precision} {problem.id}",
            run=run,
            synchronise=self._synchronise,
            reset=reset,
            result=lambda: _widened(output[:m, :n]),
            peek=peek,
            reference=GemmReference(inputs, precision),
            flops=problem.flops,
            bytes=problem.bytes(precision),
            notes=notes,
        )

    def _tensor(self, values: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
        """Return `values` on the device, converted, with the same column-major strides."""
        return torch.from_numpy(values).to(device=self.device, dtype=dtype)

    @cached_property
    def _synchronise(self) -> Callable[[], object]:
        return torch.cuda.synchronize if self.device == "cuda" else _nothing


def _reset(output: torch.Tensor, initial: torch.Tensor, float32_precision: str) -> None:
    """Restore C, and the process-wide switches that another kernel may have turned since.

    "highest" keeps float32 products in float32 (no tf32, no bfloat16 passes), "high" is tf32 on
    a GPU; 16-bit sums across the parts of a split product are switched off, because 16-bit
    precisions here mean 32-bit accumulation.
    """
    torch.set_float32_matmul_precision(float32_precision)
    if output.is_cuda:
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    output.copy_(initial)


def _int8_run(a: torch.Tensor, b: torch.Tensor, output: torch.Tensor) -> Callable[[], object]:
    """Return C += A·B for int8; `_int_mm` writes only row-major, so it is given C^T."""
    multiply = torch._int_mm  # AttributeError where the release has none
    left, right, total = _plain_strides(b.t()), _plain_strides(a.t()), output.t()
    product = torch.empty_like(total)
    add = total.add_

    def run() -> None:
        multiply(left, right, out=product)
        add(product)

    return run


def _plain_strides(matrix: torch.Tensor) -> torch.Tensor:
    """Return the same matrix, a single row or column with the strides of a row-major one.

    The stride along a dimension of size 1 says nothing, but on the cpu `_int_mm` takes leading
    dimensions from it (seen in 2.13.0, pytorch issue 195066) and then leaves its output
    untouched without an error.
    """
    if 1 not in matrix.shape:
        return matrix
    return matrix.as_strided(matrix.shape, (matrix.shape[1], 1))


def _padded(inputs: GemmInputs, device: str, seed: int) -> tuple[GemmInputs, str]:
    """Return int8 inputs enlarged to what `_int_mm` demands on `device`, and a note saying so.

    New rows of A and columns of B are random like the rest, so that the padding does not make
    the work lighter; along k they are zero, so that C is unchanged.
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


def _widened(values: torch.Tensor) -> np.ndarray:
    wide = torch.int64 if values.dtype == torch.int32 else torch.float64
    return np.asarray(values.to(device="cpu", dtype=wide).numpy())


def _nothing() -> None:
    """Everything is done when the call returns."""


def _demand_cuda() -> None:
    if not torch.cuda.is_available():
        built = torch.version.cuda or torch.version.hip
        raise Unsupported(
            f"torch {torch.__version__} "
            + ("finds no usable GPU" if built else "is built without CUDA")
        )


def _search(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(1).rstrip(",") if found else ""


def _driver() -> str:
    """Return the NVIDIA driver's version as the kernel module words it, "" elsewhere."""
    try:
        return _search(r"(\d+\.\d+[\d.]*)", DRIVER.read_text())
    except OSError:
        return ""
