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
from deepbench_ops.distributed import collective_options
from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet.fleet_plan import Job, Plan, profile
from deepbench_ops.fleet.planned_training import FRAMEWORK, RUNS, SECONDS, PlannedTraining
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
    placement: RankPlacement | None = None
    trainings: tuple[PlannedTraining, ...] = ()


def make(request: PlanRequest, results: Path) -> Plan:
    """Return the plan. Raises DeepbenchError where no kernel is selected, where ranks over several
    nodes would run another family than collective operations, and for trainings on one node or
    of another framework than torch.
    """
    placement = request.placement
    _demand_trainable(request)
    points = {} if request.trainings and not request.families else _points(request)
    if not points and not request.trainings:
        raise DeepbenchError(
            f"{request.selection} has no kernel at {', '.join(request.precisions)}"
            f"{' of ' + ', '.join(request.families) if request.families else ''}: choose another"
            " --selection, --family or --precision"
        )
    jobs = []
    for machine in (profile(each, placement) for each in request.machines):
        known = run_forecast.costs(run_forecast.records(results, machine))
        for release in request.releases:
            shards = list(_shards(points, release.framework, known, request.job_seconds))
            for number, (families, seconds) in enumerate(shards, 1):
                count = sum(len(points[family]) for family in families)
                jobs.append(Job(machine, release.name, number, families, count, round(seconds, 1)))
            first = len(shards) + 1
            jobs += [
                Job(machine, release.name, number, (), RUNS, SECONDS, training)
                for number, training in enumerate(request.trainings, first)
            ]
    return Plan(
        request.selection,
        request.precisions,
        tuple(jobs),
        request.system,
        request.config,
        request.every_node,
        placement,
    )


def _demand_trainable(request: PlanRequest) -> None:
    """Raise DeepbenchError where the trainings of a request cannot run."""
    if not request.trainings:
        return
    if request.placement is None:
        raise DeepbenchError(
            "--nodes is missing: --training is over several nodes; deepbench scaling trains on one"
        )
    others = [each.name for each in request.releases if each.framework != FRAMEWORK]
    if others:
        raise DeepbenchError(
            f"{others[0]} does not train networks here: with --training name --framework"
            f" {FRAMEWORK} alone"
        )


def _points(request: PlanRequest) -> dict[str, Counter[ResultKey]]:
    """Return the points of a request by family. Raises DeepbenchError as `_collectives` does."""
    placement = request.placement
    families = _collectives(request) if placement else request.families
    ranks = placement.ranks if placement else None
    return points_by_family(request.selection, families, request.precisions, ranks)


def _collectives(request: PlanRequest) -> tuple[str, ...]:
    """Return the families of a request for several nodes. Raises DeepbenchError for others."""
    assert request.placement is not None
    known = collective_options.kinds()
    ranks = request.placement.ranks
    for family in request.families:
        if family not in known:
            raise DeepbenchError(
                f"{family} runs on one node: over several nodes name --family {', '.join(known)}"
            )
    found = tuple(name for name in request.families or known if ranks in known[name].ranks)
    if not found:
        counts = sorted({each for name in request.families or known for each in known[name].ranks})
        raise DeepbenchError(
            f"{request.placement.nodes} nodes with {request.placement.ranks_per_node} ranks each"
            f" are {ranks} ranks: measured are {', '.join(map(str, counts))} ranks"
        )
    return found


def points_by_family(
    selection: str,
    families: Sequence[str],
    precisions: Sequence[str],
    only_ranks: int | None = None,
) -> dict[str, Counter[ResultKey]]:
    """Return how often each point of a selection is measured, by family.

    families: all of the selection where none is named. only_ranks: number of ranks of collective
    operations, in place of those of the selection. A family without such points is left out.
    """
    fused = selection_name(selection) != "headline"
    found: dict[str, Counter[ResultKey]] = {}
    members = [each for family in families or (None,) for each in select(selection, family)]
    for listed, problem, some in members:
        counts = (only_ranks,) if only_ranks else some or problem.ranks
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
    if families:
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
