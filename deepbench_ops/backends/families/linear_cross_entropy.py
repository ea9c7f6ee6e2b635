"""Linear layer with cross-entropy: operands, and the true loss and gradients.

Logits are stored in the precision of the operands. The loss and its gradient are computed in
float32, and the gradient of the logits is stored in the precision of the operands.

Fused operations compute some tokens at a time. They store the sum of dW in the precision of the
operands after each piece, and multiply the gradients by that of the loss when they are complete.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from math import sqrt

import numpy as np

from deepbench_ops.backends.families.cross_entropy import (
    LOSS_GRADIENT,
    log_of_sum,
    losses,
    mean_loss,
    one_hot,
)
from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    GRADIENT,
    Makers,
    Operands,
    RowReference,
    WholeReference,
    drawn,
    integers,
    row_chunks,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, joined, summed
from deepbench_ops.backends.families.softmax import probabilities
from deepbench_ops.backends.kernel import Reference, widened
from deepbench_ops.backends.tolerance import UNIT_ROUNDOFF
from deepbench_ops.problems.linear_cross_entropy import FORWARD_BACKWARD, LinearCrossEntropy
from deepbench_ops.problems.selections import FUSED
from deepbench_ops.random_operands import floats

SMALL = {"tokens": 29, "hidden": 61, "vocabulary": 131}
PROBE = {"tokens": 64, "hidden": 256, "vocabulary": 1024}

GRADIENTS = {"": "x", "weight_gradient": "weight"}
"""Outputs of a backward pass, each with the operand whose gradient it is."""

LOSS = "loss"
"""Output of an operation that has gradients as well."""

MOST_LOGITS = 2**24
"""Logits that are computed at a time: each time the whole weight is read and widened."""

STORED_SUM = 2.0
"""Error allowed for a sum of one term that is stored, in units of its largest rounding error.
Rounding errors add up like random numbers, with a standard deviation of about 0.6 units each."""

SPREAD = 3.0
"""Standard deviation of the logits."""


def inputs(problem: LinearCrossEntropy, precision: str, seed: int = 0) -> Operands:
    """Draw x of unit variance, a weight that gives the logits the standard deviation SPREAD, and
    targets."""
    p = problem
    makers: Makers = {
        "x": partial(floats, (p.tokens, p.hidden), precision, sqrt(3), seed, 0),
        "weight": partial(
            floats, (p.vocabulary, p.hidden), precision, SPREAD * sqrt(3 / p.hidden), seed, 1
        ),
        "targets": partial(integers, (p.tokens,), p.vocabulary, seed, 2),
        GRADIENT: lambda: np.array(LOSS_GRADIENT, np.float32),
    }
    text = "x in +-sqrt(3), weight in +-3·sqrt(3/hidden), any class as target"
    return Operands(makers, drawn(f"{text}, gradient of the loss {LOSS_GRADIENT}", seed))


def reference(
    problem: LinearCrossEntropy, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the loss, of shape (1,), or those of both gradients."""
    fused = operation.startswith(FUSED)
    truth = _Truth(problem, drawn, precision, fused)
    loss = WholeReference((1,), partial(truth.loss, _stored(operation, precision)))
    if not operation.endswith("backward"):
        return {"": loss}
    tokens, weight = (problem.tokens, problem.hidden), (problem.vocabulary, problem.hidden)
    gradients = {
        "": RowReference(tokens, truth.input_gradient, precision),
        "weight_gradient": RowReference(weight, truth.weight_gradient, precision),
    }
    return gradients | ({LOSS: loss} if operation == FORWARD_BACKWARD else {})


def outputs(problem: LinearCrossEntropy, operation: str) -> tuple[str, ...]:
    """Return the names of an operation's outputs: the loss, or both gradients, or these and then
    the loss."""
    if operation == FORWARD_BACKWARD:
        return (*GRADIENTS, LOSS)
    return tuple(GRADIENTS) if operation == "backward" else ("",)


def reference_name(operation: str, precision: str) -> str:
    """Return one name for all operations with the same reference; fused ones allow for the sums
    that they store."""
    if operation.endswith("backward"):
        return operation
    fused = "fused " if operation.startswith(FUSED) else ""
    return f"{fused}forward, loss in {_stored(operation, precision)}"


def _stored(operation: str, precision: str) -> str:
    """Return the type of the stored loss: fused operations store it, and the sum before it, in the
    type of x."""
    return precision if operation.startswith(FUSED) else COMPUTE_PRECISION


