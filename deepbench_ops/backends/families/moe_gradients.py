"""Gradients of a mixture-of-experts layer in float64, with the error allowed at each entry.

As in frameworks, each product, activation and gradient may be stored in the precision of the
operands. Rows of an expert, and of its tokens, are computed only where a requested entry needs
them. The router's gradient needs the outputs of all chosen experts for all tokens.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deepbench_ops.backends.families.gated_mlp import LARGEST_CURVATURE, LARGEST_SLOPE, silu
from deepbench_ops.backends.families.operands import RowReference
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, summed
from deepbench_ops.backends.kernel import Index, Reference, widened
from deepbench_ops.backends.tolerance import LIBRARY_ERROR, UNIT_ROUNDOFF
from deepbench_ops.problems.moe_layer import MoeLayer

NAMES = {"": "x", "router_gradient": "router", "up_gradient": "up", "down_gradient": "down"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""

GATE = {"gate_gradient": "gate"}
"""Further output of layers with a gate."""

ALL = slice(None)
"""Index of all rows or columns."""


def names(problem: MoeLayer) -> dict[str, str]:
    """Return the outputs of the backward pass, each with the operand whose gradient it is."""
    return NAMES | (GATE if problem.activation == "swiglu" else {})


def references(
    problem: MoeLayer, inputs: Any, precision: str, weights: Callable[[np.ndarray], Bounded]
) -> dict[str, Reference]:
    """Return the references of all gradients, by output.

    weights: function from token numbers to the router's weights p of their chosen experts.
    """
    truth = Gradients(problem, inputs, precision, weights)
    p, terms = problem, 3 * problem.flops // (2 * problem.tokens)
    rows: dict[str, Reference] = {
        "": TokenGradient((p.tokens, p.hidden), truth.of_tokens, None, terms),
        "router_gradient": RowReference((p.experts, p.hidden), truth.of_router, None),
    }
    return rows | {
        name: MatrixGradient(truth, operand)
        for name, operand in names(problem).items()
        if name not in rows
    }


@dataclass(frozen=True)
class TokenGradient(RowReference):
    """Reference of the gradient of x.

    entry_terms: number of products that an entry takes, those of its token with all chosen experts,
    forward and backward.
    """

    entry_terms: int


@dataclass(frozen=True)
class MatrixGradient:
    """Reference of the gradient of all experts' matrices `name`: up, gate or down."""

    truth: "Gradients"
    name: str

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the matrices, (experts, outputs, inputs)."""
        experts, outputs, inputs = getattr(self.truth.inputs, self.name).shape
        return experts, outputs, inputs

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed); for small problems."""
        found = [self.truth.of_matrix(self.name, expert, ALL) for expert in range(self.shape[0])]
        return np.stack([each.value for each in found]), np.stack([each.error for each in found])

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        experts, rows, columns = index
        expected, allowed = np.empty(len(experts)), np.empty(len(experts))
        inner_axis = columns if self.name == "down" else rows
        for expert in np.unique(experts):
            mine = np.flatnonzero(experts == expert)
            wanted, place = np.unique(inner_axis[mine], return_inverse=True)
            found = self.truth.of_matrix(self.name, int(expert), wanted)
            place = place.reshape(-1)
            where = (rows[mine], place) if self.name == "down" else (place, columns[mine])
            expected[mine], allowed[mine] = found.value[where], found.error[where]
        return expected, allowed


