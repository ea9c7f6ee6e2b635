"""Linear layer and cross-entropy in torch: as two functions, and as F.linear_cross_entropy.

F.linear_cross_entropy computes in pieces only with `options`; without them it calls the two
functions. Its forward pass computes the gradients of all operands that require one, and its
backward pass only multiplies them by the gradient of the loss: the two are timed as one.
"""

from functools import partial

import torch
from torch.nn import functional as F

from deepbench_ops.backends import families, new_outputs
from deepbench_ops.backends.families import linear_cross_entropy
from deepbench_ops.backends.families.operands import GRADIENT
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import assemble
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.linear_cross_entropy import FORWARD_BACKWARD, LinearCrossEntropy
from deepbench_ops.problems.selections import FUSED


def build(
    backend: TorchDevice, problem: LinearCrossEntropy, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the kernel of an operation; raise Unsupported for fused ones before torch 2.13."""
    if operation.startswith(FUSED):
        return _fused(backend, problem, precision, operation, seed)

    def separate(x: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.linear(x, weight).float(), targets)

    return differentiable.kernel(
        backend,
        problem,
        precision,
        operation,
        linear_cross_entropy.inputs(problem, precision, seed),
        separate,
        "torch.nn.functional.linear, then cross_entropy in float32",
    )


def _fused(
    backend: TorchDevice, problem: LinearCrossEntropy, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare torch's own operation: the loss, or the loss and both gradients."""
    if not hasattr(torch.nn, "LinearCrossEntropyOptions"):
        raise Unsupported(f"torch {torch.__version__} has no linear_cross_entropy in pieces")
    true_precision(precision, backend.device)
    drawn = linear_cross_entropy.inputs(problem, precision, seed)
    given = differentiable.tensors(backend, drawn, precision, operation)
    gradient = given.pop(GRADIENT, None)
    options = torch.nn.LinearCrossEntropyOptions()
    loss = partial(F.linear_cross_entropy, *given.values(), options=options)
    route = "torch.nn.functional.linear_cross_entropy with torch.nn.LinearCrossEntropyOptions()"

    def step() -> tuple[torch.Tensor, ...]:
        found = loss()
        return (*torch.autograd.grad(found, leaves, gradient), found.detach())

    if operation == FORWARD_BACKWARD:
        leaves = [given[name].requires_grad_() for name in linear_cross_entropy.GRADIENTS.values()]
        route += ", then torch.autograd.grad"
    prepared = new_outputs.prepared(
        step if operation == FORWARD_BACKWARD else loss,
        families.outputs(problem, operation),
        {"route": route},
        partial(true_precision, precision, backend.device),
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
