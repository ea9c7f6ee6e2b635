"""Operations written in plain numpy, in float32: what a user of numpy writes.

numpy rounds each step of a longer computation to the type of its operands, so that 16-bit types
would round sums and exponentials on the way.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from deepbench_ops.backends import families, new_outputs
from deepbench_ops.backends.assembly import assemble
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem

Passes = Mapping[str, Callable[..., Any]]
"""Functions of the operands, by the operation."""


def kernel(
    backend: Any,
    problem: Problem,
    precision: str,
    operation: str,
    drawn: Operands,
    functions: Passes,
    route: str,
) -> Kernel:
    """Return one of the operations; Unsupported for others, and for other types than float32.

    functions: by the operation, of the operands by their names.
    """
    refuse_unsuitable(precision)
    if operation not in functions:
        raise Unsupported(f"numpy has no gradients: the {operation} pass is for other frameworks")
    given = drawn.of(operation)
    prepared = new_outputs.prepared(
        partial(functions[operation], **given),
        families.outputs(problem, operation),
        {"route": route},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def refuse_unsuitable(precision: str) -> None:
    """Raise Unsupported for any precision but float32."""
    refuse_lacking(precision)
    if precision != "float32":
        raise Unsupported(f"numpy would round every step of it to {precision}, sums included")
