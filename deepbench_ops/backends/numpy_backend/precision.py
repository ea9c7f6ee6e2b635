"""Precisions that numpy lacks."""

from deepbench_ops.errors import Unsupported

LACKING = {  # reasons by precision
    "tf32": "numpy has no tf32: it exists only on NVIDIA GPUs",
    "bfloat16": "numpy has no bfloat16 type",
}


def refuse_lacking(precision: str) -> None:
    """Raise Unsupported for a precision for which numpy has no type or hardware."""
    if precision in LACKING:
        raise Unsupported(LACKING[precision])
