"""Recurrent layers in MindSpore: the published passes as a loop over its eager operations."""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families import rnn_recurrence
from deepbench_ops.backends.families.rnn import PRODUCT_GRADIENTS
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.families.rnn_recurrence import Functions
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rnn import Rnn

FUNCTIONS = Functions(
    matmul=ops.MatMul(),
    sigmoid=ops.Sigmoid(),
    tanh=ops.Tanh(),
    relu=ops.ReLU(),
    sign=ops.Sign(),
    joined=lambda parts: ops.cat(parts, axis=-1),
)


def function(
    backend: MindSporeDevice, problem: Rnn, drawn: RnnInputs, precision: str, operation: str
) -> Function:
    """Return a published pass; raise Unsupported for fused layers."""
    if operation.startswith("fused"):
        raise Unsupported("mindspore's own layers on the cpu are not measured yet")
    return (_forward if operation == "forward" else _backward)(backend, drawn, precision)


def _forward(backend: MindSporeDevice, drawn: RnnInputs, precision: str) -> Function:
    problem = drawn.problem
    step = rnn_recurrence.forward_step(problem.cell, problem.hidden, FUNCTIONS)

    def layer(r: Any, products: tuple[Any, ...], first: tuple[Any, ...]) -> Any:
        state, states = first, []
        for x in products:
            state = step(state, x, r)
            states.append(state[0])
        return ops.stack(states)

    operands = (
        backend.tensor(drawn.recurrent, precision),
        backend.tensors(precision, *drawn.products),
        backend.tensors(precision, *rnn_recurrence.first_state(drawn)),
    )
    return Function(
        compile=backend.called(layer, operands),
        read=lambda output: output.asnumpy(),
        notes={"route": "loop over mindspore's eager operations, one product a step for all gates"},
    )


def _backward(backend: MindSporeDevice, drawn: RnnInputs, precision: str) -> Function:
    problem = drawn.problem
    cell, size, steps = problem.cell, problem.hidden, problem.timesteps
    factors = rnn_recurrence.factors(cell, size, FUNCTIONS)
    step = rnn_recurrence.backward_step(cell, FUNCTIONS)
    turned, summed = ops.MatMul(transpose_b=True), ops.MatMul(transpose_a=True)

    def layer(r: Any, upstream: tuple[Any, ...], kept: tuple[Any, ...]) -> Any:
        by = factors(*kept)
        found: list[Any] = []
        left = ops.zeros_like(upstream[-1])
        for t in reversed(range(steps)):
            dh = upstream[t]
            if found:
                dh = dh + turned(found[-1], r)
                dh = dh + left if cell == "gru" else dh
            dg, left = step(dh, left, tuple(each[t] for each in by))
            found.append(dg)
        gradients = ops.stack(found[::-1])
        states = kept[0][:-1].reshape((-1, size))
        return summed(states, gradients.reshape((-1, gradients.shape[-1]))), gradients

    operands = (
        backend.tensor(drawn.recurrent, precision),
        backend.tensors(precision, *drawn.upstream),
        backend.tensors(precision, *rnn_recurrence.saved_for_backward(drawn)),
    )
    return Function(
        compile=backend.called(layer, operands),
        read=lambda output: output[0].asnumpy(),
        further={PRODUCT_GRADIENTS: lambda output: output[1].asnumpy()},
        notes={
            "route": "loop over mindspore's eager operations, the gates' factors made beforehand"
            " for all steps; one product over all steps for dR"
        },
    )
