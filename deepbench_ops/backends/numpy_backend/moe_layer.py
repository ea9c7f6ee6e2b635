"""Mixture-of-experts layers in numpy: a loop over the experts that have tokens."""

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import moe_layer as family
from deepbench_ops.backends.families.moe_layer import MoeInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.moe_layer import MoeLayer


def build(backend: Backend, problem: MoeLayer, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward pass in float32; raise Unsupported for everything else."""
    if precision != "float32":
        raise Unsupported(f"numpy has no BLAS products in {precision}")
    if operation == "backward":
        raise Unsupported("numpy has no gradients: the backward pass is not measured")
    drawn = family.inputs(problem, precision, seed)
    nothing = np.full(drawn.x.shape, np.nan, np.float32)
    newest = LatestOutput(lambda: _layer(problem, drawn), nothing)
    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=lambda: newest.output,
        notes={
            "route": "np.argpartition of the logits, then for each expert with tokens np.matmul"
            " through BLAS and a weighted addition to their rows",
            "output": "a new one in every call",
        },
        implementation=backend.implementation,
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _layer(problem: MoeLayer, drawn: MoeInputs) -> np.ndarray:
    x = drawn.x
    logits = x @ drawn.router.T
    kept = problem.experts - problem.top_k
    chosen = np.argpartition(logits, kept, axis=1)[:, kept:] if kept else _all(problem)
    taken = np.take_along_axis(logits, chosen, axis=1)
    powers = np.exp(taken - taken.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    owner = chosen.ravel()
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=problem.experts))
    y = np.zeros_like(x)
    for expert, (start, end) in enumerate(zip((0, *ends[:-1]), ends, strict=True)):
        if start == end:
            continue
        places = order[start:end]
        tokens = places // problem.top_k
        rows = x[tokens]
        hidden = rows @ drawn.up[expert].T
        if drawn.gate is None:
            np.maximum(hidden, 0, out=hidden)
            hidden *= hidden
        else:
            gate = rows @ drawn.gate[expert].T
            hidden *= gate / (1 + np.exp(-gate))
        y[tokens] += (hidden @ drawn.down[expert].T) * weights.ravel()[places, None]
    return y


def _all(problem: MoeLayer) -> np.ndarray:
    """Return the numbers of all experts for each token, tokens x experts."""
    return np.tile(np.arange(problem.experts), (problem.tokens, 1))
