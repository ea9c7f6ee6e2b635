"""data/index: summaries of all machines for the start page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deepbench_ops.analysis.change_causes import Cause, latest
from deepbench_ops.analysis.change_courses import Courses
from deepbench_ops.analysis.frameworks_by_family import Row
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.machine_ranking_by_family import Ranking, rankings
from deepbench_ops.analysis.machine_summary import family_summaries
from deepbench_ops.analysis.speed_index import Speed
from deepbench_ops.pages import speed_data
from deepbench_ops.pages.addresses import timeline_fragment
from deepbench_ops.pages.data_files import rounded
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.problems.selections import select
from deepbench_ops.releases.release_table import Release

SHOWN_CHANGES = 12
"""Largest number of changes on the start page."""


def content(
    machines: Sequence[MachineRecord],
    lines: Sequence[Line],
    causes: Sequence[Cause],
    speeds: Sequence[Speed],
    matrices: Mapping[str, Sequence[Row]],
    places: Mapping[Release, int],
) -> dict[str, Any]:
    """Figures of each machine, framework and family, and the latest changes.

    matrices: by machine, the comparison of its frameworks for each family.
    """
    headline = select("headline")
    profiles = {machine.name: machine.profile for machine in machines}
    courses = Courses(lines)
    recent = latest(causes)
    several = [line for line in lines if line.measured and len(line.points) > 1]
    return {
        "points": sum(len(line.points) for line in lines),
        "lines": len(lines),
        "headline": {
            family: len({(m.set, m.problem.id) for m in headline if m.problem.family == family})
            for family in dict.fromkeys(member.problem.family for member in headline)
        },
        "standings": [
            {
                "machine": one.machine,
                "framework": one.framework,
                "family": one.family,
                "precision": one.precision,
                "newest": places[one.newest],
                "kernels": one.kernels,
                "of_roof": None if one.of_roof is None else rounded(one.of_roof, 4),
                "headline": one.headline,
                "sources": [
                    [places[source.release], source.kernels, list(source.selections)]
                    for source in one.sources
                ],
                "unusual": dict(one.unusual),
            }
            for one in family_summaries(lines, profiles, headline)
        ],
        "speeds": [speed_data.fields(one, places) for one in speeds],
        "changes": len(causes),
        "several": len(several),
        "judged": sum(line.judgeable for line in several),
        "recent": len(recent),
        "latest": [change(cause, places, courses) for cause in recent[:SHOWN_CHANGES]],
        "fastest": [_ranking(each) for each in rankings(lines, profiles)],
        "ratios": {
            machine: [_ratios(row) for row in rows] for machine, rows in matrices.items() if rows
        },
    }


def _ranking(ranking: Ranking) -> dict[str, Any]:
    """A ranking, with the fields of `machine_ranking_by_family.Rank` for each machine."""
    return {
        "family": ranking.family,
        "precision": ranking.precision,
        "kernels": ranking.kernels,
        "counts": ranking.counts,
        "ranks": [
            {
                "machine": rank.machine,
                **({"device": rank.device} if rank.device else {}),
                "rate": rounded(rank.rate, 4),
                "roof": None if rank.roof is None else rounded(rank.roof, 4),
                "frameworks": list(rank.frameworks),
                "year": rank.day.year,
                "published": rank.published,
                "kernels": rank.kernels,
                "through": rank.through,
            }
            for rank in ranking.ranks
        ],
    }


def _ratios(row: Row) -> dict[str, Any]:
    """A row of the matrix.

    By framework: its ratio to the fastest, the number of kernels compared, and whether the ratio is
    more than noise. For the fastest framework: whether it is faster than all others beyond noise.
    """
    return {
        "family": row.family,
        "precision": row.precision,
        **({"device": row.device} if row.device else {}),
        "kernels": len(row.cells[row.fastest].kernels),
        "ratios": {
            name: [
                rounded(cell.ratio, 4),
                len(cell.kernels),
                row.clear if name == row.fastest else cell.clear,
            ]
            for name, cell in row.cells.items()
        },
    }


def change(cause: Cause, places: Mapping[Release, int], courses: Courses) -> dict[str, Any]:
    """A change with its kernels, largest ratio first, and their times over the releases."""
    course = courses.of(cause)
    return {
        "machine": cause.machine,
        "before": places[cause.before],
        "after": places[cause.after],
        "slower": cause.slower,
        "ratio": rounded(cause.ratio, 3),
        "scope": cause.scope,
        "watched": cause.watched,
        "span": [rounded(end, 3) for end in _span(cause)],
        "sure": cause.interval is not None,
        "course": [[places[release], rounded(ratio, 4)] for release, ratio in course],
        "lines": [
            {
                "at": timeline_fragment(shift.after),
                "name": shift.after.name,
                "title": shift.after.problem.title,
                "ratio": rounded(shift.change.ratio, 3),
            }
            for shift in sorted(cause.shifts, key=lambda shift: -abs(math.log(shift.change.ratio)))
        ],
    }


def _span(cause: Cause) -> tuple[float, float]:
    """The 99 % interval of a change; without one the range of its kernels' ratios."""
    ratios = [shift.change.ratio for shift in cause.shifts]
    return cause.interval or (min(ratios), max(ratios))
