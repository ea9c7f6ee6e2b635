"""Cross-entropy in ONNX, as users score a model: LogSoftmax, GatherElements, ReduceMean, Neg."""

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.cross_entropy import CrossEntropy


def model(problem: CrossEntropy, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass."""

    def build(graph: Graph, logits: Value, targets: Value) -> Value:
        shares = graph.node("LogSoftmax", logits, axis=-1)
        found = graph.node("GatherElements", shares, targets, axis=-1)
        loss: Value = graph.node("Neg", graph.node("ReduceMean", found, keepdims=0))
        return loss

    columns = Operands({**drawn.makers, "targets": lambda: drawn["targets"][:, None]}, drawn.notes)
    route = "LogSoftmax, GatherElements, ReduceMean, Neg"
    return forward.model(columns, operation, build, {"": ()}, route)
