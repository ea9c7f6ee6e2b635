"""data/lines/MACHINE/FAMILY: the lines of a family on a machine.

Where they have many times, the times are in files of their own, data/lines/MACHINE/FAMILY-NUMBER,
each with those of some kernels: a page that shows one kernel does not read them all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deepbench_ops.analysis.change_detection import Change
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.roofline import bytes_moved, roof
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.measure.machine_states import ONE_LEVEL
from deepbench_ops.pages.data_files import rounded
from deepbench_ops.problems.problem import Problem
from deepbench_ops.releases.release_table import Release

Notes = tuple[tuple[str, str], ...]

TIMES_IN_A_FILE = 4000
"""The most times in a file, unless a single kernel has more; they take about 60 kB."""

CHOICES = frozenset(
    ("problem", "set", "operation", "precision", "framework", "ranks", "state", "uncompared")
)
"""Fields by which a page finds a line; the unusual conditions of its newest time are, too."""


def files(
    name: str,
    lines: Sequence[Line],
    profile: Profile | None,
    places: Mapping[Release, int],
) -> dict[str, dict[str, Any]]:
    """The content of each file by its path: `name` alone for at most `TIMES_IN_A_FILE` times.

    With more, the lines in the file `name` have the fields `CHOICES`, `times`, the number of their
    times, and `part`, the number of a further file and the place there, which has all other
    fields. The times of a kernel with all frameworks are in one file.
    """
    if sum(len(line.points) for line in lines) <= TIMES_IN_A_FILE:
        return {name: content(lines, profile, places)}
    groups = list(_groups(lines))
    parts = [content(members, profile, places) for members in groups]
    fields = {
        id(line): (one, [number, place])
        for number, (members, part) in enumerate(zip(groups, parts, strict=True))
        for place, (line, one) in enumerate(zip(members, part["lines"], strict=True))
    }
    problems: dict[str, int] = {}
    described_problems = []
    choices = []
    for line in lines:
        point = line.points[-1]
        if point.problem_id not in problems:
            problems[point.problem_id] = len(problems)
            described_problems.append(problem_fields(point.problem))
        one, address = fields[id(line)]
        chosen = sorted(CHOICES.union(point.unusual) & one.keys())
        known = {field: one.pop(field) for field in chosen}
        known |= {"problem": problems[point.problem_id], "times": len(line.points), "part": address}
        choices.append(known)
    found: dict[str, dict[str, Any]] = {name: {"problems": described_problems, "lines": choices}}
    for number, part in enumerate(parts):
        found[f"{name}-{number}"] = {"notes": part["notes"], "lines": part["lines"]}
    return found


def _groups(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines of whole kernels in groups of at most `TIMES_IN_A_FILE` times, or of one kernel."""
    kernels: dict[tuple[Any, ...], list[Line]] = defaultdict(list)
    for line in lines:
        point = line.points[-1]
        kernels[point.set, point.operation, point.precision, point.problem_id].append(line)
    group: list[Line] = []
    times = 0
    for _, members in sorted(kernels.items()):
        own = sum(len(line.points) for line in members)
        if group and times + own > TIMES_IN_A_FILE:
            yield group
            group, times = [], 0
        group += members
        times += own
    if group:
        yield group


def content(
    lines: Sequence[Line], profile: Profile | None, places: Mapping[Release, int]
) -> dict[str, Any]:
    """The problems and the notes of a family, each once, and its lines.

    Lines name problems and notes by their index in these lists.
    """
    problems: dict[str, int] = {}
    notes: dict[Notes, int] = {}
    described_lines: list[dict[str, Any]] = []
    described_problems = []
    for line in lines:
        point = line.points[-1]
        if point.problem_id not in problems:
            problems[point.problem_id] = len(problems)
            problem = point.problem
            described_problems.append(problem_fields(problem))
        one = line_fields(line, problems[point.problem_id], profile, places)
        if any(each.notes for each in line.points):
            one["notes"] = [notes.setdefault(each.notes, len(notes)) for each in line.points]
        described_lines.append(one)
    return {
        "problems": described_problems,
        "notes": [dict(each) for each in notes],
        "lines": described_lines,
    }


def problem_fields(problem: Problem) -> list[Any]:
    """Id, application, items and note of a problem, and its title if it has one."""
    title = [problem.title] if problem.title != problem.id else []
    return [problem.id, problem.application, problem.items, problem.note, *title]


def line_fields(
    line: Line, problem: int, profile: Profile | None, places: Mapping[Release, int]
) -> dict[str, Any]:
    """The fields of one line; `problem` is the index of its problem in the family's list."""
    point = line.points[-1]
    column = line.columns
    highest = roof(profile, point)
    fields: dict[str, Any] = {
        "problem": problem,
        "set": point.set,
        "operation": point.operation,
        "precision": point.precision,
        "framework": point.release.framework,
        "benchmark": point.benchmark,
        "flops": point.flops,
        "bytes": bytes_moved(point),
        "at": [places[release] for release in column.release],
        "seconds": [rounded(seconds, 5) for seconds in column.seconds],
    }
    intervals = [each.interval for each in line.points]
    if any(intervals):
        fields["low"] = [rounded(each[0], 4) if each else None for each in intervals]
        fields["high"] = [rounded(each[1], 4) if each else None for each in intervals]
    if line.measured and not all(intervals):
        fields["without"] = [each.without_interval for each in line.points]
    if any(column.unsteady):
        fields["unsteady"] = list(column.unsteady)
    if any(column.conflict):
        fields["conflict"] = [[rounded(x, 5) for x in each] for each in column.conflict]
    if any(column.ensemble):
        fields["ensemble"] = [
            [origin.anchor, origin.rounds] if origin else None for origin in column.ensemble
        ]
    fields |= point.unusual
    if any(column.state):
        fields["states"] = list(column.state)
    if any(column.threads):
        fields["threads"] = list(column.threads)
    if line.state and line.state != ONE_LEVEL:
        fields["state"] = line.state
    if not point.compared:
        fields["uncompared"] = True
    if point.ranks is not None:
        fields["ranks"] = point.ranks
    if point.launch_bound:
        fields["launch_bound"] = True
    if highest is not None:
        fields["roof"] = rounded(highest, 5)
    if line.noise == line.noise:  # not NaN
        fields["noise"] = rounded(line.noise, 2)
    if line.measured and line.judgeable:
        fields["judged"] = True
        fields["changes"] = [
            [places[shift.after.release], *(rounded(x, 6) for x in _ratios(shift.change))]
            for shift in line.changes
        ]
    return fields


def _ratios(change: Change) -> tuple[float, float, float]:
    return change.ratio, change.low, change.high
