"""Operations in plain numpy expressions, in float32, as users of numpy write them.

numpy rounds each step of a computation to the type of its operands. In 16 bits it would round all
intermediate sums and exponentials.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from deepbench_ops.backends import families, new_outputs
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import assemble
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem

Passes = Mapping[str, Callable[..., Any]]
"""Functions of the operands, by operation."""


def kernel(
    backend: Any,
    problem: Problem,
    precision: str,
    operation: str,
    drawn: Operands,
    functions: Passes,
    route: str,
    implementation: Callable[[], str] = str,
) -> Kernel:
    """Return the kernel of an operation.

    functions: by operation, functions that take the operands by their names. route: description of
    them for the record. implementation: see `Kernel.implementation`. Raises Unsupported for other
    operations and for other precisions than float32.
    """
    refuse_unsuitable(precision)
    if operation not in functions:
        raise Unsupported(f"numpy has no gradients: {operation} is not measured")
    given = drawn.of(operation)
    prepared = new_outputs.prepared(
        partial(functions[operation], **given),
        families.outputs(problem, operation),
        {"route": route},
    )
    named = replace(prepared, implementation=implementation)
    return assemble(backend, problem, precision, operation, drawn, named)


def refuse_unsuitable(precision: str) -> None:
    """Raise Unsupported for any precision but float32."""
    refuse_lacking(precision)
    if precision != "float32":
        raise Unsupported(f"numpy would round every intermediate result to {precision}")
