"""The three cells in float64: one step forward, one step of its gradient.

A cell's gates are arrays by name; each function takes the product with the last hidden state and,
apart from it, the contribution of the input, and works on whole states as on single entries.

vanilla   h = f(x + p), f being ReLU or, in a vendor's layer, tanh
lstm      o, i, f = sigmoid(x + p), g = tanh(x + p); c' = f c + i g; h = o tanh(c'); no peepholes
gru       r, z = sigmoid(x + p), n = f(x + r p); h' = (1 - z) n + z h, with f as for vanilla

The GRU applies its reset gate to the product, not to the state before it: so do cuDNN, which
DeepBench's programs called, and torch, and so all gates' products are a single one.
"""

from dataclasses import dataclass

import numpy as np

from deepbench_ops.backends.families.propagated_errors import Bounded

Gates = dict[str, Bounded]

ORDER = {"vanilla": ("h",), "lstm": ("o", "i", "f", "g"), "gru": ("r", "z", "n")}
"""The order in which the recurrent part's gates are stored: sigmoids together, and those of
the LSTM that share the cell state's gradient."""

FUSED_ORDER = {"vanilla": ("h",), "lstm": ("i", "f", "g", "o"), "gru": ("r", "z", "n")}
"""torch's order, and cuDNN's but for names."""


@dataclass(frozen=True)
class StepValues:
    """Values of a step that its gradient needs: gates after their functions, and both states.

    `before` is the hidden state that it started from (of the LSTM the cell state), `cell` the
    LSTM's new cell state, `product` the GRU's recurrent product of its output gate.
    """

    gates: Gates
    before: Bounded
    cell: Bounded | None = None
    product: Bounded | None = None


def step(
    cell: str, relu: bool, x: Gates, p: Gates, hidden: Bounded, cell_state: Bounded
) -> tuple[Bounded, Bounded, StepValues]:
    """Return (hidden state, cell state, what is kept); the cell state is the LSTM's alone."""
    if cell == "vanilla":
        state = _output(x["h"] + p["h"], relu)
        return state, cell_state, StepValues({"h": state}, hidden)
    if cell == "lstm":
        gates = {name: (x[name] + p[name]).sigmoid() for name in "oif"}
        gates["g"] = (x["g"] + p["g"]).tanh()
        after = gates["f"] * cell_state + gates["i"] * gates["g"]
        return gates["o"] * after.tanh(), after, StepValues(gates, cell_state, cell=after)
    gates = {name: (x[name] + p[name]).sigmoid() for name in "rz"}
    gates["n"] = _output(x["n"] + gates["r"] * p["n"], relu)
    state = gates["n"] + gates["z"] * (hidden - gates["n"])
    return state, cell_state, StepValues(gates, hidden, product=p["n"])


def gradient(
    cell: str, relu: bool, kept: StepValues, dh: Bounded, dc: Bounded
) -> tuple[Gates, Gates, Bounded | None, Bounded]:
    """Return the gradients of x, of p, of the hidden state by the way past p (or None), and of c.

    `dh` is the whole gradient of the step's hidden state, `dc` the gradient of the LSTM's new
    cell state from the step after.
    """
    gates = kept.gates
    if cell == "vanilla":
        dx = {"h": dh * _slope(gates["h"], relu)}
        return dx, dx, None, dc
    if cell == "lstm":
        assert kept.cell is not None
        o, i, f, g = (gates[name] for name in ORDER["lstm"])
        squashed = kept.cell.tanh()
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


def _output(values: Bounded, relu: bool) -> Bounded:
    return values.relu() if relu else values.tanh()


def _slope(output: Bounded, relu: bool) -> Bounded:
    """Return the derivative of the output's function, from its value."""
    return output.positive() if relu else output.slope_of_tanh()


def split(whole: Bounded, names: tuple[str, ...]) -> Gates:
    """Return the gates of arrays (..., G·H) by name."""
    size = whole.value.shape[-1] // len(names)
    return {name: whole[..., i * size : (i + 1) * size] for i, name in enumerate(names)}


def single(whole: Bounded, names: tuple[str, ...]) -> Gates:
    """Return the gates of arrays (entries, G) by name."""
    return {name: whole[:, i] for i, name in enumerate(names)}


def joined(gates: Gates, names: tuple[str, ...]) -> Bounded:
    """Return the arrays (..., G·H) that hold the gates in the order of `names`."""
    values, errors = (
        np.concatenate([getattr(gates[name], part) for name in names], axis=-1)
        for part in ("value", "error")
    )
    return Bounded(values, errors, gates[names[0]].precision)
