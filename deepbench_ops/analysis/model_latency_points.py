"""Stored runs of `deepbench latency` as points, next to the points that asv measured."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deepbench_ops.analysis.points import Point
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CACHE, LAYOUT

KIND, SET, OPERATION = "latency", "inference_server", "forward"


def with_latency_runs(
    machine: str,
    measured: Sequence[Point],
    runs: Iterable[Mapping[str, Any]],
    releases: Mapping[str, Release],
) -> list[Point]:
    """Return the points of a machine, and a point for each run of a kernel that none of them is of.

    A run has its median as its seconds, and no interval. Left out are runs of releases that are not
    among `releases`, by name, of unknown models, and with a given number of torch's threads between
    operations.
    """
    known = {_key(point) for point in measured}
    found = _points(machine, runs, releases)
    return [*measured, *(point for point in found if _key(point) not in known)]


def problem(run: Mapping[str, Any]) -> Problem:
    """Return the problem that a run is of. Raises DeepbenchError for an unknown model."""
    return problem_of(Model.family, Model(run["model"], run["batch"], run["threads"]).id)


def _key(point: Point) -> tuple[str, ...]:
    asked = (point.problem_id, point.operation, point.precision, point.release.name)
    return (*asked, point.device, point.layout, point.execution)


def _points(
    machine: str, runs: Iterable[Mapping[str, Any]], releases: Mapping[str, Release]
) -> Iterator[Point]:
    for run in runs:
        release = releases.get(run["release"]) if run["kind"] == KIND else None
        if release is None or run.get("inter_op") is not None:
            continue
        try:
            asked = problem(run)
        except DeepbenchError:
            continue
        yield Point(
            machine=machine,
            release=release,
            family=Model.family,
            set=SET,
            operation=OPERATION,
            problem_id=asked.id,
            precision=run["precision"],
            ranks=None,
            device=run["device"],
            cache=CACHE.usual,
            layout=run.get("layout", LAYOUT.usual),
            execution=run["by"],
            seconds=run["median_seconds"],
            low=None,
            high=None,
            samples=run.get("batches", 1),
        )
