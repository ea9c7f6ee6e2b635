"""LayerNorm as ONNX's LayerNormalization, with constant weight and bias."""

from deepbench_ops.backends.families.layer_norm import EPSILON
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.layer_norm import LayerNorm


def model(problem: LayerNorm, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass; raise Unsupported for bfloat16."""

    def build(graph: Graph, x: Value, weight: Value, bias: Value) -> Value:
        if precision == "bfloat16":
            raise Unsupported(
                "openvino's LayerNormalization in bfloat16 rounds the normalised numbers before"
                " weight and bias, and is not exact enough"
            )
        found: Value = graph.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)
        return found

    shapes = {"": (problem.tokens, problem.hidden)}
    route = "LayerNormalization, weight and bias constant"
    return forward.model(drawn, operation, build, shapes, route, ("weight", "bias"))
