"""Mixture-of-experts layers: operands, and the reference of y.

Tokens are drawn such that rounding cannot change their choice of experts. The references of the
gradients are in `moe_gradients.py`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families import moe_gradients
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, stacked
from deepbench_ops.backends.kernel import Index, Reference, widened
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.moe_layer import MATRICES, MoeLayer
from deepbench_ops.random_operands import floats, round_to

SMALL = {"tokens": 23, "experts": 10, "hidden": 64, "intermediate": 48, "top_k": 4}
"""Largest sizes of a small twin. hidden and intermediate are multiples of 8, since torch requires
rows of a multiple of 16 bytes."""

PROBE = {"tokens": 32, "experts": 16, "hidden": 256, "intermediate": 256, "top_k": 8}

MARGIN = 2.0**-5
"""Smallest allowed distance between the smallest chosen logit and the largest other one: more than
twice the rounding error of a logit of 3 in bfloat16."""

ROUNDS = 200
"""Number of times that tokens without this distance are drawn again at most."""

ROUTER, GATE, UP, DOWN, TOKENS = 0, 1, 2, 3, 4
"""Streams of random bits. TOKENS is the first of one stream for each round."""

GRADIENT = TOKENS + ROUNDS
"""Stream of the gradient of y."""


@dataclass(frozen=True)
class MoeInputs:
    """The operands.

    x: tokens x hidden. router: experts x hidden. up: experts x intermediate x hidden. gate: as up,
    or None. down: experts x hidden x intermediate. gradient: that of y, tokens x hidden. chosen:
    the experts of each token, tokens x top_k, by falling logits. In a precision that numpy lacks
    the arrays are float32 with values of that precision.
    """

    x: np.ndarray
    router: np.ndarray
    gate: "np.ndarray | None"
    up: np.ndarray
    down: np.ndarray
    gradient: np.ndarray
    chosen: np.ndarray
    notes: dict[str, str]

    def of(self, operation: str) -> dict[str, np.ndarray]:
        """Return the operands of an operation by name."""
        found = {name: each for name, each in vars(self).items() if isinstance(each, np.ndarray)}
        if not operation.endswith("backward"):
            del found["gradient"]
        return found


def inputs(problem: MoeLayer, precision: str, seed: int = 0) -> MoeInputs:
    """Draw the operands; entries of logits, hidden layers and y have about unit variance.

    A token whose choice of experts rounding could change is drawn again.
    """
    p = problem
    into, out = (3 / p.hidden) ** 0.5, (3 / p.intermediate) ** 0.5
    router = floats((p.experts, p.hidden), precision, into, seed, ROUTER)
    x, chosen = _tokens(p, precision, widened(router).astype(np.float32), seed)
    inner = (p.experts, p.intermediate, p.hidden)
    gate = floats(inner, precision, into, seed, GATE) if MATRICES[p.activation] > 2 else None
    up = floats(inner, precision, into, seed, UP)
    down = floats((p.experts, p.hidden, p.intermediate), precision, 2 * out, seed, DOWN)
    gradient = floats((p.tokens, p.hidden), precision, 1.0, seed, GRADIENT)
    loads = np.bincount(chosen.ravel(), minlength=p.experts)
    return MoeInputs(
        x,
        router,
        gate,
        up,
        down,
        gradient,
        chosen,
        {
            "inputs": f"x uniform in ±1.732, router and first matrices in ±{into:.4g}, last ones in"
            f" ±{2 * out:.4g}, gradient of y in ±1; raw bits of SFC64, seed {seed}; tokens whose"
            " choice of experts rounding could change are drawn again",
            "loads": f"{np.count_nonzero(loads)} of {p.experts} experts have tokens, the busiest"
            f" {loads.max()}",
            "layout": "row-major, matrices experts x outputs x inputs",
            "padding": "none",
        },
    )


def _tokens(
    p: MoeLayer, precision: str, router: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return tokens whose logits have the distance MARGIN, and the experts that they choose."""
    x = floats((p.tokens, p.hidden), "float32", 3**0.5, seed, TOKENS)
    open_ = np.arange(p.tokens)
    order = np.empty((p.tokens, p.top_k), np.int64)
    for turn in range(ROUNDS):
        if turn:
            x[open_] = floats((open_.size, p.hidden), "float32", 3**0.5, seed, TOKENS + turn)
        held = round_to(np.ascontiguousarray(x[open_]), precision)
        logits = held.astype(np.float32) @ router.T
        falling = np.argsort(-logits, axis=1, kind="stable")
        order[open_] = falling[:, : p.top_k]
        if p.top_k == p.experts:
            break
        edge = np.take_along_axis(logits, falling[:, p.top_k - 1 : p.top_k + 1], axis=1)
        open_ = open_[edge[:, 0] - edge[:, 1] < MARGIN]
        if not open_.size:
            break
    else:
        raise DeepbenchError(
            f"{p.id}: {open_.size} tokens have no clear choice of experts after {ROUNDS} draws:"
            " use fewer experts"
        )
    return round_to(x, precision), order