class _Truth:
    """Loss and gradients in float64, for some tokens or some classes."""

    def __init__(
        self, problem: LinearCrossEntropy, drawn: Operands, precision: str, fused: bool
    ) -> None:
        self.problem, self.drawn, self.precision, self.fused = problem, drawn, precision, fused

    def loss(self, stored: str) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of the mean over all tokens, stored in precision `stored`."""

        def losses_of(rows: np.ndarray) -> Bounded:
            return losses(self._logits(rows), self.drawn["targets"][rows])

        sizes = self.problem.tokens, self.problem.vocabulary
        mean, error = mean_loss(*sizes, losses_of, MOST_LOGITS)
        if self.fused:  # the sum gets two terms of each piece
            error = error + self._error_of_stored_sums(2) * np.abs(mean)
        found = Bounded(mean, error, COMPUTE_PRECISION).rounded_to(stored).rounded_to(stored)
        return found.value, found.error

    def input_gradient(self, rows: np.ndarray) -> Bounded:
        """Rows of the gradient of x."""
        logits = self._logits(rows)
        targets = one_hot(self.drawn["targets"][rows], self.problem.vocabulary)
        of_logits = self._of_logits(probabilities(logits), targets)
        return self._completed(of_logits.product_of_pieces(self._weights(), np.zeros(1)))

    def weight_gradient(self, classes: np.ndarray) -> Bounded:
        """Rows of the gradient of the weight."""
        everyone = np.arange(self.problem.tokens)
        share = (self._logits(everyone, classes) - self._sums).exp()
        targets = (self.drawn["targets"][:, None] == classes).astype(np.float64)
        x = exact(self.drawn["x"], self.precision)
        of_logits = self._of_logits(share, targets)
        found = summed(x, of_logits)
        if self.fused:
            wander = np.sqrt((of_logits.value**2).T @ x.value**2)
            found = found.off_by(self._error_of_stored_sums(1) * wander)
        return self._completed(found)

    def _of_logits(self, share: Bounded, targets: np.ndarray) -> Bounded:
        """Return the gradient of the logits, rounded as it is stored before further products.

        Fused operations multiply the shares and the targets apart, so that each is rounded.
        """
        factor = exact(np.array(LOSS_GRADIENT / self.problem.tokens), COMPUTE_PRECISION)
        parts = [share, exact(targets, COMPUTE_PRECISION)]
        if self.fused:
            parts = [
                each.rounded_to(self.precision).rounded_to(COMPUTE_PRECISION) for each in parts
            ]
        return ((parts[0] - parts[1]) * factor).rounded_to(self.precision)

    def _completed(self, gradient: Bounded) -> Bounded:
        """Return a gradient; that of fused operations is stored before the last product."""
        return gradient.rounded_to(self.precision) if self.fused else gradient

    def _error_of_stored_sums(self, terms: int) -> float:
        """Relative error of a sum that is stored after each of `terms` additions in each piece.

        torch takes as many tokens at a time as have half as many logits as x has numbers, or more.
        """
        p = self.problem
        pieces = min(p.tokens, 2 * -(-p.vocabulary // p.hidden))
        return STORED_SUM * sqrt(terms * pieces) * UNIT_ROUNDOFF[self.precision]

    def _logits(self, rows: np.ndarray, classes: np.ndarray | None = None) -> Bounded:
        """Return logits of some tokens and classes, all by default, rounded as they are stored.

        The weight is widened piece by piece: a copy of all of it takes longer than the product.
        """
        x = exact(self.drawn["x"][rows], self.precision)
        weights = self._weights() if classes is None else [widened(self.drawn["weight"][classes])]
        found = joined([x.product(weight.T, np.zeros(1)) for weight in weights], axis=1)
        return found.rounded_to(COMPUTE_PRECISION)

    def _weights(self) -> Iterator[np.ndarray]:
        """Yield the rows of the weight in float64, piece by piece: a whole copy takes gigabytes."""
        for piece in row_chunks(self.problem.vocabulary, self.problem.hidden):
            yield widened(self.drawn["weight"][piece])

    @cached_property
    def _sums(self) -> Bounded:
        """Return log(sum(exp(x))) of each token, as a column."""
        pieces = row_chunks(self.problem.tokens, self.problem.vocabulary, MOST_LOGITS)
        return joined([log_of_sum(self._logits(rows)) for rows in pieces])
