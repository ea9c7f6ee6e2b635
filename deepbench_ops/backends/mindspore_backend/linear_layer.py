"""Linear layers in MindSpore: MatMul with its transposes."""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families.linear_layer import BIAS_OUTPUT, LinearInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend import forward as forward_passes
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.problems.linear_layer import LinearLayer


def function(
    backend: MindSporeDevice,
    problem: LinearLayer,
    drawn: LinearInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return a layer or one of its gradients."""
    by_outputs, plain = ops.MatMul(transpose_b=True), ops.MatMul()
    by_tokens = ops.MatMul(transpose_a=True)

    def forward(x: Any, weight: Any, *bias: Any) -> Any:
        y = by_outputs(x, weight)
        return ops.add(y, bias[0]) if bias else y

    def column_sums(gradient: Any) -> Any:
        return forward_passes.in_float32(gradient, lambda wide: ops.sum(wide, 0))

    def backward_weight(gradient: Any, x: Any) -> Any:
        found = by_tokens(gradient, x)
        return (found, column_sums(gradient)) if problem.bias else found

    if operation == "forward":
        operands = (drawn.x, drawn.weight, *(() if drawn.bias is None else (drawn.bias,)))
        called: Any = forward
    elif operation == "backward_input":
        operands, called = (drawn.gradient, drawn.weight), plain
    else:
        operands, called = (drawn.gradient, drawn.x), backward_weight
    several = operation == "backward_weight" and problem.bias
    return Function(
        compile=backend.called(called, backend.tensors(precision, *operands)),
        read=lambda output: (output[0] if several else output).asnumpy(),
        further={BIAS_OUTPUT: lambda output: output[1].asnumpy()[:, None]} if several else {},
        notes={"route": "PyNative: ops.MatMul, the bias's gradient added up in float32"},
    )
