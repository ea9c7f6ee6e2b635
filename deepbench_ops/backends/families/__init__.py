"""Code that the kernels of all frameworks share: operands, references and small twins of a family.

Each family has one module here, with the family's name (in another distribution it is called
`<family>_operands` and lies next to the family's dataclass). A module has

- ``SMALL`` and ``PROBE``: the largest value of each size in a small twin, for the check (SMALL) and
  for an estimate of speed (PROBE);
- ``inputs(problem, precision, seed)``: the operands, an object with a mapping ``notes``;
- ``reference(problem, inputs, precision, operation)``: the true output, a `kernel.Reference`. For
  an operation with several outputs it is a mapping from the outputs' names to references, and the
  first output has the name "". A framework's module returns the others as `Prepared.further`.

A module of whole models has neither ``inputs`` nor ``reference``: the framework's module computes
the reference. The following hooks are optional. No code outside a family's own files tests for the
name of a family.

- ``refuse(problem, precision, operation)``: raise Unsupported for combinations that no framework is
  to compute;
- ``GRADIENTS``: names of the outputs of the backward pass, each with the name of the operand whose
  gradient it is;
- ``outputs(problem, operation)``: names of the outputs, for a family whose outputs do not follow
  from GRADIENTS;
- ``notes(inputs, operation)``: notes on the operands that depend on the operation; without this
  hook they are ``inputs.notes``;
- ``reference_from(problem, inputs, precision, operation, own)``: as ``reference``, for outputs of
  full size that take too long to compute as a whole. ``own`` maps names to functions that read
  the kernel's own outputs and intermediate values (`Prepared.intermediate`), so that an entry can
  be computed from the values one step before;
- ``reference_name(operation, precision)``: one name for all operations that have the same
  references, so that these are stored once (`reference_cache`); without it the operation's;
- ``small(problem)`` and ``probe(problem, times)``: the twins for the check and for an estimate,
  where ``SMALL`` and ``PROBE`` cannot describe them;
- ``memory_needed(problem, operation, execution)``: bytes of memory, where they do not follow from
  the operands.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from deepbench_ops.backends.kernel import Kernel, Read, Reference, ReferenceSource
from deepbench_ops.problems.family_list import OWN_PACKAGE, found
from deepbench_ops.problems.problem import Problem, computed
from deepbench_ops.problems.problem_lists import load

P = TypeVar("P", bound=Problem)

TWIN_LIMIT = 40
"""Number of small twins in a check of all kinds of problems of a family."""


def module_of(problem: Problem) -> Any:
    """Return the module of the problem's family."""
    package = found()[0][problem.family].package
    own = package == OWN_PACKAGE
    return import_module(
        f"{__name__}.{problem.family}" if own else f"{package}.{problem.family}_operands"
    )


def small(problem: P) -> P:
    """Return the problem's small twin: the same kind of problem, small enough to check entirely."""
    family = module_of(problem)
    if hasattr(family, "small"):
        smaller: P = family.small(problem)
        return smaller
    return with_limits(problem, family.SMALL)


def probe(problem: P, times: int = 1) -> P:
    """Return the problem's twin for an estimate of speed, large enough to show a rate.

    times: factor on each size of the twin, or on its items; no size exceeds that of the problem.
    """
    family = module_of(problem)
    if hasattr(family, "probe"):
        smaller: P = family.probe(problem, times)
        return smaller
    return with_limits(problem, {name: times * size for name, size in family.PROBE.items()})


def refuse(problem: Problem, precision: str, operation: str) -> None:
    """Raise Unsupported for a combination that no framework is to compute, by the family's hook."""
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

    Without the hook a backward pass has the outputs in the family's GRADIENTS, and any other
    operation has one output, "".
    """
    family = module_of(problem)
    if hasattr(family, "outputs"):
        return tuple(family.outputs(problem, operation))
    return tuple(family.GRADIENTS) if operation.endswith("backward") else ("",)


def memory_needed(problem: Problem, operation: str, execution: str) -> float | None:
    """Return the bytes that a kernel takes by the family's hook, None where it has no hook."""
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


def reference_source(
    problem: Problem, drawn: Any, precision: str, operation: str
) -> ReferenceSource | None:
    """Return the source of an operation's references.

    None for a family of another distribution, whose code is not among the code of this one, for one
    whose references read the kernel's own outputs, and where `drawn` has no function
    ``of(operation)`` that returns its arrays by name.
    """
    family = module_of(problem)
    own = family.__name__.startswith(f"{__name__}.")
    if not own or hasattr(family, "reference_from") or not hasattr(drawn, "of"):
        return None
    name = operation
    if hasattr(family, "reference_name"):
        name = family.reference_name(operation, precision)
    return ReferenceSource(
        (problem.family, problem.id, precision, name), partial(drawn.of, operation)
    )


def fresh_references(
    kernel: Kernel, problem: Problem, precision: str, operation: str, seed: int
) -> Mapping[str, Reference]:
    """Return the references of a small twin's kernel, computed from newly drawn operands.

    This finds a kernel that changes its operands. Where the family has no reference, return the
    kernel's own: that of a model has a copy of the initial weights.
    """
    family = module_of(problem)
    if not hasattr(family, "reference"):
        return {name: output.reference for name, output in kernel.outputs.items()}
    drawn = family.inputs(problem, precision, seed)
    return references(problem, drawn, precision, computed(operation))


def with_limits(problem: P, most: Mapping[str, int]) -> P:
    """Return the problem with each size in `most` reduced to its limit there."""
    sizes = {name: min(getattr(problem, name), limit) for name, limit in most.items()}
    return replace(problem, **sizes)  # type: ignore[arg-type]


def kinds(family: str) -> tuple[Problem, ...]:
    """Return the distinct small twins of the problems in the family's list.

    More than TWIN_LIMIT twins are reduced: first come all twins with a size (or transpose, cell,
    stride) that no earlier twin has, then others, evenly spread over the list, up to the limit.
    """
    twins = {twin.id: twin for twin in map(small, load(family))}
    if len(twins) <= TWIN_LIMIT:
        return tuple(twins.values())
    shown: set[tuple[str, object]] = set()
    first = []
    for name, twin in twins.items():
        sizes = set(twin.sizes().items())
        if not sizes <= shown:
            first.append(name)
            shown |= sizes
    others = [name for name in twins if name not in first]
    room = max(0, TWIN_LIMIT - len(first))
    spread = [others[turn * len(others) // room] for turn in range(room)]
    return tuple(twins[name] for name in [*first, *spread])
