"""References of a framework's own recurrent layer, with input products, biases and tanh.

The forward pass is compared step by step, like the published one. The only outputs of the backward
pass are sums over all steps. At full size the reference computes these sums again from the layer's
own hidden states, in float32 with numpy's matrix product, which takes about the work of one call.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends.families.propagated_errors import (
    MULTIPLIER_ERROR,
    Bounded,
    exact,
    stacked,
    summed,
)
from deepbench_ops.backends.families.rnn_cells import (
    FUNCTION_ERROR,
    FUSED_ORDER,
    gradient,
    joined,
    split,
    step,
)
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.families.rnn_published_reference import StepwiseForward
from deepbench_ops.backends.kernel import Index, Read
from deepbench_ops.backends.tolerance import (
    ADDITION_ERROR,
    CONFIDENCE_FACTOR,
    UNIT_ROUNDOFF,
    allowed,
)
from deepbench_ops.problems.rnn import Rnn

ERROR_STEPS = 4.0
"""Number of steps over which the error of a gradient persists, as a factor on that of one step."""

CHUNK_NUMBERS = 2**22
"""Numbers of input or recurrent products that are computed at once."""

ROUNDINGS = 16
"""Number of times that a gradient is rounded in one step."""

CANCELLED_ROUNDINGS = 4
"""Number of roundings of values that later mostly cancel: the slope of tanh, 1 - y², is much
smaller than 1 and y² where y is near 1, but has the rounding error of these."""


@dataclass(frozen=True)
class FusedForward(StepwiseForward):
    """Reference of the hidden states of all steps, (T, N, H), from first states and inputs."""

    order: ClassVar = FUSED_ORDER
    relu: ClassVar = False

    @property
    def weights(self) -> np.ndarray:
        """The recurrent weights, (H, G·H)."""
        return self.inputs.layer[1].T

    def input_products(self, t: int) -> Bounded:
        """Return W·x + b of step `t`, (N, G·H)."""
        drawn = self.inputs
        weights, _, bias, _ = (part.astype(np.float64) for part in drawn.layer)
        products = exact(drawn.sequence[t], drawn.precision).product(weights.T, bias)
        return products + exact(bias, drawn.precision)

    def input_products_at(
        self, steps: np.ndarray, rows: np.ndarray, columns: np.ndarray
    ) -> Bounded:
        """Return W·x + b at single entries, (entries, G)."""
        drawn = self.inputs
        weights, _, bias, _ = drawn.layer
        wanted = exact(bias[columns], drawn.precision)
        inputs = exact(drawn.sequence[steps, rows], drawn.precision)
        return inputs.dot(weights[columns].astype(np.float64), wanted.value) + wanted

    def biased(self, products: Bounded, columns: np.ndarray) -> Bounded:
        """Return the recurrent products of `columns` with the recurrent bias added."""
        return products + exact(self.inputs.layer[3][columns], self.inputs.precision)


@dataclass(frozen=True)
class FusedBackward:
    """Reference of the gradients of all weights, transposed, in one array (2·H + 2, G·H).

    The rows are H of the input weights, one of the input bias, H of the recurrent weights, and one
    of the recurrent bias.
    """

    inputs: RnnInputs
    own: Read | None = None
    """Function that reads the hidden states of the layer's own forward pass, (T, N, H)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (2·H + 2, G·H)."""
        problem = self.inputs.problem
        return 2 * problem.hidden + 2, problem.gates * problem.hidden

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of the whole pass, forward included, for small problems."""
        drawn, kind = self.inputs, self.inputs.problem.cell
        order, precision = FUSED_ORDER[kind], drawn.precision
        past = FusedForward(drawn).history()
        weights = drawn.layer[1].astype(np.float64)
        upstream = exact(drawn.upstream, precision)
        dh, dc = upstream[-1], exact(0 * drawn.upstream[-1], precision)
        of_inputs, of_states = [], []
        for t, (_, kept) in reversed(list(enumerate(past))):
            dx, dp, passed, dc = gradient(kind, False, kept, dh, dc)
            of_inputs.append(joined(dx, order))
            of_states.append(joined(dp, order))
            if t:
                added = upstream[t - 1] if passed is None else upstream[t - 1] + passed
                dh = added + of_states[-1].product(weights, added.value)
        one = exact(np.ones((*drawn.sequence.shape[:2], 1)), precision)
        states = [exact(drawn.first_hidden, precision), *(hidden for hidden, _ in past[:-1])]
        dx_all, dp_all = stacked(of_inputs[::-1]), stacked(of_states[::-1])
        parts = [
            summed(dx_all, exact(drawn.sequence, precision)),
            summed(dx_all, one),
            summed(dp_all, stacked(states)),
            summed(dp_all, one),
        ]
        return (
            np.concatenate([part.value for part in parts]),
            np.concatenate([part.error for part in parts]),
        )

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at entries (row, column)."""
        drawn, problem = self.inputs, self.inputs.problem
        rows, columns = index
        before = self._states_before()
        of_inputs, of_states, parts = self._gradients(before, columns)
        hidden, ones = problem.hidden, np.ones(before.shape[:2], dtype=np.float32)
        sources = {False: drawn.sequence, True: before}
        summands = np.stack(
            [
                ones
                if row % (hidden + 1) == hidden
                else sources[bool(row > hidden)][:, :, row % (hidden + 1)]
                for row in rows
            ],
            axis=-1,
        )
        gradients = np.where(rows <= hidden, of_inputs, of_states)
        products = summands.astype(np.float64) * gradients
        value = products.sum(axis=(0, 1))
        wander = np.sqrt((products**2).sum(axis=(0, 1)))
        of_parts = np.sqrt(((summands * parts) ** 2).sum(axis=(0, 1)))
        terms = problem.timesteps * problem.batch
        by_sum = allowed(drawn.precision, terms, wander, np.abs(value))
        by_float32 = allowed("float32", terms, wander, np.abs(value))
        a_step = CONFIDENCE_FACTOR * np.sqrt(2 * self.shape[1]) * ADDITION_ERROR[drawn.precision]
        a_step += ROUNDINGS * UNIT_ROUNDOFF[drawn.precision] + FUNCTION_ERROR
        a_step += 2 * MULTIPLIER_ERROR.get(drawn.precision, 0.0)
        by_parts = CANCELLED_ROUNDINGS * UNIT_ROUNDOFF[drawn.precision] * of_parts
        return value, by_sum + by_float32 + by_parts + ERROR_STEPS * a_step * wander

    def _states_before(self) -> np.ndarray:
        """The layer's own hidden states before each step, (T, N, H), as float32."""
        assert self.own is not None
        after = self.own((slice(None),) * 3)[:-1]
        return np.asarray(np.concatenate([self.inputs.first_hidden[None], after]), np.float32)

    def _gradients(self, before: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the gradients of input and of recurrent products, and bounds of the terms that
        cancel in them; each (T, N, columns)."""
        drawn, kind = self.inputs, self.inputs.problem.cell
        order = FUSED_ORDER[kind]
        w_in, w_hidden, b_in, b_hidden = (np.asarray(part, np.float32) for part in drawn.layer)
        cell: Any = np.asarray(drawn.first_cell, np.float32).view(PlainArray)
        past = []
        for steps in _step_chunks(drawn.problem):
            xs: Any = _products(drawn.sequence[steps], w_in, b_in)
            ps: Any = _products(before[steps], w_hidden, b_hidden)
            for x, p, state in zip(xs, ps, before[steps], strict=True):
                named = split(x, order), split(p, order)
                _, cell, kept = step(kind, False, *named, state.view(PlainArray), cell)
                past.append(kept)
        upstream = np.asarray(drawn.upstream, np.float32).view(PlainArray)
        dh: Any = upstream[-1]
        dc: Any = 0 * dh
        found = []
        units = columns % drawn.problem.hidden
        for t in reversed(range(len(past))):
            kept = past.pop()
            parts = np.abs(dh) + np.abs(dc)  # gates and slopes are at most 1
            product: Any = kept.product
            if product is not None:
                parts = parts * np.maximum(np.abs(product), 1)
            dx, dp, passed, dc = gradient(kind, False, kept, dh, dc)
            of_state = np.concatenate([dp[name] for name in order], axis=-1)
            of_input = of_state if dx is dp else np.concatenate([dx[g] for g in order], axis=-1)
            found.append([of_input[:, columns], of_state[:, columns], parts[:, units]])
            if t:
                dh = (upstream[t - 1] + of_state @ w_hidden).view(PlainArray)
                dh = dh if passed is None else dh + passed
        return tuple(np.stack(each) for each in zip(*found[::-1], strict=True))


def _step_chunks(problem: Rnn) -> list[slice]:
    """Return slices of steps whose products with a matrix are computed at once.

    The product of a single step with few sequences would mostly wait for the weights from memory.
    """
    length = max(1, CHUNK_NUMBERS // (problem.batch * problem.gates * problem.hidden))
    return [slice(t, t + length) for t in range(0, problem.timesteps, length)]


def _products(states: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Return states (T, N, H) times weights (G·H, H) plus bias, (T, N, G·H), in float32."""
    rows = np.asarray(states, np.float32).reshape(-1, states.shape[-1])
    products = rows @ weights.T
    products += bias
    return products.reshape(*states.shape[:2], -1).view(PlainArray)


class PlainArray(np.ndarray):
    """An array with the methods of `Bounded` that a cell calls, but without allowed errors."""

    @property
    def value(self) -> "PlainArray":
        return self

    def off_by(self, error: float) -> "PlainArray":
        return self

    def sigmoid(self) -> Any:
        return 0.5 + 0.5 * np.tanh(0.5 * self)

    def tanh(self) -> Any:
        return np.tanh(self)

    def slope_of_tanh(self) -> Any:
        return 1 - self * self
