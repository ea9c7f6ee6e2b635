"""Linear attention in torch, in float32: a step of decoding, or a prompt by chunks of tokens.

The transformers library has both forms, for machines without a library of kernels for it.
"""

from functools import partial
from typing import NamedTuple

import torch
from torch.nn.functional import pad

from deepbench_ops.backends import families, new_outputs
from deepbench_ops.backends.families import linear_attention
from deepbench_ops.backends.families.linear_attention import CHUNK, STATE
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import assemble
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.problems.linear_attention import LinearAttention


class Tokens(NamedTuple):
    """The operands of all tokens, float32, with the axes (sequence, head of values, token, ...).

    q, k: queries and keys of the head. v: values. g: decays. r: rates, None without the delta rule.
    """

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    g: torch.Tensor
    r: torch.Tensor | None


def build(
    backend: TorchDevice, problem: LinearAttention, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward pass, the only operation."""
    true_precision(precision, backend.device)
    scale = linear_attention.scale(problem)
    group = problem.value_heads // problem.heads
    narrow = DTYPES[precision]
    rule = one_token if problem.length == 1 else by_chunks

    def forward(
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        decays: torch.Tensor,
        state: torch.Tensor,
        rates: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        q, k = (each.repeat_interleave(group, dim=2) for each in (queries, keys))
        q, k, v, g = (each.transpose(1, 2).float() for each in (q, k, values, decays))
        r = None if rates is None else rates.transpose(1, 2).float()
        outputs, state = rule(Tokens(q, k, v, g, r), state)
        return (outputs * scale).transpose(1, 2).to(narrow), state

    drawn = linear_attention.inputs(problem, precision, seed)
    given = differentiable.tensors(backend, drawn, precision, operation)
    given[STATE] = backend.tensor(drawn[STATE], torch.float32)
    prepared = new_outputs.prepared(
        partial(forward, **given),
        families.outputs(problem, operation),
        {"route": ROUTES[rule.__name__]},
        partial(true_precision, precision, backend.device),
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def one_token(tokens: Tokens, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the outputs of single tokens, without scale, and the states after them."""
    q, k, v, g, r = tokens
    state = state * g.exp()[..., None]
    column, value = k.mT, v
    if r is not None:
        value = (v - (state * column).sum(dim=-2, keepdim=True)) * r[..., None]
    state = state + column * value
    return (state * q.mT).sum(dim=-2, keepdim=True), state


def by_chunks(tokens: Tokens, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the outputs of prompts, without scale, and the states after them, by chunks of CHUNK.

    In a chunk that begins with the state S, token i adds k_i·u_iᵀ to it, and the sum of the decays
    up to i is G_i. For the delta rule the u of a chunk solve, with j < i,

        u_i + r_i·sum(exp(G_i - G_j)·(k_i·k_j)·u_j) = r_i·(v_i - exp(G_i)·Sᵀ·k_i)

    which is a triangular system, solved for both parts of the right side before S is known.
    """
    length, chunk = tokens.v.shape[2], min(CHUNK, tokens.v.shape[2])
    q, k, v, g = (_cut(each, chunk) for each in tokens[:4])
    r = None if tokens.r is None else _cut(tokens.r, chunk)
    total = g.cumsum(-1)
    fading = (total[..., :, None] - total[..., None, :]).tril().exp().tril()
    before = total.exp()[..., None]
    added, taken = v, None
    if r is not None:
        matrix = (r[..., None] * (k @ k.mT) * fading).tril(-1)
        right = r[..., None] * torch.cat([v, k * before], dim=-1)
        solved = torch.linalg.solve_triangular(matrix, right, upper=False, unitriangular=True)
        added, taken = solved.split([v.shape[-1], k.shape[-1]], dim=-1)
    inside, read = (q @ k.mT) * fading, q * before
    kept = k * (total[..., -1:] - total).exp()[..., None]
    outputs = []
    for part in range(v.shape[2]):
        new = added[:, :, part]
        if taken is not None:
            new = new - taken[:, :, part] @ state
        outputs.append(read[:, :, part] @ state + inside[:, :, part] @ new)
        state = state * before[:, :, part, -1:] + kept[:, :, part].mT @ new
    return torch.cat(outputs, dim=2)[:, :, :length], state


def _cut(values: torch.Tensor, chunk: int) -> torch.Tensor:
    """Return (sequence, head, token, ...) as (sequence, head, chunk, token, ...), with zeros in the
    place of tokens that the last chunk lacks: they change no state."""
    missing = -values.shape[2] % chunk
    others = (0, 0) * (values.dim() - 3)
    return pad(values, (*others, 0, missing)).unflatten(2, (-1, chunk))


ROUTES = {
    one_token.__name__: "elementwise products and sums in float32",
    by_chunks.__name__: f"matmul and linalg.solve_triangular in float32, {CHUNK} tokens at a time",
}
