"""Rotary position embedding as the operators that exporters write: Split, Neg, Concat, Mul, Add."""

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.rope import outputs, shapes_of
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.rope import Rope


def model(problem: Rope, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass of queries and keys, with the tables as inputs."""

    def build(
        graph: Graph, queries: Value, keys: Value, cosines: Value, sines: Value
    ) -> tuple[Value, Value]:
        def turned(x: Value) -> Value:
            first, second = graph.node("Split", x, outputs=2, axis=-1)
            aside: Value = graph.node("Concat", graph.node("Neg", second), first, axis=-1)
            return x * cosines + aside * sines

        return turned(queries), turned(keys)

    shapes = dict(zip(outputs(problem, "forward"), shapes_of(problem), strict=True))
    return forward.model(drawn, operation, build, shapes, "Split, Neg, Concat, Mul, Mul, Add")
