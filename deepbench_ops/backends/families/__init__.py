"""What every framework's kernels of a family share: operands, the true output, small twins.

One module per family, named after it (in another distribution `<family>_operands`, next to the
family's dataclass), with the same slots:

- ``SMALL`` and ``PROBE``: the most of each size that its small twin keeps, for the check and for
  an estimate of speed;
- ``inputs(problem, precision, seed)``: the operands;
- ``reference(problem, inputs, precision, operation)``: the true output, a
  `kernel.Reference`; of an operation with several outputs a mapping of references by the outputs'
  names, the first output's name being "".

Whole models have neither of the last two: see `families.model`. A family may also have

- ``probe(problem, times)``: the twin for an estimate, where sizes alone do not make it;
- ``refuse(problem, precision, operation)``: raises Unsupported where no framework is asked at all;
- ``memory_needed(problem, operation, execution)``: bytes, where operands alone do not tell.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

from deepbench_ops.backends.kernel import Kernel, Reference
from deepbench_ops.problems.families import OWN_PACKAGE, found
from deepbench_ops.problems.problem import Problem, computed
from deepbench_ops.problems.tables import load

P = TypeVar("P", bound=Problem)

MOST_KINDS = 40
"""Small twins of a family that are checked when all its kinds are asked for."""


def of(problem: Problem) -> Any:
    """Return the module of the problem's family."""
    package = found()[0][problem.family].package
    own = package == OWN_PACKAGE
    return import_module(
        f"{__name__}.{problem.family}" if own else f"{package}.{problem.family}_operands"
    )


def small(problem: P) -> P:
    """Return the problem's twin for the check: the same kind, small enough to judge whole."""
    return cut_down(problem, of(problem).SMALL)


def probe(problem: P, times: int = 1) -> P:
    """Return the problem's twin for an estimate, large enough to show a rate.

    times: how much larger, in each of its sizes or in its items, though never beyond the problem.
    """
    family = of(problem)
    if hasattr(family, "probe"):
        smaller: P = family.probe(problem, times)
        return smaller
    return cut_down(problem, {name: times * size for name, size in family.PROBE.items()})


def references(
    kernel: Kernel, problem: Problem, precision: str, operation: str, seed: int
) -> Mapping[str, Reference]:
    """Return the reference of each output of a small twin's kernel, the first under the name "".

    From newly drawn inputs, not those that the kernel holds; a model's kernel brings its own,
    which holds the weights as they were at first.
    """
    family = of(problem)
    if not hasattr(family, "reference"):
        return {name: output.reference for name, output in kernel.outputs.items()}
    drawn = family.inputs(problem, precision, seed)
    found = family.reference(problem, drawn, precision, computed(operation))
    return found if isinstance(found, Mapping) else {"": found}


def cut_down(problem: P, most: Mapping[str, int]) -> P:
    """Return the same kind of problem with no size above `most` of it."""
    sizes = {name: min(getattr(problem, name), limit) for name, limit in most.items()}
    return replace(problem, **sizes)  # type: ignore[arg-type]


def kinds(family: str) -> tuple[Problem, ...]:
    """Return the small twins of the family's published list, each distinct one once.

    Of more than MOST_KINDS only so many stay: those with a size (a transpose, a cell, a stride)
    that no twin before them has, however many they are, and others from all over the list.
    """
    twins = {twin.id: twin for twin in map(small, load(family))}
    if len(twins) <= MOST_KINDS:
        return tuple(twins.values())
    shown: set[tuple[str, object]] = set()
    first = []
    for name, twin in twins.items():
        sizes = set(twin.sizes().items())
        if not sizes <= shown:
            first.append(name)
            shown |= sizes
    others = [name for name in twins if name not in first]
    room = max(0, MOST_KINDS - len(first))
    spread = [others[turn * len(others) // room] for turn in range(room)]
    return tuple(twins[name] for name in [*first, *spread])
