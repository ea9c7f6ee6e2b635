"""No kernel is timed before its output has been compared with float64.

Two looks, because they catch different mistakes: every entry of a small problem of the same
kind, and a few entries of the real one after the very call that will be timed (libraries choose
other code for other sizes).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from deepbench_ops.backends.base import Backend
from deepbench_ops.backends.inputs import gemm_inputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.reference import GemmReference
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.gemm import Gemm

SMALL = {"m": 61, "n": 53, "k": 131}
"""The sizes a problem is cut down to: round in no way a library could be fond of."""

ENTRIES = 64
"""Entries compared by a spot check."""


@dataclass(frozen=True)
class Check:
    """One comparison: the absolute error and the error allowed at the entry that fared worst."""

    error: float
    tolerance: float
    ok: bool
    entry: tuple[int, ...] = ()


def check(backend: Backend, problem: Gemm, precision: str, seed: int = 0) -> Check:
    """Run a cut-down `problem` and compare all of its output with the reference.

    Sizes up to SMALL stay as they are (a matrix-vector product stays one), larger ones are cut
    to it. The kernel runs, is reset and runs again, so that a reset that restores too little
    fails as well. The reference is made from newly drawn inputs, not from what the kernel
    holds. Raises Unsupported as `backend.gemm` does.
    """
    small = cut_down(problem)
    kernel = backend.gemm(small, precision, seed)
    for _ in range(2):
        kernel.reset()
        kernel.run()
    kernel.synchronise()
    reference = GemmReference(gemm_inputs(small, precision, seed), precision)
    return _compare(kernel.result(), *reference.everywhere())


def spot_check(kernel: Kernel, entries: int = ENTRIES, seed: int = 0, run: bool = True) -> Check:
    """Compare `entries` random entries and the corners of the output of one run.

    With `run` the kernel is reset and run for it; without, its output must be of a single run
    since the last reset already, which spares a long kernel another call.
    """
    if run:
        kernel.reset()
        kernel.run()
    kernel.synchronise()
    index = _entries(kernel.reference.shape, entries, seed)
    found = _compare(kernel.peek(index), *kernel.reference.at(index))
    return replace(found, entry=tuple(int(axis[found.entry[0]]) for axis in index))


_verified: dict[tuple[object, ...], Check] = {}


def verify(backend: Backend, problem: Gemm, precision: str) -> Check:
    """Return a passed check of this kind of problem, or raise DeepbenchError.

    The answer is kept for the life of the process: a second problem of the same kind costs
    nothing.
    """
    small = cut_down(problem)
    kind = kind_of(backend, small, precision)
    if kind not in _verified:
        _verified[kind] = check(backend, small, precision)
    what = (
        f"{backend.name} {backend.device} {precision} {small.m} x {small.n} x {small.k}"
        f" ({'NT'[small.a_transposed]}{'NT'[small.b_transposed]})"
    )
    return _demand(_verified[kind], what)


def verify_output(kernel: Kernel, run: bool = True) -> Check:
    """Return a passed `spot_check` of `kernel` itself, at full size, or raise DeepbenchError."""
    return _demand(spot_check(kernel, run=run), kernel.label)


def cut_down(problem: Gemm, most: Mapping[str, int] = MappingProxyType(SMALL)) -> Gemm:
    """Return the same kind of problem with no dimension above `most` of it."""
    return replace(problem, **{axis: min(getattr(problem, axis), most[axis]) for axis in most})


def kind_of(backend: Backend, small: Gemm, precision: str) -> tuple[object, ...]:
    """Return what tells one kind of cut-down problem from another, to remember answers by."""
    sizes = (small.m, small.n, small.k, small.a_transposed, small.b_transposed)
    return (type(backend), backend.name, backend.device, precision, *sizes)


def _entries(shape: tuple[int, ...], entries: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return `entries` random entries and the corners, where tiles and padding end."""
    random = np.random.default_rng(seed)
    corners = np.stack(np.meshgrid(*[(0, size - 1) for size in shape], indexing="ij"))
    anywhere = [random.integers(0, size, entries) for size in shape]
    return tuple(
        np.concatenate([corner.ravel(), drawn])
        for corner, drawn in zip(corners, anywhere, strict=True)
    )


def _compare(actual: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> Check:
    """Compare entry by entry; a NaN is never within what is allowed."""
    error = np.abs(actual - expected)
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
        raise DeepbenchError(
            f"{what} computes a wrong result and is not timed: entry {found.entry} is off by"
            f" {found.error:.3g} where {found.tolerance:.3g} is allowed"
        )
    return found