def outputs(problem: MoeLayer, operation: str) -> tuple[str, ...]:
    """Return the names of an operation's outputs."""
    return tuple(moe_gradients.names(problem)) if operation == "backward" else ("",)


def reference(
    problem: MoeLayer, drawn: MoeInputs, precision: str, operation: str
) -> dict[str, Reference]:
    """Return the reference of y, or those of all gradients."""
    forward = MoeReference(problem, drawn, precision)
    if operation == "backward":
        return moe_gradients.references(problem, drawn, precision, forward.weights)
    return {"": forward}


@dataclass(frozen=True)
class MoeReference:
    """Reference of y in float64, with an allowed error that follows the rounding of each step."""

    problem: MoeLayer
    inputs: MoeInputs
    precision: str

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (tokens, hidden)."""
        return self.problem.tokens, self.problem.hidden

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both tokens x hidden; for small problems."""
        tokens = np.arange(self.problem.tokens)
        parts = [self._outputs(tokens, np.full(tokens.size, h)) for h in range(self.shape[1])]
        return (
            np.stack([part.value for part in parts], axis=1),
            np.stack([part.error for part in parts], axis=1),
        )

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (tokens, columns)."""
        found = self._outputs(*index)
        return found.value, found.error

    def _outputs(self, tokens: np.ndarray, columns: np.ndarray) -> Bounded:
        """Return one entry of y for each pair of a token and a column."""
        weights = self.weights(tokens)
        self._compute_hidden(tokens)
        total: Bounded | None = None
        for place in range(self.problem.top_k):
            experts = self.inputs.chosen[tokens, place]
            pairs = zip(tokens.tolist(), experts.tolist(), strict=True)
            hidden = stacked([self._known[pair] for pair in pairs])
            rows = widened(self.inputs.down[experts, columns])[:, None]
            each = hidden.dot(rows, np.zeros((tokens.size, 1)))[:, 0] * weights[:, place]
            total = each if total is None else total + each
        assert total is not None, "a problem has at least one expert for each token"
        return total

    def weights(self, tokens: np.ndarray) -> Bounded:
        """Return the router's weights p of the chosen experts, tokens x top_k."""
        router = widened(self.inputs.router[self.inputs.chosen[tokens]])
        x = exact(widened(self.inputs.x[tokens]), self.precision)
        logits = x.dot(router, np.zeros(router.shape[:2]))
        powers = (logits - exact(logits.value.max(axis=1, keepdims=True), self.precision)).exp()
        return powers / powers.sum(axis=1)

    def _compute_hidden(self, tokens: np.ndarray) -> None:
        """Compute and store f(W1·x) of tokens with each of their chosen experts.

        Tokens are handled expert by expert, so that the matrices of an expert are widened once.
        """
        wanted = np.unique(tokens)
        for expert in np.unique(self.inputs.chosen[wanted]).tolist():
            takers = wanted[(self.inputs.chosen[wanted] == expert).any(axis=1)].tolist()
            missing = [token for token in takers if (token, expert) not in self._known]
            if missing:
                found = self._first_layer(missing, expert)
                for place, token in enumerate(missing):
                    self._known[token, expert] = found[place]

    @cached_property
    def _known(self) -> dict[tuple[int, int], Bounded]:
        return {}

    def _first_layer(self, tokens: list[int], expert: int) -> Bounded:
        x = exact(widened(self.inputs.x[tokens]), self.precision)
        nothing = np.zeros((len(tokens), self.problem.intermediate))
        up = x.product(widened(self.inputs.up[expert]).T, nothing)
        if self.inputs.gate is None:
            positive = up.relu()
            return positive * positive
        gate = x.product(widened(self.inputs.gate[expert]).T, nothing)
        return gate * gate.sigmoid() * up
