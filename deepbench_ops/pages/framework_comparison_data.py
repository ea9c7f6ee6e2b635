"""data/contests/MACHINE: the kernels of a machine that several frameworks have measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.frameworks import Contest
from deepbench_ops.analysis.points import Point
from deepbench_ops.pages.data_files import FOLDER, machine_key, rounded, write_data


def write(html_dir: Path, by_machine: Mapping[str, Sequence[Contest]]) -> None:
    """Write the data file of each machine."""
    for machine, found in by_machine.items():
        write_data(html_dir / FOLDER / "contests" / machine_key(machine), content(found))


def section(contest: Contest) -> tuple[str, str, str]:
    """Family, operation and precision: the section of the page that shows a kernel."""
    return contest.kernel.family, contest.kernel.operation, contest.kernel.precision


def content(found: Sequence[Contest]) -> list[dict[str, Any]]:
    """The kernels, each with the newest time of every framework, fastest first."""
    return [
        {
            "kernel": {
                "benchmark": contest.kernel.benchmark,
                "problem": {"id": contest.kernel.problem_id},
                "precision": contest.kernel.precision,
                "ranks": contest.kernel.ranks,
                **contest.kernel.unusual,
            },
            "section": list(section(contest)),
            "name": contest.kernel.name,
            "application": contest.kernel.problem.application,
            "sets": list(contest.sets),
            "times": [_time(point) for point in contest.points],
            "ahead": rounded(contest.ahead, 5),
            "fastest": contest.fastest,
            **({"shared": contest.shared} if contest.shared else {}),
        }
        for contest in found
    ]


def _time(point: Point) -> list[Any]:
    """Framework, release, version, day, seconds, and either both ends of the interval or the
    reason why there is none."""
    release = point.release
    known = [release.framework, release.name, release.version, release.date.isoformat()]
    interval = (
        [rounded(end, 5) for end in point.interval] if point.interval else [point.without_interval]
    )
    return [*known, rounded(point.seconds, 5), *interval]
