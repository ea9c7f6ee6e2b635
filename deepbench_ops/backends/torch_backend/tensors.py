"""Types, precision switches and outputs that all families of torch kernels share."""

from collections.abc import Sequence

import numpy as np
import torch

DTYPES = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.int8,
}


def true_precision(precision: str, device: str) -> None:
    """Turn the process-wide switches so that `precision` means what it says.

    "highest" keeps float32 products in float32 (no tf32, no bfloat16 passes), "high" is tf32 on
    a GPU; 16-bit sums across the parts of a split product are switched off, because 16-bit
    precisions here mean 32-bit accumulation. Another kernel may have turned them since, so
    every reset does this.
    """
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    if device == "cuda":
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def widened(values: torch.Tensor) -> np.ndarray:
    """Return an output as int64 or float64 on the host."""
    wide = torch.int64 if values.dtype == torch.int32 else torch.float64
    return np.asarray(values.to(device="cpu", dtype=wide).numpy())


def at(values: torch.Tensor, index: Sequence[np.ndarray | slice]) -> np.ndarray:
    """Return an output at a few entries, as int64 or float64 on the host."""
    where = tuple(
        axis if isinstance(axis, slice) else torch.from_numpy(axis).to(values.device)
        for axis in index
    )
    return widened(values[where])
