"""What numpy has of the precisions, and how its outputs are widened to be judged."""

import numpy as np

from deepbench_ops.backends.kernel import Index
from deepbench_ops.errors import Unsupported

LACKING = {
    "tf32": "numpy has no tf32: it exists only on NVIDIA GPUs",
    "bfloat16": "numpy has no bfloat16 type",
}


def refuse_lacking(precision: str) -> None:
    """Raise Unsupported for a precision that numpy has no type or hardware for."""
    if precision in LACKING:
        raise Unsupported(LACKING[precision])


def widened(values: np.ndarray) -> np.ndarray:
    """Return an output as int64 or float64."""
    return values.astype(np.int64 if values.dtype == np.int32 else np.float64)


def at(values: np.ndarray, index: Index) -> np.ndarray:
    """Return an output at a few entries, as int64 or float64."""
    return widened(values[index])


def done() -> None:
    """Synchronise: everything is done when a call of numpy returns."""
