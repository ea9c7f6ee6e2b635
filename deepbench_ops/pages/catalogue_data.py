"""data/catalogue: machines with their profiles, releases with their days."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scipy.special import stdtrit

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.machine_comparison import RATIO_CONFIDENCE
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.backends.framework_list import found as frameworks
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.pages.data_files import rounded
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.problems.precision import MIXED, multiplied
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES, heading, title_prefix
from deepbench_ops.releases.release_table import Release

STUDENT_DEGREES = 400
"""Degrees of freedom up to which the pages have quantiles of Student's t-distribution.

Above, the pages use the last quantile.
"""


def content(
    project: str,
    machines: Sequence[MachineRecord],
    places: Mapping[Release, int],
    grouped: Mapping[tuple[str, str], Sequence[Line]],
    problems: Sequence[str],
) -> dict[str, Any]:
    """The catalogue. Machines without results are listed too, without families."""
    quantiles = stdtrit(range(1, STUDENT_DEGREES + 1), (1 + RATIO_CONFIDENCE) / 2)
    by_machine: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
    for (name, family), found in grouped.items():
        by_machine[name][family] = found
    return {
        "project": project,
        "here": _publisher(machines),
        "torn": list(problems),
        "student": [rounded(float(value), 6) for value in quantiles],
        "families": list(TYPES),
        "frameworks": list(dict.fromkeys([*frameworks()[0], *(each.framework for each in places)])),
        "headings": {name: heading(name) for name in TYPES},
        "title_prefixes": {name: title_prefix(name) for name in TYPES},
        "fewer_operations": [
            name for name, kind in TYPES.items() if kind.fast_factor is not Problem.fast_factor
        ],
        "multiplied": {MIXED: multiplied(MIXED)},
        "releases": [
            {
                "name": release.name,
                "framework": release.framework,
                "version": release.version,
                "date": release.date.isoformat(),
                "hash": release.hash,
                "published": not release.measurable,
            }
            for release in places
        ],
        "machines": [_machine(machine, by_machine[machine.name], places) for machine in machines],
    }


def _publisher(machines: Sequence[MachineRecord]) -> str:
    """Name of the machine on which this runs; "" if it is not among `machines`."""
    try:
        name = machine_entry.default_name()
    except DeepbenchError:
        return ""
    return name if any(machine.name == name for machine in machines) else ""


def _machine(
    machine: MachineRecord, by_family: Mapping[str, Sequence[Line]], places: Mapping[Release, int]
) -> dict[str, Any]:
    profile = machine.profile
    own = [line for lines in by_family.values() for line in lines]
    points = [point for line in own for point in line.points]
    frameworks = Counter(line.points[0].release.framework for line in own)
    devices = Counter(line.points[0].device for line in own)
    return {
        "name": machine.name,
        "key": machine.key,
        "entry": dict(machine.entry),
        "facts": dict(profile.facts) if profile else {},
        "surveyed": profile.date if profile else "",
        "submitted": machine.submitted,
        "unsigned": machine.mark,
        **({"unsigned_reason": submission_provenance.MARKS[machine.mark]} if machine.mark else {}),
        "peaks": [
            {
                "device": device,
                "of": name,
                "value": figure.value,
                "unit": figure.unit,
                "how": how_obtained(figure.how),
                **({"disturbed": True} if figure.disturbed else {}),
            }
            for device, name, figure in (_figures(profile) if profile else ())
        ],
        "measured": any(point.release.measurable for point in points),
        "newest": max((point.release.date.isoformat() for point in points), default=""),
        "families": {name: len(by_family[name]) for name in TYPES if name in by_family},
        "frameworks": [name for name, _ in frameworks.most_common()],
        "devices": [name for name, _ in devices.most_common()],
        "releases": sorted({places[point.release] for point in points}),
    }


def how_obtained(text: str) -> str:
    """Source of a figure; for one that was not measured, the first reason, without hints."""
    if not text.startswith("not measured:"):
        return text
    reasons = text.removeprefix("not measured:").split(";")
    known = [reason.strip() for reason in reasons if "is not installed" not in reason]
    return (
        f"not measured: {known[0] if known else 'no framework that could measure it is installed'}"
    )


def _figures(profile: Profile) -> Iterable[tuple[str, str, Figure]]:
    """Device, precision or memory, and figure of each peak."""
    for device, peaks in profile.peaks.items():
        for precision, figure in peaks.items():
            yield device, precision, figure
    for device, figure in profile.bandwidth.items():
        yield device, "memory", figure
