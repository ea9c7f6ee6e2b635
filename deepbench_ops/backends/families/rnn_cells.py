"""The three cells in float64: one step forward, and the gradient of one step.

The gates of a cell are arrays by name. Each function has two arguments for them: the recurrent
product p with the last hidden state, and the contribution x of the input. It works on whole states
and on single entries.

vanilla   h = f(x + p), f being ReLU or, in a vendor's layer, tanh
lstm      o, i, f = sigmoid(x + p), g = tanh(x + p); c' = f c + i g; h = o tanh(c'); no peepholes
gru       r, z = sigmoid(x + p), n = f(x + r p); h' = (1 - z) n + z h, with f as for vanilla

The GRU applies its reset gate to the product, not to the state before the product. cuDNN, which
DeepBench's programs called, and torch do the same. All gates' products are then a single product.
"""

from dataclasses import dataclass

import numpy as np

from deepbench_ops.backends.families.propagated_errors import Bounded

Gates = dict[str, Bounded]

ORDER = {"vanilla": ("h",), "lstm": ("o", "i", "f", "g"), "gru": ("r", "z", "n")}
"""Order in which the gates of published passes are stored: gates with a sigmoid together, and the
LSTM's gates that use the gradient of the cell state together."""

FUSED_ORDER = {"vanilla": ("h",), "lstm": ("i", "f", "g", "o"), "gru": ("r", "z", "n")}
"""Order of the gates in fused layers of torch, and of cuDNN, which has other names for them."""


FUNCTION_ERROR = 2.0**-16
"""Absolute error of tanh and sigmoid in a library's own layer. Layers of cuDNN 9.19 in float32 with
small states are off by up to 8e-6 on an NVIDIA H200; with ReLU by 2e-7."""


@dataclass(frozen=True)
class StepValues:
    """Values of a step that its gradient needs.

    gates: after their activation functions. before: hidden state before the step; for the LSTM the
    cell state. cell: new cell state, LSTM only. product: recurrent product of the output gate, GRU
    only.
    """

    gates: Gates
    before: Bounded
    cell: Bounded | None = None
    product: Bounded | None = None


def step(
    cell: str, relu: bool, x: Gates, p: Gates, hidden: Bounded, cell_state: Bounded
) -> tuple[Bounded, Bounded, StepValues]:
    """Return (hidden state, cell state, values for the gradient) after a step.

    relu: whether vanilla's and the GRU's output function is ReLU instead of tanh. x, p: input's
    contribution and recurrent product, by gate. Only the LSTM changes the cell state.
    """
    if cell == "vanilla":
        state = _output(x["h"] + p["h"], relu)
        return state, cell_state, StepValues({"h": state}, hidden)
    if cell == "lstm":
        gates = {name: _sigmoid(x[name] + p[name], relu) for name in "oif"}
        gates["g"] = _tanh(x["g"] + p["g"], relu)
        after = gates["f"] * cell_state + gates["i"] * gates["g"]
        return gates["o"] * _tanh(after, relu), after, StepValues(gates, cell_state, cell=after)
    gates = {name: _sigmoid(x[name] + p[name], relu) for name in "rz"}
    gates["n"] = _output(x["n"] + gates["r"] * p["n"], relu)
    state = gates["n"] + gates["z"] * (hidden - gates["n"])
    return state, cell_state, StepValues(gates, hidden, product=p["n"])


def gradient(
    cell: str, relu: bool, kept: StepValues, dh: Bounded, dc: Bounded
) -> tuple[Gates, Gates, Bounded | None, Bounded]:
    """Return the gradients of x, of p, of the hidden state before the step other than through p
    (None for none), and of the cell state before the step.

    kept: values of the step. dh: whole gradient of the step's hidden state. dc: gradient of the
    LSTM's new cell state, from the step after.
    """
    gates = kept.gates
    if cell == "vanilla":
        dx = {"h": dh * _slope(gates["h"], relu)}
        return dx, dx, None, dc
    if cell == "lstm":
        assert kept.cell is not None
        o, i, f, g = (gates[name] for name in ORDER["lstm"])
        squashed = _tanh(kept.cell, relu)
        shown = o * squashed
        dc = dc + dh * (o - shown * squashed)
        stored, forgot, admitted = g * i, kept.before * f, i * g
        dx = {
            "o": dh * (shown - shown * o),
            "i": dc * (stored - stored * i),
            "f": dc * (forgot - forgot * f),
            "g": dc * (i - admitted * g),
        }
        return dx, dx, None, dc * f
    assert kept.product is not None
    r, z, n = (gates[name] for name in ORDER["gru"])
    slope = _slope(n, relu)
    into_n = dh * (slope - slope * z)
    by_r = into_n * r
    reset = by_r * kept.product
    moved = (kept.before - n) * z
    dx = {"r": reset - reset * r, "z": dh * (moved - moved * z), "n": into_n}
    return dx, {**dx, "n": by_r}, dh * z, dc


def _sigmoid(values: Bounded, relu: bool) -> Bounded:
    """Return the sigmoid. relu: whether the pass is a published one, whose functions are exact."""
    found = values.sigmoid()
    return found if relu else found.off_by(FUNCTION_ERROR)


def _tanh(values: Bounded, relu: bool) -> Bounded:
    """Return the hyperbolic tangent; relu: as for `_sigmoid`."""
    found = values.tanh()
    return found if relu else found.off_by(FUNCTION_ERROR)


def _output(values: Bounded, relu: bool) -> Bounded:
    return values.relu() if relu else _tanh(values, relu)


def _slope(output: Bounded, relu: bool) -> Bounded:
    """Return the derivative of the output function, from the function's value."""
    return output.positive() if relu else output.slope_of_tanh()


def split(whole: Bounded, names: tuple[str, ...]) -> Gates:
    """Return the gates in arrays (..., G·H) by name, each (..., H)."""
    size = whole.value.shape[-1] // len(names)
    return {name: whole[..., i * size : (i + 1) * size] for i, name in enumerate(names)}


def single(whole: Bounded, names: tuple[str, ...]) -> Gates:
    """Return the gates in arrays (entries, G) by name, each (entries,)."""
    return {name: whole[:, i] for i, name in enumerate(names)}


def joined(gates: Gates, names: tuple[str, ...]) -> Bounded:
    """Return the gates in one array (..., G·H), in the order of `names`."""
    values, errors = (
        np.concatenate([getattr(gates[name], part) for name in names], axis=-1)
        for part in ("value", "error")
    )
    return Bounded(values, errors, gates[names[0]].precision)
