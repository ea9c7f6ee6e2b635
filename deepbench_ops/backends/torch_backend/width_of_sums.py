"""A trial whether torch adds up the gradients of rows that share a number in 16 or in 32 bits."""

import torch

ONES = 2**14
"""Sums of ones in bfloat16 stop at 2^8, in float16 at 2^11."""


def all_counted(made: torch.Tensor, leaf: torch.Tensor) -> bool:
    """Return whether a gradient of ones gives a leaf the sum ONES at its largest entry."""
    (found,) = torch.autograd.grad(made, leaf, torch.ones_like(made))
    return float(found.max()) == ONES


def refused(what: str, precision: str, device: str) -> str:
    """Return the reason for Unsupported where they were not."""
    return f"torch {torch.__version__} adds up {what} in {precision} on {device}, not in 32 bits"
