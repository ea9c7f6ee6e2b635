"""Functions of torch that autograd differentiates: their forward passes and backward passes.

A backward pass is one call of `torch.autograd.grad` for the operands in the family's GRADIENTS. Its
forward pass runs once, before.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from deepbench_ops.backends import families, new_outputs
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import assemble
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.problems.problem import Problem


def kernel(
    backend: TorchDevice,
    problem: Problem,
    precision: str,
    operation: str,
    drawn: Operands,
    function: Callable[..., Any],
    route: str,
) -> Kernel:
    """Return the kernel of the forward pass `function`, or of its backward pass.

    function: takes the operands by their names. route: description for the record.
    """
    true_precision(precision, backend.device)
    family = families.module_of(problem)
    given = tensors(backend, drawn, precision, operation)
    gradients = [given.pop(name, None) for name in drawn.gradient_names()]
    if operation.endswith("backward"):
        leaves = [given[name].requires_grad_() for name in family.GRADIENTS.values()]
        made = function(**given)
        made = made if isinstance(made, tuple) else (made,)
        call = partial(torch.autograd.grad, made, leaves, gradients, retain_graph=True)
        route = f"torch.autograd.grad of {route}"
    else:
        call = partial(function, **given)
    prepared = new_outputs.prepared(
        call,
        families.outputs(problem, operation),
        {"route": route},
        partial(true_precision, precision, backend.device),
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def tensors(
    backend: TorchDevice, drawn: Operands, precision: str, operation: str
) -> dict[str, torch.Tensor]:
    """Return the operands on the device by name: numbers in the precision, integers as int64."""

    def one(values: np.ndarray) -> torch.Tensor:
        whole = values.dtype.kind in "iu"
        return backend.tensor(values, torch.int64 if whole else DTYPES[precision])

    return {name: one(values) for name, values in drawn.of(operation).items()}
