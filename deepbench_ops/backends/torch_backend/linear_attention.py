"""Linear attention in torch, token by token in float32.

That is the form in which the transformers library decodes where there are no kernels for it. For
prompts it has another one, by chunks of tokens, which is not measured.
"""

from functools import partial

import torch

from deepbench_ops.backends import families, new_outputs
from deepbench_ops.backends.families import linear_attention
from deepbench_ops.backends.families.linear_attention import STATE
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import assemble
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.problems.linear_attention import LinearAttention


def build(
    backend: TorchDevice, problem: LinearAttention, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward pass, the only operation."""
    true_precision(precision, backend.device)
    scale = linear_attention.scale(problem)
    group = problem.value_heads // problem.heads
    narrow = DTYPES[precision]

    def forward(
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        decays: torch.Tensor,
        state: torch.Tensor,
        rates: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        queries, keys = (each.repeat_interleave(group, dim=2).float() for each in (queries, keys))
        values, kept = values.float(), decays.float().exp()[..., None, None]
        outputs = torch.empty_like(values)
        for token in range(values.shape[1]):
            state = state * kept[:, token]
            key, value = keys[:, token, :, :, None], values[:, token]
            if rates is not None:
                value = (value - (state * key).sum(dim=-2)) * rates[:, token, :, None].float()
            state = state + key * value.unsqueeze(-2)
            outputs[:, token] = (state * queries[:, token, :, :, None]).sum(dim=-2) * scale
        return outputs.to(narrow), state

    drawn = linear_attention.inputs(problem, precision, seed)
    given = differentiable.tensors(backend, drawn, precision, operation)
    given[STATE] = backend.tensor(drawn[STATE], torch.float32)
    prepared = new_outputs.prepared(
        partial(forward, **given),
        families.outputs(problem, operation),
        {"route": "elementwise products and sums in float32, token by token"},
        partial(true_precision, precision, backend.device),
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
