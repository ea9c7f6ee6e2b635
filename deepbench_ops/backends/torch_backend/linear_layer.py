"""Linear layers in torch: torch.nn.functional.linear, and the products of its gradients."""

from collections.abc import Callable
from functools import partial

import torch
from torch.nn import functional

from deepbench_ops.backends.families import linear_layer
from deepbench_ops.backends.families.linear_layer import BIAS_OUTPUT, LinearInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, Values, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.problems.linear_layer import LinearLayer
from deepbench_ops.problems.problem import computed


def build(
    backend: TorchDevice, problem: LinearLayer, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a linear layer, or one of its gradients as autograd computes them."""
    drawn = linear_layer.inputs(problem, precision, seed)
    call, route = _call(backend, drawn, precision, computed(operation))
    newest = LatestOutput(call)

    def reset() -> None:
        true_precision(precision, backend.device)
        newest.reset()

    reset()
    several = operation == "backward_weight" and problem.bias
    further: dict[str, Values] = {}
    if several:
        further[BIAS_OUTPUT] = lambda: newest.output[1][:, None]
    prepared = Prepared(
        run=newest.run,
        reset=reset,
        output=(lambda: newest.output[0]) if several else (lambda: newest.output),
        further=further,
        notes={"route": route, "output": "a new one in every call"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _call(
    backend: TorchDevice, drawn: LinearInputs, precision: str, operation: str
) -> tuple[Callable[[], object], str]:
    """Return a call of the operation, and the names of the called functions for the record."""
    dtype = DTYPES[precision]
    if operation == "forward":
        x, weight = backend.tensor(drawn.x, dtype), backend.tensor(drawn.weight, dtype)
        bias = None if drawn.bias is None else backend.tensor(drawn.bias, dtype)
        return partial(functional.linear, x, weight, bias), "torch.nn.functional.linear"
    gradient = backend.tensor(drawn.gradient, dtype)
    if operation == "backward_input":
        weight = backend.tensor(drawn.weight, dtype)
        return partial(torch.mm, gradient, weight), "torch.mm"
    x, turned = backend.tensor(drawn.x, dtype), gradient.t()
    if drawn.bias is None:
        return partial(torch.mm, turned, x), "torch.mm"
    return lambda: (torch.mm(turned, x), gradient.sum(0)), "torch.mm, and sum of the bias"
