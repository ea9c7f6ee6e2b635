"""A plan from a request: which releases, on which machine types, in how many jobs.

The families of a release are put into one job until it takes about as long as asked for. How long a
point takes is known from earlier records of its kind: of the machine type, else of all machines,
else a usual one (`asv_adapter.run_forecast`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from deepbench_ops.asv_adapter import run_forecast
from deepbench_ops.asv_adapter.run_forecast import PointKind
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet.job_plan import Job, Plan
from deepbench_ops.problems.selections import CLASSES, operations, select, selection_name
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.releases import release_ranges, table_location
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage.result_key import ResultKey

ROUNDS = 2
"""Processes that measure each point, as the suite's benchmarks ask for."""


@dataclass(frozen=True)
class PlanRequest:
    """Releases, kernels and machine types of a plan.

    job_seconds: about how long a job may take; a family that takes longer has a job of its own.
    The others are those of the plan.
    """

    machines: tuple[str, ...]
    releases: tuple[Release, ...]
    selection: str
    precisions: tuple[str, ...]
    job_seconds: float
    families: tuple[str, ...] = ()
    system: str = ""
    config: str = ""
    every_node: bool = False


def make(request: PlanRequest, results: Path) -> Plan:
    """Return the plan. Raises DeepbenchError where no kernel is selected."""
    points = points_by_family(request.selection, request.families, request.precisions)
    if not points:
        raise DeepbenchError(
            f"{request.selection} has no kernel at {', '.join(request.precisions)}"
            f"{' of ' + ', '.join(request.families) if request.families else ''}: choose another"
            " --selection, --family or --precision"
        )
    jobs = []
    for machine in request.machines:
        known = run_forecast.costs(run_forecast.records(results, machine))
        for release in request.releases:
            shards = _shards(points, release.framework, known, request.job_seconds)
            for number, (families, seconds) in enumerate(shards, 1):
                count = sum(len(points[family]) for family in families)
                jobs.append(Job(machine, release.name, number, families, count, round(seconds, 1)))
    return Plan(
        request.selection,
        request.precisions,
        tuple(jobs),
        request.system,
        request.config,
        request.every_node,
    )


def points_by_family(
    selection: str, families: Sequence[str], precisions: Sequence[str]
) -> dict[str, Counter[ResultKey]]:
    """Return how often each point of a selection is measured, by family.

    families: all of the selection where none is named. A family without such points is left out.
    """
    fused = selection_name(selection) != "headline"
    found: dict[str, Counter[ResultKey]] = {}
    members = [each for family in families or (None,) for each in select(selection, family)]
    for listed, problem, some in members:
        counts = some or problem.ranks
        ranks: list[tuple[str, ...]] = [(str(each),) for each in counts] if counts else [()]
        named = {*precisions} & {*problem.precisions}
        own = found.setdefault(problem.family, Counter())
        for operation, precision, of in product(operations(problem, fused), named, ranks):
            name = f"{problem.family}.{CLASSES[listed]}.kernel_{operation}"
            own[name, (problem.id, precision, *of)] = ROUNDS
    return {family: own for family, own in found.items() if own}


def _shards(
    points: Mapping[str, Counter[ResultKey]],
    framework: str,
    known: Mapping[PointKind, float],
    most: float,
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield families that make a job together, and the seconds that it takes."""
    families: tuple[str, ...] = ()
    total = 0.0
    for family, own in points.items():
        seconds = run_forecast.forecast(own, framework, known)
        if families and total + seconds > most:
            yield families, total
            families, total = (), 0.0
        families, total = (*families, family), total + seconds
    yield families, total


def releases(results: Path, frameworks: Sequence[str], named: str | None) -> tuple[Release, ...]:
    """Return the releases of a request, by framework and oldest first.

    frameworks: all that have releases which are measured without asking, where none is named.
    named: versions and spans of the one framework, such as 1.26.4..2.4.6; None for the newest
    release of each. Raises DeepbenchError for unknown names.
    """
    every = table_location.measurable(results)
    by_framework: dict[str, list[Release]] = {}
    for release in every:
        by_framework.setdefault(release.framework, []).append(release)
    for name in frameworks:
        if name not in by_framework:
            raise unknown("framework", name, sorted(by_framework))
    if named is not None:
        if len(frameworks) != 1:
            raise DeepbenchError(
                f"--releases {named}: name one --framework, whose releases these are"
            )
        return tuple(release_ranges.select(named, by_framework[frameworks[0]]))
    usual = {
        name: [release for release in own if not release.on_request]
        for name, own in by_framework.items()
    }
    if frameworks:
        return tuple((usual[name] or by_framework[name])[-1] for name in frameworks)
    return tuple(own[-1] for own in usual.values() if own)
