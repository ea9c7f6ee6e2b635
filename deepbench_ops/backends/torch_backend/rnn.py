"""Recurrent layers in torch: the published passes step by step, and torch's own layers.

The published passes are the loops of `rnn_steps`, compiled by TorchScript, which avoids Python in
each step: it saves a tenth of the time of small steps and nothing of large ones. torch.compile of a
step was slower than both, and takes seconds to compile for every problem. All tensors that a step
reads or writes are made here, outside the timed region.
"""

import warnings
from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor

from deepbench_ops.backends.families import rnn
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.torch_backend import rnn_fused, rnn_steps
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.problems.rnn import Rnn

BLOCK_ELEMENTS = 2**16
"""Number of gate entries whose factors a backward pass computes at once."""

ROUTE = "loop over torch's operations in TorchScript, results into buffers; "
ROUTES = {
    ("forward", "vanilla"): ROUTE + "a step is addmm, relu_",
    ("forward", "lstm"): ROUTE + "a step is addmm for all gates and six elementwise operations",
    ("forward", "gru"): ROUTE + "a step is mm for all gates and five elementwise operations",
    ("backward", "vanilla"): ROUTE + "a step is addmm, mul_; one mm over all steps for dR",
    ("backward", "lstm"): ROUTE + "a step is addmm and four elementwise operations, the factors of"
    " some steps made at once; one mm over all steps for dR",
    ("backward", "gru"): ROUTE + "a step is addmm and two elementwise operations, the factors of"
    " some steps made at once; one mm over all steps for dR",
}


def build(backend: TorchDevice, problem: Rnn, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare one of the passes; fused passes are those of torch's own layer."""
    drawn = rnn.inputs(problem, precision, seed)
    true_precision(precision, backend.device)
    makers = {
        "forward": _forward,
        "backward": _backward,
        "fused_forward": rnn_fused.forward,
        "fused_backward": rnn_fused.backward,
    }
    prepared = makers[operation](backend, drawn)
    return assemble(backend, problem, precision, operation, drawn, prepared)


@cache
def scripted(name: str) -> Callable[..., object]:
    """Return a loop of `rnn_steps`, compiled by TorchScript."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # that a later release will not have it
        return torch.jit.script(getattr(rnn_steps, name))


def _forward(backend: TorchDevice, drawn: RnnInputs) -> Prepared:
    states, arguments = forward_operands(backend, drawn)
    output = states[1:]
    return Prepared(
        run=partial(scripted(f"{drawn.problem.cell}_forward"), *arguments),
        reset=partial(_clear, output, drawn.precision),
        output=lambda: output,
        notes={"route": ROUTES["forward", drawn.problem.cell]},
    )


def forward_operands(backend: TorchDevice, drawn: RnnInputs) -> tuple[Tensor, tuple[object, ...]]:
    """Return the hidden states, (T + 1, N, H), and the arguments of the cell's loop."""
    problem, dtype = drawn.problem, DTYPES[drawn.precision]
    weights = backend.tensor(drawn.recurrent, dtype)
    products = backend.tensor(drawn.products, dtype)
    first = backend.tensor(drawn.first_hidden, dtype)
    states = first.new_empty((problem.timesteps + 1, *first.shape))
    states[0] = first
    h, size = list(states), problem.hidden
    if problem.cell == "vanilla":
        return states, (list(products), h, weights)
    a = first.new_empty((problem.batch, problem.gates * size))
    gates, scratch = list(a.chunk(problem.gates, 1)), torch.empty_like(first)
    if problem.cell == "gru":
        x_rz, x_n = products[:, :, : 2 * size], products[:, :, 2 * size :]
        return states, (list(x_rz), list(x_n), h, weights, a, a[:, : 2 * size], gates, scratch)
    cell = backend.tensor(drawn.first_cell, dtype)
    sigmoids = a[:, : 3 * size]
    more = (cell, a, sigmoids, gates, torch.empty_like(cell), scratch)
    return states, (list(products), h, weights, *more)


def _backward(backend: TorchDevice, drawn: RnnInputs) -> Prepared:
    gradients, output, arguments = backward_operands(backend, drawn)
    return Prepared(
        run=partial(scripted(f"{drawn.problem.cell}_backward"), *arguments),
        reset=partial(_clear, output, drawn.precision),
        output=lambda: output,
        further={rnn.PRODUCT_GRADIENTS: lambda: gradients},
        notes={"route": ROUTES["backward", drawn.problem.cell]},
    )


def backward_operands(
    backend: TorchDevice, drawn: RnnInputs
) -> tuple[Tensor, Tensor, tuple[object, ...]]:
    """Return buffers for the gradients of the products and of R, and the arguments of the cell's
    loop."""
    problem, dtype = drawn.problem, DTYPES[drawn.precision]
    steps, batch, size = problem.timesteps, problem.batch, problem.hidden
    weights = backend.tensor(drawn.recurrent, dtype)
    upstream = list(backend.tensor(drawn.upstream, dtype))
    hidden = backend.tensor(drawn.hidden, dtype)
    output = torch.empty_like(weights)
    # Touch the memory now: a long kernel is timed from its first call on.
    dg = weights.new_full((steps, batch, problem.gates * size), float("nan"))
    block = min(steps, max(1, BLOCK_ELEMENTS // dg[0].numel()))
    ends = (output, block)
    if problem.cell == "vanilla":
        return dg, output, (upstream, hidden, weights.t(), dg, list(dg), *ends)
    gates = backend.tensor(drawn.gates, dtype)
    parts = gates.view(steps, batch, problem.gates, size)
    dg_parts = dg.view(steps, batch, problem.gates, size)
    if problem.cell == "gru":
        product = backend.tensor(drawn.output_products, dtype)
        z = list(parts[:, :, 1])
        kept = (upstream, hidden, gates, product, z)
        return dg, output, (*kept, weights.t(), dg, list(dg), list(dg_parts), *ends)
    cells = backend.tensor(drawn.cells, dtype)
    forget = list(parts[:, :, 2])
    by_hidden, by_cell = list(dg_parts[:, :, 0]), list(dg_parts[:, :, 1:])
    lstm_kept = (upstream, hidden, cells, gates, forget)
    return dg, output, (*lstm_kept, weights.t(), dg, list(dg), by_hidden, by_cell, *ends)


def _clear(output: Tensor, precision: str) -> None:
    """Fill the output with NaN, and set the process-wide switches for the precision."""
    true_precision(precision, output.device.type)
    output.fill_(float("nan"))
