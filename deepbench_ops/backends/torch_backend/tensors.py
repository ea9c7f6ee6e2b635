"""Types, precision switches and reading of outputs, for the torch kernels of all families."""

from collections.abc import Sequence

import numpy as np
import torch

from deepbench_ops.errors import Unsupported

DTYPES = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.int8,
}


ATTENTION_SWITCHES = {
    "flash": "enable_flash_sdp",
    "memory-efficient": "enable_mem_efficient_sdp",
    "math": "enable_math_sdp",
    "cuDNN": "enable_cudnn_sdp",
}
"""Functions of torch.backends.cuda that enable an implementation of attention, also on the CPU."""

ANY = ""
"""Name of the implementation of attention that torch chooses."""


def true_precision(precision: str, device: str) -> None:
    """Set torch's process-wide switches such that products are computed in `precision`.

    "highest" keeps float32 products in float32 (no tf32, no bfloat16 passes); "high" is tf32 on a
    GPU. 16-bit sums between the parts of a split product are switched off, because 16-bit
    precisions have 32-bit accumulation in this project. All implementations of attention are
    enabled. Every reset calls this function, since another kernel may have changed the switches.
    """
    enable_attention()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    if device == "cuda":
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.deterministic = False  # a convolution may have set it
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def enable_attention(implementation: str = ANY) -> None:
    """Enable one implementation of attention only, or all; raise Unsupported where this release has
    no function for it."""
    switches = ATTENTION_SWITCHES.items()
    found = {name: getattr(torch.backends.cuda, each, None) for name, each in switches}
    if implementation != ANY and found.get(implementation) is None:
        raise Unsupported(f"this release of torch has no switch for {implementation} attention")
    for name, switch in found.items():
        if switch is not None:
            switch(implementation in (ANY, name))


def on_host(values: torch.Tensor) -> np.ndarray:
    """Return a numpy array with the same values; bfloat16, which numpy lacks, becomes float32."""
    found = values.to("cpu")
    return np.asarray((found.float() if found.dtype == torch.bfloat16 else found).numpy())


def at(values: torch.Tensor, index: Sequence[np.ndarray | slice]) -> np.ndarray:
    """Return entries of a tensor as an array on the host; the index () means all entries."""
    where = tuple(
        axis if isinstance(axis, slice) else torch.from_numpy(axis).to(values.device)
        for axis in index
    )
    return on_host(values[where])
