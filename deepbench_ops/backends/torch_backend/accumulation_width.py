"""Trial that shows whether torch adds up in 16 or in 32 bits."""

import torch

ONES = 2**14
"""Number of ones in the trial's sum; in bfloat16 a sum of ones stops at 2^8, in float16 at 2^11."""


def all_counted(made: torch.Tensor, leaf: torch.Tensor) -> bool:
    """Return whether the largest entry of a leaf's gradient is the exact sum ONES.

    made: output, with a gradient of ones.
    """
    (found,) = torch.autograd.grad(made, leaf, torch.ones_like(made))
    return float(found.max()) == ONES


def refused(what: str, precision: str, device: str) -> str:
    """Return the reason for Unsupported where sums are in 16 bits. what: name of the sums."""
    return f"torch {torch.__version__} adds up {what} in {precision} on {device}, not in 32 bits"
