"""Functions of TensorFlow in a tf.function, and their gradients by a persistent tape.

The forward pass runs once under the tape. Each call of the backward pass computes the gradients
from the tape again, which runs the graph that TensorFlow has made for them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends import families
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Call, Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.problem import Problem


def function(
    backend: TensorFlowDevice,
    problem: Problem,
    drawn: Operands,
    precision: str,
    operation: str,
    compute: Callable[..., Any],
    route: str,
) -> Function:
    """Return the forward pass `compute`, or its backward pass, with the operands bound.

    compute: function that takes the operands by their names. route: description for the record.
    """
    family = families.module_of(problem)
    given = {
        name: backend.tensor(values, "int32" if values.dtype.kind in "iu" else precision)
        for name, values in drawn.of(operation).items()
    }
    gradients = tuple(given.pop(name, None) for name in drawn.gradient_names())
    names = families.outputs(problem, operation)
    order, operands = list(given), tuple(given.values())

    def called(*values: Any) -> Any:
        return compute(**dict(zip(order, values, strict=True)))

    compiled: Callable[[], Call]
    if operation.endswith("backward"):
        gradient = gradients[0] if len(gradients) == 1 else gradients
        compiled = partial(_taped, called, operands, order, family.GRADIENTS.values(), gradient)
        route = f"GradientTape.gradient of {route}, the tape kept"
    else:
        compiled = backend.compiled(called, operands)
    readers = {name: partial(_read, number) for number, name in enumerate(names)}
    return Function(
        compile=compiled,
        read=readers.pop(""),
        further=readers,
        notes={"route": f"tf.function: {route}"},
    )


def _taped(
    called: Callable[..., Any],
    operands: tuple[Any, ...],
    order: list[str],
    wanted: Any,
    gradient: Any,
) -> Call:
    """Run the forward pass under a tape, and return a call of the backward pass."""
    traced = tf.function(lambda *given: called(*given), autograph=False)
    leaves = [operands[order.index(name)] for name in wanted]
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(leaves)
        made = traced(*operands)
    gradient = tf.nest.map_structure(lambda out, dy: tf.cast(dy, out.dtype), made, gradient)

    def call() -> Any:
        found = tape.gradient(made, leaves, output_gradients=gradient)
        return tuple(tf.convert_to_tensor(each) for each in found)

    return call


def _read(number: int, output: Any) -> np.ndarray:
    found = output[number] if isinstance(output, tuple | list) else output
    return np.atleast_1d(found.numpy())
