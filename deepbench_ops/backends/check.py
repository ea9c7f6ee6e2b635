"""No kernel is timed before its output has been compared with float64.

Two looks, because they catch different mistakes: every entry of a small problem of the same
kind, and a few entries of the real one after the very call that will be timed (libraries choose
other code for other sizes).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.base import Backend
from deepbench_ops.backends.kernel import Costly, Kernel, Output, Pooling, Reference
from deepbench_ops.backends.shared_cache import SharedCache
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.problem import Problem

ENTRIES = 64
"""Entries compared by a spot check."""

FEWEST_ENTRIES = 8
MOST_TERMS = 2**22
"""Products that a spot check adds up in all: where each sum is very long, fewer are compared."""


@dataclass(frozen=True)
class Check:
    """One comparison: the absolute error and the error allowed at the worst entry of all outputs.

    output: name of the output that it is of, "" for the first.
    """

    error: float
    tolerance: float
    ok: bool
    entry: tuple[int, ...] = ()
    output: str = ""

    @property
    def badness(self) -> float:
        """The error divided by the tolerance; infinite for an error that is no number."""
        if math.isnan(self.error):
            return math.inf
        if self.tolerance == 0:
            return math.inf if self.error else 0.0
        return self.error / self.tolerance


def check(
    backend: Backend, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
) -> Check:
    """Run the small twin of `problem` and compare all of its outputs with the references.

    Sizes up to the family's SMALL stay as they are (a matrix-vector product stays one), larger
    ones are cut to it. The kernel runs, is reset and runs again, so that a reset that restores
    too little fails as well. The reference is made from newly drawn inputs, not from what the
    kernel holds. Raises Unsupported where the framework turns out to lack the operation.
    """
    small = families.small(problem)
    try:
        kernel = backend.build(small, precision, operation, seed)
        for _ in range(2):
            kernel.reset()
            kernel.run()
        kernel.synchronise()
    except Unsupported:
        raise
    except Exception as error:
        if not backend.lacks(error):
            raise
        raise Unsupported(_lacking(backend, problem, precision, operation, error)) from None
    references = families.drawn_again(kernel, small, precision, operation, seed)
    found = [
        replace(_compare_all(output.result(), references[name]), output=name)
        for name, output in kernel.outputs.items()
    ]
    return _worst(found)


def spot_check(kernel: Kernel, seed: int = 0, run: bool = True) -> Check:
    """Compare some random entries and the corners of every output of one run.

    With `run` the kernel is reset and run for it; without, its output must be of a single run
    since the last reset already, which spares a long kernel another call.
    """
    if run:
        kernel.reset()
        kernel.run()
    kernel.synchronise()
    return _worst(
        [_spot_check(kernel, name, output, seed) for name, output in kernel.outputs.items()]
    )


def _spot_check(kernel: Kernel, name: str, output: Output, seed: int) -> Check:
    shape = output.reference.shape
    own = output.reference
    terms = own.entry_terms if isinstance(own, Costly) else kernel.flops / 2 / math.prod(shape)
    entries = max(FEWEST_ENTRIES, min(ENTRIES, int(MOST_TERMS / max(terms, 1))))
    index = _entries(shape, entries, seed)
    found = _compare(output.peek(index), *output.reference.at(index))
    entry = tuple(int(axis[found.entry[0]]) for axis in index)
    return replace(found, entry=entry, output=name)


def _worst(found: Sequence[Check]) -> Check:
    """Return the worst of all outputs' checks; it passes only if all do."""
    worst = max(found, key=lambda each: (not each.ok, each.badness))
    return replace(worst, ok=all(each.ok for each in found))


_passed = SharedCache("check of a small twin: error and tolerance")


def verify(backend: Backend, problem: Problem, precision: str, operation: str = "forward") -> Check:
    """Return a passed check of this kind of problem, or raise DeepbenchError.

    A passed check is stored: another problem of the same kind costs nothing, in this process and
    in the others of an asv run.
    """
    small = families.small(problem)
    kind = kind_of(backend, small, precision, operation)
    known = _passed.get(kind)
    if known is not None:
        return Check(error=known[0], tolerance=known[1], ok=True)
    what = f"{backend.name} {backend.device} {precision} {operation} {small.id}"
    found = _demand(check(backend, small, precision, operation), what)
    _passed.put(kind, [found.error, found.tolerance])
    return found


def verify_output(kernel: Kernel, run: bool = True) -> Check:
    """Return a passed `spot_check` of `kernel` itself, at full size, or raise DeepbenchError."""
    return _demand(spot_check(kernel, run=run), kernel.label)


def kind_of(backend: Backend, twin: Problem, precision: str, operation: str) -> tuple[object, ...]:
    """Return the key of a kind of small twin, under which its passed check is stored."""
    place = (type(backend), backend.name, backend.device, backend.layout, backend.execution)
    return (*place, precision, operation, twin.family, twin.id)


def _lacking(
    backend: Backend, problem: Problem, precision: str, operation: str, error: Exception
) -> str:
    release = backend.versions()["framework"]
    text = " ".join(str(error).split()) or type(error).__name__
    what = f"{precision} {problem.family} {operation}"
    return f"{release} has no {what} on {backend.device}: {text[:160]}"


def _entries(shape: tuple[int, ...], entries: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return `entries` random entries and the corners, where tiles and padding end."""
    random = np.random.default_rng(seed)
    corners = np.stack(np.meshgrid(*[(0, size - 1) for size in shape], indexing="ij"))
    anywhere = [random.integers(0, size, entries) for size in shape]
    return tuple(
        np.concatenate([corner.ravel(), drawn])
        for corner, drawn in zip(corners, anywhere, strict=True)
    )


def _compare_all(actual: np.ndarray, reference: Reference) -> Check:
    """Compare a whole output, entry by entry or group by group."""
    expected, allowed = reference.everywhere()
    error = np.abs(actual - expected)
    return _judge(reference.pooled(error) if isinstance(reference, Pooling) else error, allowed)


def _compare(actual: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> Check:
    """Compare entry by entry."""
    return _judge(np.abs(actual - expected), allowed)


def _judge(error: np.ndarray, allowed: np.ndarray) -> Check:
    """Return the worst error; a NaN is never within what is allowed."""
    within = error <= allowed
    with np.errstate(divide="ignore", invalid="ignore"):
        badness = np.where(within & (error == 0), 0.0, error / allowed)
    badness[np.isnan(badness)] = np.inf
    entry = np.unravel_index(int(np.argmax(badness)), error.shape)
    return Check(
        error=float(error[entry]),
        tolerance=float(allowed[entry]),
        ok=bool(within.all()),
        entry=tuple(int(i) for i in entry),
    )


def _demand(found: Check, what: str) -> Check:
    if not found.ok:
        named = f" of {found.output}" if found.output else ""
        raise DeepbenchError(
            f"{what} computes a wrong result and is not timed: entry {found.entry}{named} is off by"
            f" {found.error:.3g} where {found.tolerance:.3g} is allowed"
        )
    return found
