"""Forward passes in MindSpore of the families with `Operands`, from its functions."""

from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore as ms
import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend.device import DTYPES, MindSporeDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem

NO_BACKWARD = (
    "mindspore computes gradients together with the forward pass (ms.grad): it has no backward"
    " pass alone"
)


def function(
    backend: MindSporeDevice,
    problem: Problem,
    drawn: Operands,
    precision: str,
    operation: str,
    compute: Callable[..., Any],
    route: str,
) -> Function:
    """Return the forward pass `compute` with the operands bound.

    compute: function that takes the operands by their names. route: description for the record.
    Raises Unsupported for a backward pass.
    """
    if operation.endswith("backward"):
        raise Unsupported(NO_BACKWARD)
    given = {
        name: backend.tensor(values, "int32" if values.dtype.kind in "iu" else precision)
        for name, values in drawn.of(operation).items()
    }

    def called(*values: Any) -> Any:
        return compute(**dict(zip(given, values, strict=True)))

    names = families.outputs(problem, operation)
    readers = {name: partial(_read, number) for number, name in enumerate(names)}
    return Function(
        compile=backend.called(called, tuple(given.values())),
        read=readers.pop(""),
        further=readers,
        notes={"route": f"PyNative: {route}"},
    )


def in_float32(x: Any, compute: Callable[[Any], Any]) -> Any:
    """Return compute(x), computed in float32 and rounded to the type of x."""
    if x.dtype == ms.float32:
        return compute(x)
    return ms.ops.cast(compute(ms.ops.cast(x, DTYPES["float32"])), x.dtype)


def _read(number: int, output: Any) -> np.ndarray:
    found = output[number] if isinstance(output, tuple | list) else output
    return np.atleast_1d(found.asnumpy())
