"""Mixture-of-experts layers in torch: tokens sorted by expert and grouped products."""

import torch

from deepbench_ops.backends.assembly import Prepared, assemble
from deepbench_ops.backends.families import moe_layer as family
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.grouped_gemm import demand_whole_rows
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.models.grouped_product import grouped_product
from deepbench_ops.problems.moe_layer import MoeLayer


def build(
    backend: TorchDevice, problem: MoeLayer, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the layer; Unsupported where this release has no grouped product."""
    dtype = DTYPES[precision]
    demand_whole_rows((problem.hidden, problem.intermediate), precision)
    multiply, name = grouped_product()
    drawn = family.inputs(problem, precision, seed)
    true_precision(precision, backend.device)
    x, router = backend.tensor(drawn.x, dtype), backend.tensor(drawn.router, dtype)
    up, down = (backend.tensor(w, dtype).transpose(1, 2) for w in (drawn.up, drawn.down))
    gate = None if drawn.gate is None else backend.tensor(drawn.gate, dtype).transpose(1, 2)
    silu, linear = torch.nn.functional.silu, torch.nn.functional.linear
    top_k, experts = problem.top_k, problem.experts

    def layer() -> torch.Tensor:
        logits = linear(x, router)
        taken, chosen = logits.topk(top_k)
        weights = torch.softmax(taken, 1, dtype=torch.float32)
        owner = chosen.view(-1)
        order = owner.argsort(stable=True)
        ends = torch.bincount(owner, minlength=experts).cumsum(0).to(torch.int32)
        tokens = order // top_k
        rows = x[tokens]
        hidden = multiply(rows, up, offs=ends)
        if gate is None:
            hidden = hidden.relu_().square_()
        else:
            hidden = silu(multiply(rows, gate, offs=ends)).mul_(hidden)
        each = multiply(hidden, down, offs=ends).float() * weights.view(-1)[order, None]
        total = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
        return total.index_add_(0, tokens, each).to(x.dtype)

    newest = LatestOutput(layer)

    def reset() -> None:
        newest.reset()
        true_precision(precision, backend.device)

    notes = {
        "route": f"topk of the logits, softmax, argsort by expert, all matrices by {name}, sums in"
        " float32 by index_add_",
        "output": "allocated in every call",
    }
    prepared = Prepared(run=newest.run, reset=reset, output=newest.value, notes=notes)
    return assemble(backend, problem, precision, operation, drawn, prepared)
