"""Functions of jax and their gradients, each compiled on its own.

A gradient is compiled as a function of the operands and of the output's gradient. It computes
intermediate values again, such as the mean of a row, which is cheap for memory-bound operations.
With `keeping`, as for matrix products, the intermediate values of a forward pass are operands.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.problem import Problem


def function(
    backend: JaxDevice,
    problem: Problem,
    drawn: Operands,
    precision: str,
    operation: str,
    compute: Callable[..., Any],
    route: str,
    keeping: bool = False,
) -> Function:
    """Return the forward pass `compute`, or its backward pass, with the operands bound.

    compute: function that takes the operands by their names. route: description of it for the
    record. keeping: whether a backward pass starts from the intermediate values of a forward pass
    that ran before.
    """
    family = families.module_of(problem)
    given = arrays(backend, drawn, precision, operation)
    gradients = tuple(given.pop(name, None) for name in drawn.gradient_names())
    names = families.outputs(problem, operation)
    if operation.endswith("backward"):
        wanted = list(family.GRADIENTS.values())
        others = {name: value for name, value in given.items() if name not in wanted}
        leaves = [given[name] for name in wanted]
        made = jax.eval_shape(compute, **given)
        gradient = jax.tree_util.tree_map(
            lambda out, dy: dy.astype(out.dtype),
            made,
            gradients[0] if len(gradients) == 1 else gradients,
        )
        called, operands = _backward(compute, wanted, leaves, others, gradient, keeping)
        left = "its forward pass run before" if keeping else "values on the way made again"
        route = f"jax.vjp of {route}, {left}"
    else:
        order = list(given)
        operands = tuple(given.values())

        def called(*values: Any) -> Any:
            return compute(**dict(zip(order, values, strict=True)))

    readers = {name: _reader(number, len(names)) for number, name in enumerate(names)}
    return Function(
        compile=backend.compiled(called, operands),
        read=readers.pop(""),
        further=readers,
        notes={"route": f"jax.jit of {route}"},
    )


def arrays(backend: JaxDevice, drawn: Operands, precision: str, operation: str) -> dict[str, Any]:
    """Return the operands on the device by name: numbers in the precision, integers as int32."""
    return {
        name: backend.array(values, "int32" if values.dtype.kind in "iu" else precision)
        for name, values in drawn.of(operation).items()
    }


def _backward(
    compute: Callable[..., Any],
    wanted: list[str],
    leaves: list[Any],
    others: dict[str, Any],
    gradient: Any,
    keeping: bool,
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function that computes the backward pass, and its operands."""
    if keeping:
        _, pull = jax.vjp(lambda *given: compute(**others, **_named(wanted, given)), *leaves)
        kept, tree = jax.tree_util.tree_flatten(pull)

        def pulled(dy: Any, *kept: Any) -> Any:
            return jax.tree_util.tree_unflatten(tree, kept)(dy)

        return pulled, (gradient, *kept)
    names = list(others)

    def passed(dy: Any, *given: Any) -> Any:
        fixed = _named(names, given[len(leaves) :])
        _, pull = jax.vjp(
            lambda *leaves: compute(**fixed, **_named(wanted, leaves)), *given[: len(leaves)]
        )
        return pull(dy)

    return passed, (gradient, *leaves, *others.values())


def _named(names: list[str], values: Any) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))


def _reader(number: int, of: int) -> Callable[[Any], np.ndarray]:
    def read(output: Any) -> np.ndarray:
        several = isinstance(output, tuple | list)
        assert not several or len(output) == of, f"{len(output)} outputs where {of} are named"
        return np.atleast_1d(np.asarray(output[number] if several else output))

    return read
