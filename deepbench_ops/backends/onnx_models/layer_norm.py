"""LayerNorm as ONNX's LayerNormalization, with constant weight and bias."""

from deepbench_ops.backends.families.layer_norm import EPSILON
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.layer_norm import LayerNorm


def model(problem: LayerNorm, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass."""

    def build(graph: Graph, x: Value, weight: Value, bias: Value) -> Value:
        found: Value = graph.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)
        return found

    shapes = {"": (problem.tokens, problem.hidden)}
    route = "LayerNormalization, weight and bias constant"
    return forward.model(drawn, operation, build, shapes, route, ("weight", "bias"))


def _in_openvino(problem: LayerNorm, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass in float32; raise Unsupported for 16 bits."""
    found = model(problem, drawn, precision, operation)
    if precision != "float32":
        raise Unsupported(
            f"openvino's LayerNormalization in {precision} rounds the normalised numbers before"
            " weight and bias, and is not exact enough"
        )
    return found


OWN = {"openvino": _in_openvino}
"""The model of a runtime that refuses some precisions."""
