"""data/newest/MACHINE: the newest times of each kernel with each framework, for comparisons.

The files of lines hold all releases with their intervals and notes. The files here have a quarter
of their size, so that a page can compare many machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.roofline import intensity, roof
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.pages.data_files import rounded, rounded_if_known
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS

SHOWN = (*(each.name for each in CONDITIONS if each.name != "device"), SETTINGS)
"""Conditions that distinguish kernels; a device belongs to its machine."""


FIELDS = (
    *("family", "set", "operation", "precision", "problem", "title", "ranks", "conditions"),
    *("application", "intensity"),
)
"""Fields of a kernel, in columns, since these take less space when they are compressed."""


def content(
    lines: Iterable[Line], profile: Profile | None, places: Mapping[Release, int]
) -> dict[str, Any]:
    """Kernels by field, states of the machine with numbers of threads, and by framework and device
    the newest steady time of each kernel, state and number of threads.

    A row holds the index of a kernel, the index of a release, seconds, the share of the roofline
    (null if unknown), the index of the state and of the number of threads (each "" if unknown) and
    of whether the time is of an ensemble, and for a time in conflict the seconds of all its
    versions.

    lines: those of one machine.
    """
    newest: dict[tuple[str, str, tuple[Any, ...], str, str], Point] = {}
    for line in lines:
        last_ones = {
            (each.settings, each.state, each.threads): each for each in line.steady if each.compared
        }
        for point in last_ones.values():
            kernel = _kernel(point)
            key = (point.release.framework, point.device, kernel, point.state, point.threads)
            known = newest.get(key)
            if known is None or known.release.date <= point.release.date:
                newest[key] = point
    kernels: dict[tuple[Any, ...], int] = {}
    states: dict[tuple[str, str, bool], int] = {}
    times: dict[str, dict[str, list[list[Any]]]] = {}
    for (framework, device, kernel, *_), point in newest.items():
        own = times.setdefault(framework, {}).setdefault(device, [])
        place = kernels.setdefault(kernel, len(kernels))
        state = states.setdefault(
            (point.state, point.threads, point.ensemble is not None), len(states)
        )
        share = _of_roof(profile, point)
        versions = [[rounded(each, 5) for each in point.conflict]] if point.conflict else []
        seconds = rounded(point.seconds, 4)
        own.append([place, places[point.release], seconds, share, state, *versions])
    columns = zip(*kernels, strict=True) if kernels else ((),) * len(FIELDS)
    return {
        "kernels": {name: list(column) for name, column in zip(FIELDS, columns, strict=True)},
        "states": [state for state, _, _ in states],
        "threads": [threads for _, threads, _ in states],
        "ensembles": [ensemble for _, _, ensemble in states],
        "times": times,
    }


def _kernel(point: Point) -> tuple[Any, ...]:
    """The values of `FIELDS`.

    A problem without a title has none here.
    """
    title = point.problem.title
    unusual = [point.unusual[name] for name in SHOWN if point.unusual.get(name)]
    return (
        point.family,
        point.set,
        point.operation,
        point.precision,
        point.problem_id,
        "" if title == point.problem_id else title,
        point.ranks,
        ", ".join(unusual),
        point.problem.application,
        rounded_if_known(intensity(point), 3),
    )


def _of_roof(profile: Profile | None, point: Point) -> float | None:
    highest = roof(profile, point)
    return rounded(point.flops / point.seconds / highest, 3) if highest else None
