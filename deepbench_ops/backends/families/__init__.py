"""What every framework's kernels of a family share: operands, the true output, small twins.

One module per family, named after it, with the same slots:

- ``SMALL`` and ``PROBE``: the most of each size that its small twin keeps, for the check and for
  an estimate of speed;
- ``inputs(problem, precision, seed)``: the operands;
- ``reference(problem, inputs, precision, operation)``: the judge of an output, a
  `kernel.Reference`.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

from deepbench_ops.problems.problem import Problem

P = TypeVar("P", bound=Problem)


def of(problem: Problem) -> Any:
    """Return the module of the problem's family."""
    return import_module(f"{__name__}.{problem.family}")


def small(problem: P) -> P:
    """Return the problem's twin for the check: the same kind, small enough to judge whole."""
    return cut_down(problem, of(problem).SMALL)


def probe(problem: P) -> P:
    """Return the problem's twin for an estimate: large enough to show a rate."""
    return cut_down(problem, of(problem).PROBE)


def cut_down(problem: P, most: Mapping[str, int]) -> P:
    """Return the same kind of problem with no size above `most` of it."""
    sizes = {name: min(getattr(problem, name), limit) for name, limit in most.items()}
    return replace(problem, **sizes)  # type: ignore[arg-type]
