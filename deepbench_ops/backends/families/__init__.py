"""Parts that the kernels of all frameworks share: operands, references, small twins of a family.

One module per family, named after it (in another distribution `<family>_operands`, next to the
family's dataclass). Each has

- ``SMALL`` and ``PROBE``: mappings of sizes to the largest value that the small twin keeps, for the
  check and for an estimate of speed;
- ``inputs(problem, precision, seed)``: the operands, an object with a mapping ``notes``;
- ``reference(problem, inputs, precision, operation)``: the true output, a `kernel.Reference`. Of an
  operation with several outputs it is a mapping of references by the outputs' names, and the first
  output has the name "". A framework's module hands out the others as `Prepared.further`.

Whole models have neither of the last two: a framework's module brings the reference. These hooks
are optional, and nothing outside a family's own files asks for a family by its name:

- ``refuse(problem, precision, operation)``: raise Unsupported for what no framework is asked to do;
- ``GRADIENTS``: outputs of the backward pass, and the operands that they are the gradients of;
- ``outputs(problem, operation)``: names of the outputs where they are more than GRADIENTS says;
- ``notes(inputs, operation)``: notes on the operands that depend on the operation; without it they
  are ``inputs.notes``;
- ``reference_from(problem, inputs, precision, operation, own)``: as ``reference``, for outputs of
  full size that take too long to compute as a whole. ``own`` maps names to functions that read
  the kernel's own outputs and intermediate values (`Prepared.intermediate`), so that an entry can
  be computed from the values one step before;
- ``small(problem)`` and ``probe(problem, times)``: the twins for the check and for an estimate,
  where ``SMALL`` and ``PROBE`` cannot describe them;
- ``memory_needed(problem, operation, execution)``: bytes, where they do not follow from operands.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

from deepbench_ops.backends.kernel import Kernel, Read, Reference
from deepbench_ops.problems.families import OWN_PACKAGE, found
from deepbench_ops.problems.problem import Problem, computed
from deepbench_ops.problems.problem_lists import load

P = TypeVar("P", bound=Problem)

MOST_KINDS = 40
"""Small twins of a family that are checked when all its kinds are asked for."""


def module_of(problem: Problem) -> Any:
    """Return the module of the problem's family."""
    package = found()[0][problem.family].package
    own = package == OWN_PACKAGE
    return import_module(
        f"{__name__}.{problem.family}" if own else f"{package}.{problem.family}_operands"
    )


def small(problem: P) -> P:
    """Return the problem's twin for the check: the same kind, small enough to judge whole."""
    family = module_of(problem)
    if hasattr(family, "small"):
        smaller: P = family.small(problem)
        return smaller
    return cut_down(problem, family.SMALL)


def probe(problem: P, times: int = 1) -> P:
    """Return the problem's twin for an estimate, large enough to show a rate.

    times: how much larger, in each of its sizes or in its items, though never beyond the problem.
    """
    family = module_of(problem)
    if hasattr(family, "probe"):
        smaller: P = family.probe(problem, times)
        return smaller
    return cut_down(problem, {name: times * size for name, size in family.PROBE.items()})


def refuse(problem: Problem, precision: str, operation: str) -> None:
    """Raise Unsupported for what no framework is asked to do, by the family's hook."""
    family = module_of(problem)
    if hasattr(family, "refuse"):
        family.refuse(problem, precision, operation)


def notes(problem: Problem, drawn: Any, operation: str) -> Mapping[str, str]:
    """Return the notes on the operands `drawn` of an operation."""
    family = module_of(problem)
    found: Mapping[str, str] = (
        family.notes(drawn, operation) if hasattr(family, "notes") else drawn.notes
    )
    return found


def outputs(problem: Problem, operation: str) -> tuple[str, ...]:
    """Return the names of an operation's outputs, by the family's hook.

    Without it a backward pass has those of the family's GRADIENTS, and all else one, "".
    """
    family = module_of(problem)
    if hasattr(family, "outputs"):
        return tuple(family.outputs(problem, operation))
    return tuple(family.GRADIENTS) if operation.endswith("backward") else ("",)


def memory_needed(problem: Problem, operation: str, execution: str) -> float | None:
    """Return the bytes that a kernel takes by the family's count, None where it has no count."""
    family = module_of(problem)
    if not hasattr(family, "memory_needed"):
        return None
    return float(family.memory_needed(problem, operation, execution))


def references(
    problem: Problem,
    drawn: Any,
    precision: str,
    operation: str,
    own: Mapping[str, Read] | None = None,
) -> Mapping[str, Reference]:
    """Return the reference of each output by its name, the first under the name "".

    own: functions that read the kernel's own outputs and intermediate values, by name.
    """
    family = module_of(problem)
    if own is not None and hasattr(family, "reference_from"):
        made = family.reference_from(problem, drawn, precision, operation, own)
    else:
        made = family.reference(problem, drawn, precision, operation)
    return made if isinstance(made, Mapping) else {"": made}


def drawn_again(
    kernel: Kernel, problem: Problem, precision: str, operation: str, seed: int
) -> Mapping[str, Reference]:
    """Return the references of a small twin's kernel, made from newly drawn inputs.

    So a kernel that changes its operands is found out. The kernel's own references where the family
    has none: a model's holds the weights as they were at first.
    """
    family = module_of(problem)
    if not hasattr(family, "reference"):
        return {name: output.reference for name, output in kernel.outputs.items()}
    drawn = family.inputs(problem, precision, seed)
    return references(problem, drawn, precision, computed(operation))


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
