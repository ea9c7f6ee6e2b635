"""Quantised operands as torch tensors, and functions that dequantise them."""

from collections.abc import Callable

import numpy as np
import torch

from deepbench_ops.backends.families.low_precision import (
    EXPONENT_BIAS,
    VALUES,
    Quantised,
    packed_pairs,
)
from deepbench_ops.backends.torch_backend.device import TorchDevice


def scales(backend: TorchDevice, operand: Quantised) -> torch.Tensor:
    """Return the scales in float32, one for each block."""
    return backend.tensor(operand.scales, torch.float32)


def exponents(backend: TorchDevice, operand: Quantised) -> torch.Tensor:
    """Return scales that are powers of two as float8_e8m0fnu."""
    biased = (np.log2(operand.scales) + EXPONENT_BIAS).astype(np.uint8)
    return torch.from_numpy(biased).to(backend.device).view(torch.float8_e8m0fnu)


def fp8(backend: TorchDevice, operand: Quantised) -> torch.Tensor:
    """Return codes of e4m3 as float8_e4m3fn."""
    return torch.from_numpy(operand.codes).to(backend.device).view(torch.float8_e4m3fn)


def fp4(backend: TorchDevice, operand: Quantised) -> torch.Tensor:
    """Return codes of e2m1, two in each element of float4_e2m1fn_x2."""
    packed = torch.from_numpy(packed_pairs(operand.codes)).to(backend.device)
    return packed.view(torch.float4_e2m1fn_x2)


def widening(
    backend: TorchDevice, operand: Quantised, dtype: torch.dtype
) -> Callable[[], torch.Tensor]:
    """Return a function that dequantises an operand to `dtype`, from codes and scales."""
    rows, columns = operand.codes.shape
    scale = scales(backend, operand)
    across = operand.block[1]
    if operand.block[0] > 1:
        return _of_tiles(backend, operand, dtype, scale)
    numbers = _numbers(backend, operand)

    def widened() -> torch.Tensor:
        found = numbers().view(rows, columns // across, across) * scale[:, :, None]
        return found.view(rows, columns).to(dtype)

    return widened


def _of_tiles(
    backend: TorchDevice, operand: Quantised, dtype: torch.dtype, scale: torch.Tensor
) -> Callable[[], torch.Tensor]:
    """Return such a function for an operand whose blocks have several rows; the last block may have
    fewer."""
    rows, columns = operand.codes.shape
    numbers = _numbers(backend, operand)

    def widened() -> torch.Tensor:
        each = scale.repeat_interleave(operand.block[0], 0)[:rows]
        return (numbers() * each.repeat_interleave(operand.block[1], 1)[:, :columns]).to(dtype)

    return widened


def _numbers(backend: TorchDevice, operand: Quantised) -> Callable[[], torch.Tensor]:
    """Return a function that returns the numbers of all codes in float32."""
    if operand.kind == "fp8":
        codes = fp8(backend, operand)
        return codes.float
    if operand.kind == "int8":
        whole = torch.from_numpy(operand.codes).to(backend.device)
        return whole.float
    signed = np.where(np.arange(16) < 8, np.arange(16), np.arange(16) - 16)
    of_code = np.asarray(VALUES["fp4"] if operand.kind == "fp4" else signed, np.float32)
    pairs = np.stack([np.tile(of_code, 16), np.repeat(of_code, 16)], axis=1)
    table = torch.from_numpy(pairs).to(backend.device)
    packed = torch.from_numpy(packed_pairs(operand.codes)).to(backend.device)
    rows, columns = operand.codes.shape
    return lambda: table[packed.int()].view(rows, columns)