@dataclass(frozen=True)
class Gradients:
    """Gradients of some tokens, some experts, or some inner columns of an expert."""

    problem: MoeLayer
    inputs: Any
    precision: str
    weights: Callable[[np.ndarray], Bounded]

    @cached_property
    def p(self) -> Bounded:
        """The router's weights of the chosen experts, tokens x top_k."""
        return self.weights(np.arange(self.problem.tokens))

    def of_tokens(self, tokens: np.ndarray) -> Bounded:
        """Rows of the gradient of x: the sum of those through the router and through each
        expert."""
        total = self.of_logits[tokens].product(widened(self.inputs.router), np.zeros(1))
        for expert, mine, places in self._takers(tokens):
            back = self._backward(expert, tokens[mine], places, ALL)
            for name in (name for name in ("up", "gate") if name in back):
                part = back[name].product(self._matrix(name, expert), np.zeros(1))
                added = total[mine] + part
                total.value[mine], total.error[mine] = added.value, added.error
        return total

    def of_router(self, experts: np.ndarray) -> Bounded:
        """Rows of the gradient of the router's matrix."""
        return summed(self._x(np.arange(self.problem.tokens)), self.of_logits[:, experts])

    def of_matrix(self, name: str, expert: int, columns: Any) -> Bounded:
        """Gradient of an expert's matrix `name`: some inner rows of up or gate, or columns of
        down."""
        tokens, places = np.nonzero(self.inputs.chosen == expert)
        if name == "down":
            hidden = self._inner(expert, tokens, columns)["hidden"]
            return summed(hidden, self._arriving(tokens, places))
        return summed(self._x(tokens), self._backward(expert, tokens, places, columns)[name])

    @cached_property
    def of_logits(self) -> Bounded:
        """Gradient of the router's logits, tokens x experts, zero for experts that are not
        chosen."""
        shape = self.inputs.chosen.shape
        of_p = Bounded(np.empty(shape), np.empty(shape), self.precision)
        for expert, tokens, places in self._takers(np.arange(self.problem.tokens)):
            hidden = self._inner(expert, tokens, ALL)["hidden"]
            y = hidden.product(self._matrix("down", expert).T, np.zeros(1))
            each = (y * self._dy(tokens)).sum()
            of_p.value[tokens, places] = each.value[:, 0]
            of_p.error[tokens, places] = each.error[:, 0]
        chosen = self.p * (of_p - (self.p * of_p).sum())
        dense = exact(np.zeros((self.problem.tokens, self.problem.experts)), self.precision)
        np.put_along_axis(dense.value, self.inputs.chosen, chosen.value, 1)
        np.put_along_axis(dense.error, self.inputs.chosen, chosen.error, 1)
        return dense

    def _takers(self, tokens: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield each chosen expert, the positions in `tokens` of the tokens that chose it, and its
        position among the choices of each of them."""
        chosen = self.inputs.chosen[tokens]
        for expert in np.unique(chosen):
            mine, places = np.nonzero(chosen == expert)
            yield int(expert), mine, places

    def _backward(
        self, expert: int, tokens: np.ndarray, places: np.ndarray, columns: Any
    ) -> dict[str, Bounded]:
        """Gradients of up·x and gate·x at some inner columns: tokens x columns."""
        inner = self._inner(expert, tokens, columns)
        down = widened(self.inputs.down[expert][:, columns])
        arriving = self._arriving(tokens, places).product(down, np.zeros(1))
        if self.inputs.gate is None:
            positive = inner["up"].relu()
            return {"up": arriving * (positive + positive)}
        return {
            "up": arriving * inner["active"],
            "gate": arriving * inner["up"] * inner["slope"],
        }

    def _inner(self, expert: int, tokens: np.ndarray, columns: Any) -> dict[str, Bounded]:
        x = self._x(tokens)
        up = x.product(self._matrix("up", expert, columns).T, np.zeros(1))
        if self.inputs.gate is None:
            positive = up.relu()
            return {"up": up, "hidden": positive * positive}
        gate = x.product(self._matrix("gate", expert, columns).T, np.zeros(1))
        value, slope = silu(gate.value)
        own = 2 * UNIT_ROUNDOFF[self.precision]
        active = (
            LARGEST_SLOPE * gate.error
            + own * np.abs(value)
            + 2 * LIBRARY_ERROR * np.abs(gate.value)
        )
        steep = LARGEST_CURVATURE * gate.error + own * (1 + np.abs(slope))
        known = Bounded(value, active, self.precision)
        return {
            "up": up,
            "active": known,
            "slope": Bounded(slope, steep, self.precision),
            "hidden": known * up,
        }

    def _arriving(self, tokens: np.ndarray, places: np.ndarray) -> Bounded:
        """p times the gradient of y, the gradient of an expert's output: tokens x hidden."""
        return self._dy(tokens) * self.p[tokens, places][:, None]

    def _x(self, tokens: np.ndarray) -> Bounded:
        return exact(widened(self.inputs.x[tokens]), self.precision)

    def _dy(self, tokens: np.ndarray) -> Bounded:
        return exact(widened(self.inputs.gradient[tokens]), self.precision)

    def _matrix(self, name: str, expert: int, rows: Any = ALL) -> np.ndarray:
        return widened(getattr(self.inputs, name)[expert, rows])
