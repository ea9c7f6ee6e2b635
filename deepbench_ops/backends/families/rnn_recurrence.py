"""The published recurrences, for frameworks whose functions return new arrays.

They are written once, with ``+ - *``, slices and a few functions whose names differ between
frameworks. Each framework has its own loop over the steps. The gates of a state are blocks of H
columns in rows of G·H columns, in the order of `rnn_cells.ORDER`.

In a backward pass all factors that do not depend on the arriving gradient are computed for all
steps at once. A step is then a matrix product and a few multiplications.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deepbench_ops.backends.families.rnn_inputs import RnnInputs


@dataclass(frozen=True)
class Functions:
    """Functions of a framework, under common names."""

    matmul: Callable[[Any, Any], Any]
    sigmoid: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    relu: Callable[[Any], Any]
    sign: Callable[[Any], Any]
    joined: Callable[[list[Any]], Any]
    """Concatenation along the last axis."""


State = tuple[Any, ...]
"""Arrays of a framework: the hidden state, with the cell state of the LSTM; or several factors."""


def first_state(drawn: RnnInputs) -> State:
    """Return the state before the first step: hidden and, for the LSTM, cell state, (N, H) each."""
    if drawn.problem.cell == "lstm":
        return drawn.first_hidden, drawn.first_cell
    return (drawn.first_hidden,)


def forward_step(cell: str, size: int, f: Functions) -> Callable[[State, Any, Any], State]:
    """Return ``step(state, x, r)``, a function that returns the next state.

    size: H. x: input products, (N, G·H). r: recurrent weights, (H, G·H).
    """

    def vanilla(state: State, x: Any, r: Any) -> State:
        return (f.relu(f.matmul(state[0], r) + x),)

    def lstm(state: State, x: Any, r: Any) -> State:
        hidden, cell_state = state
        a = f.matmul(hidden, r) + x
        oif = f.sigmoid(a[:, : 3 * size])
        o, i, forget = oif[:, :size], oif[:, size : 2 * size], oif[:, 2 * size :]
        cell_state = forget * cell_state + i * f.tanh(a[:, 3 * size :])
        return o * f.tanh(cell_state), cell_state

    def gru(state: State, x: Any, r: Any) -> State:
        (hidden,) = state
        p = f.matmul(hidden, r)
        rz = f.sigmoid(p[:, : 2 * size] + x[:, : 2 * size])
        n = f.relu(x[:, 2 * size :] + rz[:, :size] * p[:, 2 * size :])
        return (n + rz[:, size:] * (hidden - n),)

    return {"vanilla": vanilla, "lstm": lstm, "gru": gru}[cell]


def saved_for_backward(drawn: RnnInputs) -> State:
    """Return the arrays of a forward pass that the backward pass needs, as arguments of
    `factors`."""
    if drawn.problem.cell == "vanilla":
        return (drawn.hidden,)
    if drawn.problem.cell == "lstm":
        return drawn.hidden, drawn.gates, drawn.cells
    return drawn.hidden, drawn.gates, drawn.output_products


def factors(cell: str, size: int, f: Functions) -> Callable[..., State]:
    """Return ``factors(*saved)``, a function that returns the factors of all steps for
    `backward_step`, each an array of T steps."""

    def vanilla(hidden: Any) -> State:
        return (f.sign(hidden[1:]),)

    def lstm(hidden: Any, gates: Any, cells: Any) -> State:
        o, i, forget, g = (gates[:, :, n * size : (n + 1) * size] for n in range(4))
        squashed = f.tanh(cells[1:])
        shown, admitted, forgot = o * squashed, i * g, cells[:-1] * forget
        return (
            shown - shown * o,
            admitted - admitted * i,
            forgot - forgot * forget,
            i - admitted * g,
            o - shown * squashed,
            forget,
        )

    def gru(hidden: Any, gates: Any, product: Any) -> State:
        r, z, n = (gates[:, :, part * size : (part + 1) * size] for part in range(3))
        slope = f.sign(n)
        into_n = (slope - slope * z) * r
        reset, moved = into_n * product, (hidden[:-1] - n) * z
        return reset - reset * r, moved - moved * z, into_n, z

    cells: dict[str, Callable[..., State]] = {"vanilla": vanilla, "lstm": lstm, "gru": gru}
    return cells[cell]


def backward_step(cell: str, f: Functions) -> Callable[[Any, Any, State], tuple[Any, Any]]:
    """Return ``step(dh, left, factors)``, a function that returns the gradient of the products,
    (N, G·H), and the gradient of the state before the step other than through the products.

    dh: whole gradient of this step's hidden state, (N, H). left: second result of the step after.
    It is the gradient of the LSTM's cell state, or a part of that of the GRU's hidden state, which
    the caller has added to dh. Vanilla has no such part.
    """

    def vanilla(dh: Any, left: Any, by: State) -> tuple[Any, Any]:
        return dh * by[0], left

    def lstm(dh: Any, left: Any, by: State) -> tuple[Any, Any]:
        for_o, for_i, for_f, for_g, to_cell, forget = by
        dc = left + dh * to_cell
        return f.joined([dh * for_o, dc * for_i, dc * for_f, dc * for_g]), dc * forget

    def gru(dh: Any, left: Any, by: State) -> tuple[Any, Any]:
        for_r, for_z, for_n, update = by
        return f.joined([dh * for_r, dh * for_z, dh * for_n]), dh * update

    return {"vanilla": vanilla, "lstm": lstm, "gru": gru}[cell]
