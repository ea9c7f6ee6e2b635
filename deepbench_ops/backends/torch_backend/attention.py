"""Attention in torch: scaled_dot_product_attention, and its gradients by autograd.

torch chooses an implementation among those that are enabled. The record names the one that ran.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import KEY_GRADIENT, VALUE_GRADIENT, AttentionInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, enable_attention, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED, Attention, is_backward
from deepbench_ops.problems.problem import computed

ROUTE = "torch.nn.functional.scaled_dot_product_attention"

NONE = -1
"""torch's number for no implementation."""

NUMBERED = {0: "math", 1: "flash", 2: "memory-efficient", 3: "cuDNN", 4: "a vendor's"}
"""Implementations by torch's numbers (`SDPBackend`); math is products and a softmax."""

NONE_WORDS = ("No viable backend", "No available kernel", "Invalid backend")
"""Parts of torch's errors where no enabled implementation can take the operands."""

UNNAMED = "unknown"
"""Name of an implementation that torch does not report."""


def build(backend: TorchDevice, problem: Any, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare attention or its gradients, by the implementation that the operation names, if any.

    A backward pass is by the implementation of the forward pass. Raises Unsupported where torch
    does not have this implementation for the operands.
    """
    done = computed(operation)
    drawn = attention.inputs(problem, precision, seed)
    forced, several = FORCED.get(done, ""), is_backward(done)

    def settle() -> None:
        true_precision(precision, backend.device)
        enable_attention(forced)

    settle()
    call = forward(backend, drawn, precision, differentiable=several)
    chosen = chosen_implementation(*call.args, **call.keywords)
    if forced and chosen not in (forced, UNNAMED):
        raise Unsupported(f"torch has no {forced} attention for these operands on {backend.device}")
    route = ROUTE
    run: Callable[[], Any] = call
    if several:
        run, route = _backward(backend, drawn, precision, call)
    newest = LatestOutput(run)

    def reset() -> None:
        settle()
        newest.reset()

    prepared = Prepared(
        run=newest.run,
        reset=reset,
        output=(lambda: newest.output[0]) if several else (lambda: newest.output),
        further={KEY_GRADIENT: lambda: newest.output[1], VALUE_GRADIENT: lambda: newest.output[2]}
        if several
        else {},
        notes={
            "route": route,
            "implementation": chosen,
            "layout": "(batch, head, token, number)",
            "output": "a new one in every call",
        },
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def forward(
    backend: TorchDevice, drawn: AttentionInputs, precision: str, differentiable: bool = False
) -> "partial[torch.Tensor]":
    """Return the call of attention with its operands bound.

    differentiable: whether autograd records the operands, for a backward pass.

    Raises Unsupported for grouped queries before torch 2.5.
    """
    problem, dtype = drawn.problem, DTYPES[precision]
    q = backend.tensor(drawn.q, dtype)
    k = backend.tensor(drawn.k, dtype)
    latent = problem.latent
    v = k[..., : problem.dv] if latent else backend.tensor(drawn.v, dtype)
    more: dict[str, Any] = {}
    if problem.causal and problem.sq == problem.skv:
        more["is_causal"] = True
    elif problem.causal:
        more["attn_mask"] = _last_sees_all(problem, backend.device)
    if problem.hq != problem.hkv:
        if not has_grouped_queries():
            raise Unsupported("torch before 2.5 has no grouped queries (enable_gqa)")
        more["enable_gqa"] = True
    for each in (q, k, v):
        each.requires_grad_(differentiable)
    return partial(functional.scaled_dot_product_attention, q, k, v, **more)


def _last_sees_all(problem: Attention, device: str) -> torch.Tensor:
    """Return the causal mask for fewer queries than keys.

    On a GPU it is torch's `causal_lower_right`, a description of the mask that flash attention
    takes. On the CPU it is the mask itself, because torch would make one from the description in
    every call.
    """
    if device != "cpu":
        from torch.nn.attention.bias import causal_lower_right

        described: torch.Tensor = causal_lower_right(problem.sq, problem.skv)
        return described
    return torch.from_numpy(attention.mask(problem.sq, problem.skv))


def _backward(
    backend: TorchDevice,
    drawn: AttentionInputs,
    precision: str,
    call: "partial[torch.Tensor]",
) -> tuple[Callable[[], Any], str]:
    """Return the call that computes the gradients of q, k and v, and its name for the record.

    The forward pass runs once, before the timed calls.
    """
    gradient = backend.tensor(drawn.gradient, DTYPES[precision])
    output = call()
    run = partial(torch.autograd.grad, output, call.args, gradient, retain_graph=True)
    return run, f"torch.autograd.grad of {ROUTE}"


def chosen_implementation(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **more: Any) -> str:
    """Return the implementation that torch chooses for these arguments of its attention.

    The answer comes from the private function that attention itself calls; UNNAMED for releases
    without it. Raises Unsupported where no enabled implementation can take the arguments.
    """
    try:
        choose = _choice_for_described_mask if _has_described_mask(more) else _choice
        number = choose(q, k, v, more)
    except (AttributeError, TypeError):  # private functions, free to change
        return UNNAMED
    if number == NONE:
        raise Unsupported("torch has no such implementation of attention for these operands")
    return NUMBERED.get(number, UNNAMED)


def _choice(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, more: dict[str, Any]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # why it does not choose others, one line each
            return int(torch._fused_sdp_choice(q, k, v, **more))
    except RuntimeError as error:
        if any(words in str(error) for words in NONE_WORDS):
            return NONE
        raise


def _has_described_mask(more: dict[str, Any]) -> bool:
    """Return whether the mask is one of torch's descriptions, which torch evaluates in Python."""
    return "attn_mask" in more and type(more["attn_mask"]) is not torch.Tensor


def _choice_for_described_mask(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, more: dict[str, Any]
) -> int:
    """Return torch's number for a described mask: flash, memory-efficient, or the choice for the
    mask itself."""
    cuda = torch.backends.cuda
    groups = more.get("enable_gqa", False)
    asked = cuda.SDPAParams(q, k, v, None, 0.0, False, groups)
    if cuda.can_use_flash_attention(asked):
        return 1
    if cuda.can_use_efficient_attention(asked):
        return 2
    made = more["attn_mask"]._materialize(q.device)
    return _choice(q, k, v, {**more, "attn_mask": made})


def has_grouped_queries() -> bool:
    """Return whether torch allows fewer heads of keys than of queries (2.5 and later)."""
    return "enable_gqa" in (functional.scaled_dot_product_attention.__doc__ or "")
