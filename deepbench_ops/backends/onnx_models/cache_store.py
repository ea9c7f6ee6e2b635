"""Storing keys and values, which ONNX cannot do in place."""

from deepbench_ops.backends.families.cache_store import CacheInputs
from deepbench_ops.backends.onnx_models.graph import OnnxModel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.cache_store import CacheStore


def model(problem: CacheStore, drawn: CacheInputs, precision: str, operation: str) -> OnnxModel:
    """Raise Unsupported: in ONNX a call would copy the whole cache."""
    raise Unsupported(
        "ONNX has no write into a tensor that stays: ScatterND copies the whole cache in every call"
    )
