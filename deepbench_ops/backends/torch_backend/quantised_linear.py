"""Quantised linear layers in torch, by the kernels that take codes and scales.

int8: quantisation of the activations, `torch._int_mm` and the scales; `quantized::linear_dynamic`,
torch's own layer; or torchao's tensors. int4: `_weight_int4pack_mm`. fp8 and the MX formats:
`torch._scaled_mm` and `torch.nn.functional.scaled_mm`.
"""

import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import torch

from deepbench_ops.backends import vnni
from deepbench_ops.backends.families import quantised_linear as family
from deepbench_ops.backends.families.quantised_linear import QuantisedLinearInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend import known_warnings, optional_packages
from deepbench_ops.backends.torch_backend import quantised_operands as operands
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.gemm import INT8_LEAST_N, INT8_MULTIPLE
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.precision import result_type
from deepbench_ops.problems.quantised_linear import QuantisedLinear

CallAndNotes = tuple[Callable[[], torch.Tensor], dict[str, str]]
"""A call of the layer, and notes for the record."""

INNER_K_TILES = 8
"""Tiles along k of a packed int4 weight on CUDA: the number in gpt-fast and tritonbench."""

INT4_GROUPS = (32, 64, 128, 256)
"""Group sizes of torch's int4 kernels."""

INT4_MULTIPLE = 16
"""Divisor of n that torch's int4 kernels require."""

TILE_SCALES = 4
"""Divisor of the number of scales along k that cuBLAS requires for blocks of 128 x 128."""


