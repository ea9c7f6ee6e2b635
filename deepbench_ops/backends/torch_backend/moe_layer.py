"""Mixture-of-experts layers in torch: tokens sorted by expert, and grouped products."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from deepbench_ops.backends import families, new_outputs
from deepbench_ops.backends.families import moe_gradients
from deepbench_ops.backends.families import moe_layer as family
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import assemble
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.grouped_gemm import require_aligned_rows
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.models.grouped_product import grouped_product
from deepbench_ops.problems.moe_layer import MoeLayer


def build(
    backend: TorchDevice, problem: MoeLayer, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward or backward pass; raise Unsupported without a grouped product."""
    dtype = DTYPES[precision]
    multiply, name = grouped_product()
    require_aligned_rows((problem.hidden, problem.intermediate), precision)
    drawn = family.inputs(problem, precision, seed)
    true_precision(precision, backend.device)
    given = {
        each: backend.tensor(getattr(drawn, each), dtype)
        for each in moe_gradients.names(problem).values()
    }
    layer = partial(_layer, multiply, problem.top_k, problem.experts)
    call: Callable[[], Any] = partial(layer, **given)
    route = (
        f"topk of the logits, softmax, argsort by expert, all matrices by {name}, sums in float32"
        " by index_add_"
    )
    if operation == "backward":
        leaves = [each.requires_grad_() for each in given.values()]
        gradient = backend.tensor(drawn.gradient, dtype)
        call = partial(torch.autograd.grad, call(), leaves, gradient, retain_graph=True)
        route = f"torch.autograd.grad of {route}"
    prepared = new_outputs.prepared(
        call,
        families.outputs(problem, operation),
        {"route": route},
        partial(true_precision, precision, backend.device),
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _layer(
    multiply: Callable[..., torch.Tensor],
    top_k: int,
    experts: int,
    x: torch.Tensor,
    router: torch.Tensor,
    up: torch.Tensor,
    down: torch.Tensor,
    gate: torch.Tensor | None = None,
) -> torch.Tensor:
    logits = torch.nn.functional.linear(x, router)
    taken, chosen = logits.topk(top_k)
    weights = torch.softmax(taken, 1, dtype=torch.float32)
    owner = chosen.view(-1)
    order = owner.argsort(stable=True)
    ends = torch.bincount(owner, minlength=experts).cumsum(0).to(torch.int32)
    tokens = order // top_k
    rows = x[tokens]
    hidden = multiply(rows, up.transpose(1, 2), offs=ends)
    gated = None if gate is None else multiply(rows, gate.transpose(1, 2), offs=ends)
    hidden = _activated(hidden, gated, in_place=not x.requires_grad)
    each = multiply(hidden, down.transpose(1, 2), offs=ends).float()
    each = each * weights.view(-1)[order, None]
    total = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
    return total.index_add_(0, tokens, each).to(x.dtype)


def _activated(up: torch.Tensor, gate: torch.Tensor | None, in_place: bool) -> torch.Tensor:
    """Return silu(gate)·up, or max(up, 0)² without a gate. in_place: whether to overwrite them."""
    if gate is not None:
        active = torch.nn.functional.silu(gate)
        return active.mul_(up) if in_place else active * up
    return up.relu_().square_() if in_place else up.relu().square()
