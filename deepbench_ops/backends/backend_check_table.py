"""Table of checks of all kernels against float64, by framework, device, operation and precision.

A benchmark checks its own kernel before it times it. This table checks all kernels and times none,
to find out beforehand whether they work on a new machine, framework or release.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from deepbench_ops import backends
from deepbench_ops.backends import families
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.output_check import Check, check
from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, Unsupported, one_line
from deepbench_ops.problems.problem import FIRST_CALL, Problem
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.run_conditions import LAYOUT

OK, WRONG, SKIPPED = "ok", "wrong", "skipped"
VERDICTS = (OK, WRONG, SKIPPED)

ALL = "all"
"""Text in a row that is about every family, operation, precision or layout, because a framework or
device has none of them."""


@dataclass(frozen=True)
class CheckResult:
    """Result of one operation at one precision, over all small twins of the family.

    verdict: one of VERDICTS. error, tolerance: absolute error and allowed error at the entry whose
    error is the largest part of its tolerance, among all entries of all twins; None where nothing
    was compared or the error is not finite. problem: id of the twin with this entry. compared:
    number of twins that were compared. reason: why kernels are wrong or were skipped.
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
    report: Callable[[str], object] = lambda step: None,
    kinds: int | None = None,
    layouts: Sequence[str] = (LAYOUT.usual,),
) -> Iterator[CheckResult]:
    """Yield a row for every combination, and one row for a framework, device or family without
    kernels.

    chosen: names of the families. precisions, layouts: names to check; empty for all that a family
    has. threads: number for each operation, None for the framework's own. report: called with the
    name of the next step. kinds: number of small twins to check, None for all. Raises
    DeepbenchError for unknown names.
    """
    for framework in frameworks:
        for device in devices:
            report(f"{framework} on {device}")
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
    reason = _missing_reason(backend, family)
    if reason:
        yield CheckResult(backend.name, backend.device, family, reason=reason)
        return
    twins = families.kinds(family)[:kinds]
    timed = FIRST_CALL in TYPES[family].uncompared and backend.compiles
    first = (FIRST_CALL,) if timed else ()
    operations = (*TYPES[family].operations, *first)
    for layout in layouts or TYPES[family].layouts:
        backend.layout = layout
        for operation, precision in product(operations, precisions or TYPES[family].precisions):
            yield _row(backend, twins, operation, precision)


def _missing_reason(backend: Backend, family: str) -> str:
    """Return the reason why a backend has no kernel of a family, "" where it has kernels."""
    try:
        has = backend.builder(family) is not None
    except DeepbenchError as fault:
        return str(fault)
    return "" if has else backend.lacking_reason(family)


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
        except PLUGIN_FAULTS as fault:  # a table of all kernels must not end at a broken one
            wrong.append(f"{twin.id} raises {type(fault).__name__}: {one_line(fault)}")
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
    """Return the most frequent reason, with the number of twins if not all twins have a reason."""
    if not reasons:
        return ""
    usual, _ = Counter(reasons).most_common(1)[0]
    return usual if len(reasons) == kinds else f"{len(reasons)} of {kinds} kinds: {usual}"