def build(
    backend: TorchDevice, problem: QuantisedLinear, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare one layer; raise Unsupported without a kernel for the format on this device."""
    drawn = family.inputs(problem, precision, seed)
    true_precision(result_type(precision), backend.device)
    make = {
        "forward": _forward,
        "dequantised_forward": _dequantised,
        "fused_forward": _fused,
        "library_forward": _library,
    }[operation]
    run, notes = make(backend, problem, drawn, precision)
    newest = LatestOutput(run)

    def reset() -> None:
        newest.reset()
        true_precision(result_type(precision), backend.device)

    notes = {"output": "allocated in every call", **notes}
    m = problem.m
    prepared = Prepared(run=newest.run, reset=reset, output=lambda: newest.value()[:m], notes=notes)
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _dequantised(
    backend: TorchDevice, problem: QuantisedLinear, drawn: QuantisedLinearInputs, precision: str
) -> CallAndNotes:
    """Return a call that widens the operands and multiplies them by torch.nn.functional.linear."""
    dtype = DTYPES[result_type(precision)]
    linear = torch.nn.functional.linear
    weights = operands.widening(backend, drawn.w, dtype)
    if precision in family.ACTIVATION_SCHEMES:
        x = operands.widening(backend, drawn.quantised_activations, dtype)
    else:
        fixed = backend.tensor(drawn.activations, dtype)

        def x() -> torch.Tensor:
            return fixed

    return lambda: linear(x(), weights()), {
        "route": f"codes and scales widened to {result_type(precision)} in every call, then"
        " torch.nn.functional.linear"
    }


def _forward(
    backend: TorchDevice, problem: QuantisedLinear, drawn: QuantisedLinearInputs, precision: str
) -> CallAndNotes:
    """Return a call of the kernel for the format; raise Unsupported where this device has none."""
    if precision == "int8_row":
        return _int8(backend, drawn)
    if precision.endswith("_int4"):
        return _int4(backend, problem, drawn, precision)
    if precision.endswith("_mxfp4"):
        raise Unsupported(
            f"torch {torch.__version__} has no product of {result_type(precision)} activations"
            " with mxfp4 weights"
        )
    if backend.device == "cpu":
        raise Unsupported(
            "torch multiplies fp8 and fp4 operands on GPUs only: torch._scaled_mm on cpu widens"
            " them where the processor has no instructions for them"
        )
    return _scaled(backend, drawn, precision)


def _int8(backend: TorchDevice, drawn: QuantisedLinearInputs) -> CallAndNotes:
    if backend.device == "cpu" and not vnni.adds_in_32_bits():
        raise Unsupported(
            "products of 8 bits are added in pairs in 16 bits on x86 processors without VNNI, where"
            " they overflow"
        )
    (m, k), n = drawn.activations.shape, drawn.w.codes.shape[0]
    if n % INT8_MULTIPLE[backend.device] or k % INT8_MULTIPLE[backend.device]:
        raise Unsupported(
            f"torch._int_mm on {backend.device} takes n and k in multiples of"
            f" {INT8_MULTIPLE[backend.device]}, not n = {n} and k = {k}"
        )
    rows = max(m, INT8_LEAST_N[backend.device])
    x = backend.tensor(drawn.activations[np.arange(rows) % m], torch.bfloat16)
    w = torch.from_numpy(drawn.w.codes).to(backend.device).t()
    of_weights = operands.scales(backend, drawn.w).t()
    multiply = torch._int_mm

    def run() -> torch.Tensor:
        step = x.abs().amax(1, keepdim=True).float().div_(127)
        codes = (x / step).round_().to(torch.int8)
        return (multiply(codes, w) * step * of_weights).to(torch.bfloat16)

    padding = f"m {m} to {rows} by more of the same rows; not counted in FLOPs and bytes"
    return run, {
        "route": "torch._int_mm; before it abs, amax, div and round of each row of x, after it two"
        " products with the scales",
        "padding": padding if rows > m else "none",
    }


def _int4(
    backend: TorchDevice, problem: QuantisedLinear, drawn: QuantisedLinearInputs, precision: str
) -> CallAndNotes:
    """Return a call of the product with packed weights: codes from 0 to 15, zero points of 0."""
    kind = result_type(precision)
    if problem.group not in INT4_GROUPS:
        raise Unsupported(f"torch's int4 product has groups of {INT4_GROUPS}, not {problem.group}")
    if problem.n % INT4_MULTIPLE:
        raise Unsupported(
            f"torch's int4 product takes {INT4_MULTIPLE} outputs at once, and n = {problem.n} is no"
            " multiple of them"
        )
    if backend.device != "cpu" and kind != "bfloat16":
        raise Unsupported(f"torch's int4 product on {backend.device} has bfloat16, not {kind}")
    dtype = DTYPES[kind]
    x = backend.tensor(drawn.activations, dtype)
    codes = torch.from_numpy(drawn.w.codes).to(backend.device).int() + 8
    scale = operands.scales(backend, drawn.w).to(dtype).t()
    pairs = torch.stack([scale, torch.zeros_like(scale)], dim=2).contiguous()
    group = problem.group
    if backend.device == "cpu":
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1)
        multiply = torch.ops.aten._weight_int4pack_mm_for_cpu.default
        name = "aten::_weight_int4pack_mm_for_cpu"
    else:
        halves = ((codes[:, ::2] << 4) | codes[:, 1::2]).to(torch.uint8)
        packed = torch.ops.aten._convert_weight_to_int4pack(halves, INNER_K_TILES)
        multiply = torch.ops.aten._weight_int4pack_mm.default
        name = "aten::_weight_int4pack_mm"
    return lambda: multiply(x, packed, group, pairs), {
        "route": f"{name}, weights packed beforehand, groups of {group}"
    }


def _scaled(backend: TorchDevice, drawn: QuantisedLinearInputs, precision: str) -> CallAndNotes:
    """Return a call of the product of two quantised operands by instructions of the GPU."""
    left, right = drawn.quantised_activations, drawn.w
    narrow = operands.fp4 if precision == "mxfp4" else operands.fp8
    x, w = narrow(backend, left), narrow(backend, right).t()
    if precision == "fp8_row":
        scale_x, scale_w = (operands.scales(backend, each) for each in (left, right))
        of_columns, multiply = scale_w.t(), torch._scaled_mm
        return lambda: multiply(x, w, scale_x, of_columns, out_dtype=torch.bfloat16), {
            "route": "torch._scaled_mm, a scale for each row of x and of W"
        }
    try:
        from torch.nn.functional import ScalingType, SwizzleType, scaled_mm
    except ImportError:
        raise Unsupported(f"torch {torch.__version__} has no scaled_mm with blocks") from None

    if precision == "fp8_block":
        pair = [
            column_major(operands.scales(backend, left)),
            of_tiles(operands.scales(backend, right)),
        ]
        recipes = (ScalingType.BlockWise1x128, ScalingType.BlockWise128x128)
        swizzles = (SwizzleType.NO_SWIZZLE, SwizzleType.NO_SWIZZLE)
    else:
        pair = [swizzled(operands.exponents(backend, each)) for each in (left, right)]
        recipes = (ScalingType.BlockWise1x32, ScalingType.BlockWise1x32)
        swizzles = (SwizzleType.SWIZZLE_32_4_4, SwizzleType.SWIZZLE_32_4_4)

    def run() -> torch.Tensor:
        return scaled_mm(
            x,
            w,
            scale_a=pair[0],
            scale_recipe_a=recipes[0],
            scale_b=pair[1],
            scale_recipe_b=recipes[1],
            swizzle_a=swizzles[0],
            swizzle_b=swizzles[1],
            output_dtype=torch.bfloat16,
        )

    return run, {"route": f"torch.nn.functional.scaled_mm, {recipes[0].name}, {recipes[1].name}"}


def column_major(scales: torch.Tensor) -> torch.Tensor:
    """Return scales (rows x blocks) with strides (1, rows), also for a single row.

    `scaled_mm` demands these strides of scales for 1 x 128 (torch, ScaledBlas.cpp).
    """
    found = scales.new_empty(scales.shape[1], scales.shape[0])
    return found.copy_(scales.t()).t()


def of_tiles(scales: torch.Tensor) -> torch.Tensor:
    """Return scales of 128 x 128 (blocks of n x blocks of k) as `scaled_mm` demands them.

    The shape is (blocks of k rounded up to a multiple of 4) x (blocks of n), and the strides are
    (1, rows) (torch, ScaledBlas.cpp; cuBLAS documentation, 128 x 128 block scaling). Missing rows
    are 0.
    """
    rows = -(-scales.shape[1] // TILE_SCALES) * TILE_SCALES
    padded = scales.new_zeros(scales.shape[0], rows)
    padded[:, : scales.shape[1]] = scales
    return padded.t()


def swizzled(scales: torch.Tensor) -> torch.Tensor:
    """Return scales (rows x blocks) in cuBLAS's layout for the MX formats.

    The layout has tiles of 128 rows by 4 blocks, each stored as 32 x 4 x 4: row r of a tile is at
    [r % 32, r // 32] (cuBLAS documentation, 1D block scaling factors layout). Missing rows are 0.
    """
    rows, blocks = scales.shape
    down, across = -(-rows // 128), -(-blocks // 4)
    plain = torch.zeros(down * 128, across * 4, dtype=torch.uint8, device=scales.device)
    plain[:rows, :blocks] = scales.view(torch.uint8)
    tiles = plain.view(down, 4, 32, across, 4).permute(0, 3, 2, 1, 4)
    return tiles.reshape(-1).view(torch.float8_e8m0fnu)


def _fused(
    backend: TorchDevice, problem: QuantisedLinear, drawn: QuantisedLinearInputs, precision: str
) -> CallAndNotes:
    """Return a call of torch's dynamically quantised layer, which takes float32 activations."""
    if backend.device != "cpu":
        raise Unsupported("torch's dynamically quantised layer runs on the CPU only")
    if not vnni.adds_in_32_bits():
        raise Unsupported(
            "torch's dynamically quantised layer multiplies 8 bits in full only on processors with"
            " VNNI"
        )
    x = torch.from_numpy(drawn.activations)
    scale = operands.scales(backend, drawn.w)[:, 0].double()
    zero = torch.zeros(problem.n, dtype=torch.long)
    codes = torch.from_numpy(drawn.w.codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that it will remove quantised tensors
        weights = torch._make_per_channel_quantized_tensor(codes, scale, zero, 0)
    packed = torch.ops.quantized.linear_prepack(weights, None)
    layer = torch.ops.quantized.linear_dynamic.default
    return lambda: layer(x, packed, False), {
        "route": "quantized::linear_dynamic, weights packed beforehand, engine"
        f" {torch.backends.quantized.engine}",
        "activations": "float32, one scale for all of x, unsigned 8 bits",
    }


def _library(
    backend: TorchDevice, problem: QuantisedLinear, drawn: QuantisedLinearInputs, precision: str
) -> CallAndNotes:
    """Return a call of torch.nn.functional.linear with weights in a tensor of torchao."""
    if precision != "int8_row":
        raise Unsupported(
            f"torchao's layers are measured at int8_row alone, and not at {precision}"
        )
    if backend.device == "cpu" and not vnni.adds_in_32_bits():
        raise Unsupported(
            "torchao multiplies 8 bits in full only on x86 processors with VNNI, as torch does"
        )
    optional_packages.require("torchao")
    known_warnings.silence()
    try:
        from torchao.quantization import PerRow
        from torchao.quantization.quantize_.workflows.int8.int8_tensor import (
            Int8Tensor,
            QuantizeTensorToInt8Kwargs,
        )
    except ImportError:
        raise Unsupported("this release of torchao has no Int8Tensor") from None

    weights = Int8Tensor(
        torch.from_numpy(drawn.w.codes).to(backend.device),
        operands.scales(backend, drawn.w),
        [1, problem.k],
        torch.bfloat16,
        act_quant_kwargs=QuantizeTensorToInt8Kwargs(granularity=PerRow()),
    )
    x = backend.tensor(drawn.activations, torch.bfloat16)
    linear = torch.nn.functional.linear
    return lambda: linear(x, weights), {
        "route": f"torchao {version('torchao')}: torch.nn.functional.linear of Int8Tensor",
        "activations": "rounded to 8 bits by rows in every call, steps rounded to bfloat16",
    }
