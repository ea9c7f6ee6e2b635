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


def on_host(values: torch.Tensor) -> np.ndarray:
    """Return an array of numpy with the same values: float32 for bfloat16, which numpy lacks."""
    found = values.to("cpu")
    return np.asarray((found.float() if found.dtype == torch.bfloat16 else found).numpy())


def at(values: torch.Tensor, index: Sequence[np.ndarray | slice]) -> np.ndarray:
    """Return entries of a tensor on the host, all of them for the index ()."""
    where = tuple(
        axis if isinstance(axis, slice) else torch.from_numpy(axis).to(values.device)
        for axis in index
    )
    return on_host(values[where])
