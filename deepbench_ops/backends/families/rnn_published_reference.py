"""References of the published passes: whole for small problems, by single steps for large ones.

At full size a recurrence in float64 takes minutes. A single step takes one dot product for each
gate of an entry, if it starts from the kernel's own values one step before. Each step is compared
on its own in this way, so an error is found at the step that makes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends.families.propagated_errors import (
    MULTIPLIER_ERROR,
    Bounded,
    chosen,
    exact,
    stacked,
    summed,
)
from deepbench_ops.backends.families.rnn_cells import (
    ORDER,
    StepValues,
    gradient,
    joined,
    single,
    split,
    step,
)
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.kernel import Index, Read
from deepbench_ops.backends.tolerance import allowed

WINDOW = 128
"""Number of steps over which the cell state of an LSTM, or a gradient that does not go through the
product, is computed for a single entry. The unknown value at the start of the window is multiplied
by a gate's value in each step, and the rest of it counts as error."""

MOST_UNKNOWN = 1e6
"""Largest magnitude of the unknown value at the start of the window."""


@dataclass(frozen=True)
class StepwiseForward:
    """Reference of the hidden states of all steps, (T, N, H), from first states and input
    products."""

    inputs: RnnInputs
    own: Read | None = None
    """Function that reads the hidden states that the kernel computed."""

    order: ClassVar[Mapping[str, tuple[str, ...]]] = ORDER
    relu: ClassVar[bool] = True
    """Whether the output function of vanilla and GRU is ReLU, as published, instead of tanh."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the output, (T, N, H)."""
        p = self.inputs.problem
        return p.timesteps, p.batch, p.hidden

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of the whole recurrence, for small problems."""
        states = stacked([hidden for hidden, _ in self.history()])
        return states.value, states.error

    def history(self) -> list[tuple[Bounded, StepValues]]:
        """Return, for each step, the hidden state and the values that a backward pass needs."""
        drawn, kind = self.inputs, self.inputs.problem.cell
        weights = self.weights.astype(np.float64)
        columns = np.arange(weights.shape[1])
        hidden = exact(drawn.first_hidden, drawn.precision)
        cell = exact(drawn.first_cell, drawn.precision)
        past = []
        for t in range(drawn.problem.timesteps):
            x = self.input_products(t)
            p = self.biased(hidden.product(weights, x.value), columns)
            x_gates, p_gates = split(x, self.order[kind]), split(p, self.order[kind])
            hidden, cell, kept = step(kind, self.relu, x_gates, p_gates, hidden, cell)
            past.append((hidden, kept))
        return past

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at entries (step, sequence, unit), from the kernel's hidden
        states one step before.

        The LSTM's cell state is no output of the kernel. It is computed over the WINDOW of steps
        before, for the units of the entries alone.
        """
        assert self.own is not None
        steps, rows, units = index
        drawn, kind = self.inputs, self.inputs.problem.cell
        columns = units[:, None] + drawn.problem.hidden * np.arange(drawn.problem.gates)
        weights = self.weights.T[columns].astype(np.float64)
        start = np.maximum(steps - WINDOW, 0) if kind == "lstm" else steps
        hidden = exact(drawn.first_hidden[rows, units], drawn.precision)
        cell = values_where_known(drawn.first_cell[rows, units], start == 0, drawn.precision)
        for ahead in range(int((steps - start).max()) + 1):
            at = np.minimum(start + ahead, steps)
            before = self.states_before(at, rows)
            x = self.input_products_at(at, rows, columns)
            p = exact(before, drawn.precision).dot(weights, x.value)
            previous = exact(before[np.arange(len(units)), units], drawn.precision)
            x_gates = single(x, self.order[kind])
            p_gates = single(self.biased(p, columns), self.order[kind])
            after, after_cell, _ = step(kind, self.relu, x_gates, p_gates, previous, cell)
            going = start + ahead <= steps
            hidden, cell = chosen(going, after, hidden), chosen(going, after_cell, cell)
        return hidden.value, hidden.error

    def states_before(self, steps: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the hidden states before `steps`, (entries, H): the kernel's own, or the first."""
        assert self.own is not None
        states = self.own((np.maximum(steps - 1, 0), rows))
        states[steps == 0] = self.inputs.first_hidden[rows[steps == 0]]
        return states

    @property
    def weights(self) -> np.ndarray:
        """Recurrent weights, (H, G·H)."""
        return self.inputs.recurrent

    def input_products(self, t: int) -> Bounded:
        """Return the input's contribution to the gates of step `t`, (N, G·H)."""
        return exact(self.inputs.products[t], self.inputs.precision)

    def input_products_at(
        self, steps: np.ndarray, rows: np.ndarray, columns: np.ndarray
    ) -> Bounded:
        """Return the input's contribution at single entries, (entries, G)."""
        drawn = self.inputs
        return exact(drawn.products[steps[:, None], rows[:, None], columns], drawn.precision)

    def biased(self, products: Bounded, columns: np.ndarray) -> Bounded:
        """Return the recurrent products of `columns`, plus the recurrent bias of layers with
        one."""
        return products


@dataclass(frozen=True)
class ProductGradients:
    """Reference of the gradients of the recurrent products of all steps, (T, N, G·H)."""

    inputs: RnnInputs
    own: Read | None = None
    """Function that reads these gradients as the kernel computed them."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the output, (T, N, G·H)."""
        p = self.inputs.problem
        return p.timesteps, p.batch, p.gates * p.hidden

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of the whole pass, for small problems."""
        whole = self.history()
        return whole.value, whole.error

    def history(self) -> Bounded:
        """Return the gradients of all steps, each from those of the step after."""
        drawn, kind = self.inputs, self.inputs.problem.cell
        turned = drawn.recurrent.astype(np.float64).T
        upstream = exact(drawn.upstream, drawn.precision)
        dh, dc = upstream[-1], exact(0 * drawn.upstream[-1], drawn.precision)
        found = []
        for t in reversed(range(drawn.problem.timesteps)):
            _, dp, passed, dc = gradient(kind, True, self._kept((t,)), dh, dc)
            found.append(joined(dp, ORDER[kind]))
            if t:
                added = upstream[t - 1] if passed is None else upstream[t - 1] + passed
                dh = added + found[-1].product(turned, added.value)
        return stacked(found[::-1])

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at entries (step, sequence, column), from the kernel's
        gradients one step later."""
        assert self.own is not None
        steps, rows, columns = index
        drawn, problem = self.inputs, self.inputs.problem
        units = columns % problem.hidden
        weights = drawn.recurrent[units].astype(np.float64)[:, None, :]
        last = problem.timesteps - 1
        start = np.minimum(steps + (WINDOW if problem.cell != "vanilla" else 0), last)
        passed = values_where_known(np.zeros(len(units)), start == last, drawn.precision)
        dc, found = passed, passed
        for back in range(int((start - steps).max()) + 1):
            at = np.maximum(start - back, steps)
            after = self.own((np.minimum(at + 1, last), rows))
            after[at == last] = 0
            added = exact(drawn.upstream[at, rows, units], drawn.precision)
            if problem.cell == "gru":
                added = added + passed
            carried = exact(after, drawn.precision).dot(weights, added.value[:, None])
            kept = self._kept((at, rows, units))
            _, dp, by, new_dc = gradient(problem.cell, True, kept, added + carried[:, 0], dc)
            going = start - back >= steps
            whole = stacked([dp[name] for name in ORDER[problem.cell]])
            wanted = whole[columns // problem.hidden, np.arange(len(units))]
            found, dc = chosen(going, wanted, found), chosen(going, new_dc, dc)
            passed = passed if by is None else chosen(going, by, passed)
        return found.value, found.error

    def _kept(self, where: tuple[Any, ...]) -> StepValues:
        """Return the values of the forward pass at (step,) or at (steps, sequences, units)."""
        drawn, kind = self.inputs, self.inputs.problem.cell

        def read(array: np.ndarray) -> Bounded:
            return exact(array[where], drawn.precision)

        if kind == "vanilla":
            return StepValues({"h": read(drawn.hidden[1:])}, read(drawn.hidden[:-1]))
        parts = np.split(drawn.gates, drawn.problem.gates, axis=-1)
        gates = {name: read(part) for name, part in zip(ORDER[kind], parts, strict=True)}
        if kind == "lstm":
            return StepValues(gates, read(drawn.cells[:-1]), cell=read(drawn.cells[1:]))
        return StepValues(gates, read(drawn.hidden[:-1]), product=read(drawn.output_products))


@dataclass(frozen=True)
class StepwiseBackward:
    """Reference of the gradient of the recurrent weights, (H, G·H).

    At full size its entries are sums over the kernel's own gradients of the products.
    """

    gradients: ProductGradients

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (H, G·H)."""
        p = self.gradients.inputs.problem
        return p.hidden, p.gates * p.hidden

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of the whole pass, for small problems."""
        drawn = self.gradients.inputs
        whole = summed(self.gradients.history(), exact(drawn.hidden[:-1], drawn.precision))
        return whole.value, whole.error

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at entries (unit, column)."""
        assert self.gradients.own is not None
        drawn, problem = self.gradients.inputs, self.gradients.inputs.problem
        units, columns = index
        gradients = self.gradients.own((slice(None), slice(None), columns))
        products = gradients * drawn.hidden[:-1][:, :, units].astype(np.float64)
        value = products.sum(axis=(0, 1))
        wander = np.sqrt((products**2).sum(axis=(0, 1)))
        terms = problem.timesteps * problem.batch
        error = allowed(drawn.precision, terms, wander, np.abs(value))
        return value, error + 2 * MULTIPLIER_ERROR.get(drawn.precision, 0.0) * wander


def values_where_known(values: np.ndarray, known: np.ndarray, precision: str) -> Bounded:
    """Return `values` without error where `known`, and 0 with the error MOST_UNKNOWN elsewhere."""
    wide = np.asarray(values, dtype=np.float64)
    return Bounded(np.where(known, wide, 0.0), np.where(known, 0.0, MOST_UNKNOWN), precision)
