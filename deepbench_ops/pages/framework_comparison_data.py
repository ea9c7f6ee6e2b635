"""data/contests/MACHINE: the kernels that several frameworks have measured on a machine.

data/frameworks: the matrix of each machine. Its cells name kernels by their index in that list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.frameworks_by_family import Row
from deepbench_ops.analysis.frameworks_by_kernel import Contest
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.roofline import intensity
from deepbench_ops.pages.data_files import (
    FOLDER,
    machine_key,
    rounded,
    rounded_if_known,
    write_data,
)


def write(
    html_dir: Path,
    by_machine: Mapping[str, Sequence[Contest]],
    matrices: Mapping[str, Sequence[Row]],
) -> None:
    """Write the data file of each machine, and the file with the matrices of all machines.

    matrices: the result of `frameworks_by_family.matrix` for the contests of each machine.
    """
    for machine, found in by_machine.items():
        write_data(html_dir / FOLDER / "contests" / machine_key(machine), content(found))
    of_machines = [
        {
            "machine": machine,
            "key": machine_key(machine),
            "versions": _versions(found),
            "rows": [_row(row) for row in matrices[machine]],
        }
        for machine, found in by_machine.items()
    ]
    write_data(html_dir / FOLDER / "frameworks", of_machines)


def _versions(found: Sequence[Contest]) -> dict[str, list[str]]:
    """Versions of each framework whose times are compared, oldest first."""
    releases = {point.release for contest in found for point in contest.points}
    versions: dict[str, list[str]] = {}
    for release in sorted(releases, key=lambda release: (release.framework, release.date)):
        versions.setdefault(release.framework, []).append(release.version)
    return versions


def _row(row: Row) -> dict[str, Any]:
    """A row of a matrix; a list of kernels that is left out equals `common`."""
    common = row.cells[row.fastest].kernels
    return {
        "family": row.family,
        "precision": row.precision,
        **({"device": row.device} if row.device else {}),
        "clear": row.clear,
        "common": list(common),
        "cells": {
            name: {
                "ratio": rounded(cell.ratio, 4),
                "clear": cell.clear,
                "against": cell.against,
                "together": cell.together,
                **({} if cell.kernels == common else {"kernels": list(cell.kernels)}),
            }
            for name, cell in row.cells.items()
        },
    }


def section(contest: Contest) -> tuple[str, str, str]:
    """Family, operation and precision, which name the section of the page that shows a kernel."""
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
            "name": ", ".join(filter(None, [contest.kernel.name, contest.kernel.other_device])),
            **_title(contest.kernel),
            "application": contest.kernel.problem.application,
            "sets": list(contest.sets),
            "times": [_time(point) for point in contest.points],
            "intensity": rounded_if_known(intensity(contest.kernel), 3),
            "ahead": rounded(contest.ahead, 5),
            "fastest": contest.fastest,
            **({"shared": contest.shared} if contest.shared else {}),
        }
        for contest in found
    ]


def _title(point: Point) -> dict[str, str]:
    """The readable name of the problem, if it has one."""
    title = point.problem.title
    return {} if title == point.problem_id else {"title": title}


def _time(point: Point) -> list[Any]:
    """Framework, release, version, day, seconds, and both ends of the interval.

    Instead of an interval that is missing, the last field says why.
    """
    release = point.release
    known = [release.framework, release.name, release.version, release.date.isoformat()]
    interval = (
        [rounded(end, 5) for end in point.interval] if point.interval else [point.without_interval]
    )
    return [*known, rounded(point.seconds, 5), *interval]
