"""Comparison of a kernel's output with float64, before the kernel is timed.

Two checks catch different mistakes: all entries of a small problem of the same kind, and a few
entries of the real problem, computed by the call that will be timed. Libraries use different code
for different sizes.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.kernel import (
    CountedTerms,
    GroupedErrors,
    Index,
    Kernel,
    Output,
    Reference,
)
from deepbench_ops.backends.reference_cache import StoredReferences
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.problem import Problem

ENTRIES = 64
"""Random entries that a spot check compares."""

FEWEST_ENTRIES = 8
"""Random entries that a spot check compares where each entry is a very long sum."""

SPOT_CHECK_TERMS = 2**22
"""Products that a spot check computes at most; it compares fewer than ENTRIES entries to keep this,
but at least FEWEST_ENTRIES."""

CALL = re.compile(r"\{\{.*?\}\}")
"""The name of a call in a framework's message, such as "{{function_node lambda_5}}", which is
another one each time."""

LISTING = re.compile(
    r"^The following operation failed in the TorchScript interpreter.*\n\w+: ", re.S
)
"""The lines of a loop that TorchScript lists before the error itself."""


@dataclass(frozen=True)
class Check:
    """Result of one comparison: absolute error and allowed error at the worst entry.

    ok: whether every entry is within its allowed error. entry: index of the worst entry. output:
    name of the output with this entry, "" for the first output.
    """

    error: float
    tolerance: float
    ok: bool
    entry: tuple[int, ...] = ()
    output: str = ""

    @property
    def badness(self) -> float:
        """The error divided by the tolerance; infinity for an error that is NaN."""
        if math.isnan(self.error):
            return math.inf
        if self.tolerance == 0:
            return math.inf if self.error else 0.0
        return self.error / self.tolerance


def check(
    backend: Backend, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
) -> Check:
    """Run the small twin of `problem` and compare all of its outputs with the references.

    Sizes above the family's limits in SMALL are reduced to these; the others stay (a matrix-vector
    product stays one). The kernel runs, is reset and runs again, so that an incomplete reset is
    found as well. The reference is computed from newly drawn operands, not from those of the
    kernel. Raises Unsupported where the framework does not have the operation, and DeepbenchError
    for an output of another shape.
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
        raise Unsupported(_missing_reason(backend, problem, precision, operation, error)) from None
    references = families.fresh_references(kernel, small, precision, operation, seed)
    found = [
        replace(_compare_all(kernel.label, output.result(), references[name]), output=name)
        for name, output in kernel.outputs.items()
    ]
    return _worst(found)


def spot_check(kernel: Kernel, seed: int = 0, run: bool = True) -> Check:
    """Compare some random entries and the corners of every output with the references.

    run: whether to reset and run the kernel first. Otherwise its output must come from a single run
    since the last reset; this saves a call of a long kernel.
    """
    if run:
        kernel.reset()
        kernel.run()
    kernel.synchronise()
    references = StoredReferences(kernel.source)
    return _worst(
        [
            _spot_check(kernel, references, name, output, seed)
            for name, output in kernel.outputs.items()
        ]
    )


def _spot_check(
    kernel: Kernel, references: StoredReferences, name: str, output: Output, seed: int
) -> Check:
    """Compare some entries of one output; no output fails by stored values alone."""
    index = spot_entries(output.reference, kernel.flops, seed)
    actual = output.peek(index)
    expectation, stored = references.at(name, output.reference, index)
    found = _compare(actual, *expectation)
    if stored and not found.ok:
        found = _compare(actual, *output.reference.at(index))
    entry = tuple(int(axis[found.entry[0]]) for axis in index)
    return replace(found, entry=entry, output=name)


