"""torch's own recurrent layers, as users call them: torch.nn.LSTM, GRU and RNN, one layer each.

They compute the input products and add two biases; the output function is tanh. torch chooses the
library: oneDNN for an LSTM on the CPU, cuDNN on a GPU, else its own code.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from deepbench_ops.backends.families.rnn import HIDDEN_STATES
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.kernel_assembly import Prepared
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision

LAYERS = {"vanilla": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def forward(backend: TorchDevice, drawn: RnnInputs) -> Prepared:
    """Prepare the forward pass, layer(sequence, first states), without autograd."""
    layer, operands = _layer(backend, drawn)
    held: dict[str, Tensor] = {}

    def run() -> None:
        with torch.no_grad():
            held["output"] = layer(*operands)[0]

    return Prepared(
        run=run,
        reset=_clearing(held, drawn.precision, backend.device),
        output=lambda: held["output"],
        notes={"route": f"torch.nn.{type(layer).__name__}, no_grad"},
    )


def backward(backend: TorchDevice, drawn: RnnInputs) -> Prepared:
    """Prepare the gradients of all weights; the forward pass runs once, before."""
    layer, operands = _layer(backend, drawn)
    upstream = backend.tensor(drawn.upstream, DTYPES[drawn.precision])
    output = layer(*operands)[0]
    weights = [layer.weight_ih_l0, layer.bias_ih_l0, layer.weight_hh_l0, layer.bias_hh_l0]
    held: dict[str, tuple[Tensor, ...]] = {}

    def run() -> None:
        held["output"] = torch.autograd.grad(output, weights, upstream, retain_graph=True)

    def stacked() -> Tensor:
        w_in, b_in, w_hidden, b_hidden = held["output"]
        return torch.cat([w_in.t(), b_in[None], w_hidden.t(), b_hidden[None]])

    route = f"torch.autograd.grad of torch.nn.{type(layer).__name__}'s weights, graph retained"
    return Prepared(
        run=run,
        reset=_clearing(held, drawn.precision, backend.device),
        output=stacked,
        intermediate={HIDDEN_STATES: output.detach},
        notes={"route": route},
    )


def _layer(backend: TorchDevice, drawn: RnnInputs) -> tuple[Any, tuple[Any, ...]]:
    """Return the layer with the drawn weights, and its arguments."""
    dtype, size = DTYPES[drawn.precision], drawn.problem.hidden
    kind = LAYERS[drawn.problem.cell]
    layer: Any = kind(size, size, device="meta", dtype=dtype)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    for name, values in zip(names, drawn.layer, strict=True):
        # Module.to_empty would import sympy, which takes longer than everything else here.
        empty = torch.empty(values.shape, dtype=dtype, device=backend.device)
        setattr(layer, name, torch.nn.Parameter(empty.copy_(backend.tensor(values, dtype))))
    layer.flatten_parameters()
    sequence, hidden = (
        backend.tensor(values, dtype) for values in (drawn.sequence, drawn.first_hidden[None])
    )
    if drawn.problem.cell == "lstm":
        return layer, (sequence, (hidden, backend.tensor(drawn.first_cell[None], dtype)))
    return layer, (sequence, hidden)


def _clearing(held: dict[str, Any], precision: str, device: str) -> Callable[[], None]:
    """Return a reset: it drops the output and sets the process-wide switches for the precision."""

    def clear() -> None:
        true_precision(precision, device)
        held.clear()

    return clear
