"""torch's grouped matrix product: each group of rows times its own matrix."""

from collections.abc import Callable
from typing import Any

import torch

from deepbench_ops.errors import Unsupported


def grouped_product() -> tuple[Callable[..., torch.Tensor], str]:
    """Return torch's function for grouped products, and its name.

    Raises Unsupported for releases without one.
    """
    public: Any = getattr(torch.nn.functional, "grouped_mm", None)
    if public is not None:
        return public, "torch.nn.functional.grouped_mm"
    private: Any = getattr(torch, "_grouped_mm", None)
    if private is None:
        raise Unsupported(f"torch {torch.__version__} has no grouped product")
    return private, "torch._grouped_mm"