def spot_entries(reference: Reference, flops: float, seed: int = 0) -> Index:
    """Return the index of the entries that a spot check compares; flops: of the kernel."""
    terms = flops / 2 / math.prod(reference.shape)
    if isinstance(reference, CountedTerms):
        terms = reference.entry_terms
    entries = max(FEWEST_ENTRIES, min(ENTRIES, int(SPOT_CHECK_TERMS / max(terms, 1))))
    return _entries(reference.shape, entries, seed)


def _worst(found: Sequence[Check]) -> Check:
    """Return the check with the largest error for its tolerance; it is ok only if all are."""
    worst = max(found, key=lambda each: (not each.ok, each.badness))
    return replace(worst, ok=all(each.ok for each in found))


_passed = RunCache("check of a small twin: error and tolerance")


def verify(backend: Backend, problem: Problem, precision: str, operation: str = "forward") -> Check:
    """Check the small twin of `problem`; raise DeepbenchError if it fails, else return the check.

    A passed check is stored. Another problem with the same small twin is not checked again, in this
    process or in the other processes of an asv run.
    """
    small = families.small(problem)
    kind = kind_of(backend, small, precision, operation)
    known = _passed.get(kind)
    if known is not None:
        return Check(error=known[0], tolerance=known[1], ok=True)
    what = f"{backend.name} {backend.device} {precision} {operation} {small.id}"
    found = _require_ok(check(backend, small, precision, operation), what)
    _passed.put(kind, [found.error, found.tolerance])
    return found


def verify_output(kernel: Kernel, run: bool = True) -> Check:
    """Do a `spot_check` of `kernel` at full size; raise DeepbenchError if it fails."""
    return _require_ok(spot_check(kernel, run=run), kernel.label)


def kind_of(backend: Backend, twin: Problem, precision: str, operation: str) -> tuple[object, ...]:
    """Return the key under which the passed check of a small twin is stored."""
    place = (type(backend), backend.name, backend.device, backend.layout, backend.execution)
    return (*place, precision, operation, twin.family, twin.id)


def _missing_reason(
    backend: Backend, problem: Problem, precision: str, operation: str, error: Exception
) -> str:
    release = backend.versions()["framework"]
    said = " ".join(CALL.sub("", LISTING.sub("", str(error))).split()) or type(error).__name__
    what = f"{precision} {problem.family} {operation}"
    return f"{release} has no {what} on {backend.device}: {said[:160]}"


def _entries(shape: tuple[int, ...], entries: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return the index of all corners, where tiles and padding end, and of random entries."""
    random = np.random.default_rng(seed)
    corners = np.stack(np.meshgrid(*[(0, size - 1) for size in shape], indexing="ij"))
    anywhere = [random.integers(0, size, entries) for size in shape]
    return tuple(
        np.concatenate([corner.ravel(), drawn])
        for corner, drawn in zip(corners, anywhere, strict=True)
    )


def _compare_all(label: str, actual: np.ndarray, reference: Reference) -> Check:
    """Compare a whole output, entry by entry or group by group.

    label: name of the kernel. Raises DeepbenchError for an output of another shape, whose entries
    numpy would repeat.
    """
    expected, allowed = reference.everywhere()
    if actual.shape != expected.shape:
        raise DeepbenchError(
            f"{label} returns an output of the shape {actual.shape} where {expected.shape} is right"
        )
    error = np.abs(actual - expected)
    return _judge(
        reference.pooled(error) if isinstance(reference, GroupedErrors) else error, allowed
    )


def _compare(actual: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> Check:
    """Compare entry by entry."""
    return _judge(np.abs(actual - expected), allowed)


def _judge(error: np.ndarray, allowed: np.ndarray) -> Check:
    """Return the check of the entry with the largest error for its tolerance; a NaN never
    passes."""
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


def _require_ok(found: Check, what: str) -> Check:
    if not found.ok:
        named = f" of {found.output}" if found.output else ""
        raise DeepbenchError(
            f"{what} computes a wrong result and is not timed: entry {found.entry}{named} is off by"
            f" {found.error:.3g} where {found.tolerance:.3g} is allowed"
        )
    return found
