"""Every kernel there is, checked against float64: by framework, device, operation and precision.

A benchmark checks its own kernel before it times it. This goes through all of them without timing
any, so that a new machine, framework or release can be looked over beforehand.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from deepbench_ops import backends
from deepbench_ops.backends import families
from deepbench_ops.backends.base import Backend
from deepbench_ops.backends.check import Check, check
from deepbench_ops.conditions import LAYOUT
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.problem import FIRST_CALL, Problem
from deepbench_ops.problems.problem_lists import TYPES

OK, WRONG, SKIPPED = "ok", "wrong", "skipped"
VERDICTS = (OK, WRONG, SKIPPED)

ALL = "all"
"""Stands in a row for every family, operation, precision or layout, where none can be had."""


@dataclass(frozen=True)
class CheckResult:
    """Result of one operation at one precision, over all kinds of problem of the family.

    error and tolerance: those of the entry, among all entries of all kinds, whose error is the
    largest part of what is allowed there; None where nothing was compared, or the error is no
    number. problem: the small problem that has this entry. compared: how many small problems were.
    """

    framework: str
    device: str
    family: str = ALL
    operation: str = ALL
    precision: str = ALL
    layout: str = ALL
    verdict: str = SKIPPED
    error: float | None = None
    tolerance: float | None = None
    problem: str = ""
    compared: int = 0
    reason: str = ""


def rows(
    frameworks: Sequence[str],
    devices: Sequence[str],
    chosen: Sequence[str],
    precisions: Sequence[str],
    threads: int | None = None,
    tell: Callable[[str], object] = lambda step: None,
    kinds: int | None = None,
    layouts: Sequence[str] = (LAYOUT.usual,),
) -> Iterator[CheckResult]:
    """Yield a row for every combination, and one for all that a framework or device lacks.

    chosen: the families. precisions: none for those that each family has. threads: how many each
    operation may use, None to leave that as it is.
    tell: called with the next step's name. kinds: how many kinds of problem to look at, None for
    all. layouts: of the tensors, none for those that each family has. DeepbenchError for names that
    do not exist.
    """
    for framework in frameworks:
        for device in devices:
            tell(f"{framework} on {device}")
            try:
                backend = backends.load(framework, device)
            except (Unsupported, DeepbenchError) as lacking:
                yield CheckResult(framework, device, reason=str(lacking))
                continue
            if threads is not None:
                with suppress(Unsupported):
                    backend.set_threads(threads)
            for family in chosen:
                yield from _of_family(backend, family, precisions, kinds, layouts)


def _of_family(
    backend: Backend,
    family: str,
    precisions: Sequence[str],
    kinds: int | None,
    layouts: Sequence[str],
) -> Iterator[CheckResult]:
    reason = _none(backend, family)
    if reason:
        yield CheckResult(backend.name, backend.device, family, reason=reason)
        return
    twins = families.kinds(family)[:kinds]
    first = (FIRST_CALL,) if backend.compiles else ()
    operations = (*TYPES[family].operations, *first)
    for layout in layouts or TYPES[family].layouts:
        backend.layout = layout
        for operation, precision in product(operations, precisions or TYPES[family].precisions):
            yield _row(backend, twins, operation, precision)


def _none(backend: Backend, family: str) -> str:
    """Return why a backend has no kernel of a family at all, "" where it has some."""
    try:
        has = backend.builder(family) is not None
    except DeepbenchError as fault:
        return str(fault)
    return "" if has else f"the {backend.name} backend has no {family} kernels"


def _row(backend: Backend, twins: Sequence[Problem], operation: str, precision: str) -> CheckResult:
    """Check every twin; a fault that a kernel raises counts as a wrong result."""
    found: list[tuple[Problem, Check]] = []
    refused: list[str] = []
    wrong: list[str] = []
    for twin in twins:
        try:
            one = check(backend, twin, precision, operation)
        except Unsupported as lacking:
            refused.append(str(lacking))
        except Exception as fault:  # a table of all kernels must not end at the first broken one
            wrong.append(f"{twin.id} raises {type(fault).__name__}: {' '.join(str(fault).split())}")
        else:
            found.append((twin, one))
            if not one.ok:
                named = f"{one.output} of " if one.output else ""
                wrong.append(
                    f"entry {one.entry} of {named}{twin.id} is off by {one.error:.3g} where"
                    f" {one.tolerance:.3g} is allowed"
                )
    place = (backend.name, backend.device, twins[0].family, operation, precision, backend.layout)
    verdict = WRONG if wrong else OK if found else SKIPPED
    reason = _reason(wrong or refused, len(twins))
    if not found:
        return CheckResult(*place, verdict, reason=reason)
    worst, least = max(found, key=lambda pair: pair[1].badness)
    error = least.error if math.isfinite(least.error) else None
    return CheckResult(*place, verdict, error, least.tolerance, worst.id, len(found), reason)


def _reason(reasons: list[str], kinds: int) -> str:
    """Return the reason of most, and how many kinds have one where not all do."""
    if not reasons:
        return ""
    usual, _ = Counter(reasons).most_common(1)[0]
    return usual if len(reasons) == kinds else f"{len(reasons)} of {kinds} kinds: {usual}"
