"""data/changes: kernels and changes of each framework, to compare any two of its releases.

- changes/index: by machine and framework the releases, with counts of kernels and of changes.
- changes/MACHINE/FRAMEWORK: every kernel with its times, the changes along its line, and the
  software of each release. The page compares two releases by the changes between them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.kernel_lines import Line, Shift
from deepbench_ops.analysis.points import Origin
from deepbench_ops.analysis.roofline import intensity
from deepbench_ops.analysis.shared_rounds import SharedStep
from deepbench_ops.measure.machine_states import ONE_LEVEL
from deepbench_ops.pages.data_files import (
    FOLDER,
    rounded,
    rounded_if_known,
    write_data,
)
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release

Elsewhere = Mapping[Hashable, Mapping[str, float]]
"""Ratios by machine of one change: a kernel in one direction between two releases."""


def write_index(html_dir: Path, lines: Iterable[Line], places: Mapping[Release, int]) -> None:
    """Write html_dir/data/changes/index."""
    groups: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        if line.points[0].compared:
            groups[line.points[0].machine, line.points[0].release.framework].append(line)
    rows = [index_row(*key, some, places) for key, some in groups.items()]
    write_data(html_dir / FOLDER / "changes" / "index", rows)


def by_framework(
    machine: MachineRecord,
    lines: Iterable[Line],
    places: Mapping[Release, int],
    everywhere: Elsewhere,
) -> dict[str, dict[str, Any]]:
    """The content of changes/MACHINE/FRAMEWORK, by framework.

    lines: those of the machine. everywhere: the result of `changes_by_machine` for all machines.
    """
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line.points[0].compared:
            groups[line.points[0].release.framework].append(line)
    found = {}
    for framework, members in groups.items():
        software = [
            [places[stack.release], dict(stack.new), packages(stack.release)]
            for stack in machine.stacks
            if stack.release.framework == framework and stack.release in places
        ]
        found[framework] = kernels(members, places, everywhere) | {"software": software}
    return found


def elsewhere(lines: Iterable[Line], everywhere: Elsewhere) -> str:
    """All that the content of a machine says of other machines, as a text that is equal for equal
    content."""
    found = [
        sorted(everywhere[_change_key(shift)].items())
        for line in lines
        for shift in changes_of(line)
    ]
    return json.dumps(found)


def packages(release: Release) -> list[str]:
    """Names of the packages that a release is measured with."""
    return [pin.partition("==")[0] for pin in release.pins]


def index_row(
    machine: str, framework: str, lines: Sequence[Line], places: Mapping[Release, int]
) -> dict[str, Any]:
    """The releases of a framework on a machine, oldest first: index in the catalogue, number of
    kernels, and numbers of slower and faster ones."""
    counts = Counter(places[point.release] for line in lines for point in line.points)
    shifts = [shift for line in lines for shift in changes_of(line)]
    changed = Counter((places[shift.after.release], shift.slower) for shift in shifts)
    rows = [
        [place, counts[place], changed[place, True], changed[place, False]]
        for place in sorted(counts)
    ]
    return {"machine": machine, "framework": framework, "releases": rows}


def changes_of(line: Line) -> Sequence[Shift]:
    """The changes of a line; none for published times and for lines without known noise."""
    return line.changes if line.measured and line.judgeable else ()


def changes_by_machine(lines: Sequence[Line]) -> Elsewhere:
    """The ratios of each change on the machines that show it."""
    found: dict[Hashable, dict[str, float]] = defaultdict(dict)
    for line in lines:
        for shift in changes_of(line):
            found[_change_key(shift)][shift.after.machine] = rounded(shift.change.ratio, 3)
    return found


def _change_key(shift: Shift) -> Hashable:
    before, after = shift.before.release.hash, shift.after.release.hash
    return before, after, shift.slower, shift.after.kernel


def kernels(
    lines: Sequence[Line], places: Mapping[Release, int], everywhere: Elsewhere
) -> dict[str, Any]:
    """The kernels of a framework on a machine.

    Kernels name problems, implementations and ensembles (file, anchor) by their indices in lists.
    """
    problems: dict[tuple[str, str, str], int] = {}
    implementations: dict[str, int] = {"": 0}
    ensembles: dict[tuple[str, str], int] = {}
    described = []
    for line in lines:
        point, column = line.points[-1], line.columns
        problem = point.family, point.problem_id, point.problem.title
        fields: dict[str, Any] = {
            "problem": problems.setdefault(problem, len(problems)),
            "set": point.set,
            "operation": point.operation,
            "precision": point.precision,
            "benchmark": point.benchmark,
            "at": [places[release] for release in column.release],
            "seconds": [rounded(seconds, 4) for seconds in column.seconds],
            "intensity": rounded_if_known(intensity(point), 3),
            **point.unusual,
        }
        if point.ranks is not None:
            fields["ranks"] = point.ranks
        if any(column.unsteady):
            fields["unsteady"] = list(column.unsteady)
        if any(column.conflict):
            fields["conflict"] = [[rounded(x, 4) for x in each] for each in column.conflict]
        if line.state and line.state != ONE_LEVEL:
            fields["state"] = line.state
        if line.noise == line.noise:  # not NaN
            fields["noise"] = rounded(line.noise, 2)
        processes = [max(len(rounds), 1) for rounds in column.rounds]
        if max(processes) > 1:
            fields["processes"] = processes
        codes = [each.implementation for each in line.points]
        if any(codes):
            fields["implementation"] = [
                implementations.setdefault(code, len(implementations)) for code in codes
            ]
        if any(column.ensemble):
            fields["ensemble"] = [
                None if each.ensemble is None else _relative(each.ensemble, each.state, ensembles)
                for each in line.points
            ]
        fields |= evidence(line, places, everywhere)
        described.append(fields)
    return {
        "problems": [list(each) for each in problems],
        "implementations": list(implementations),
        "ensembles": [list(each) for each in ensembles],
        "kernels": described,
    }


def _relative(
    origin: Origin, state: str, ensembles: dict[tuple[str, str], int]
) -> list[float | int | str]:
    """Number of the ensemble, rounds, state, and the ratio to its anchor with its interval."""
    number = ensembles.setdefault((origin.file, origin.anchor), len(ensembles))
    ratios = (rounded(each, 5) for each in (origin.ratio, origin.low, origin.high))
    return [number, origin.rounds, state, *ratios]


def evidence(line: Line, places: Mapping[Release, int], everywhere: Elsewhere) -> dict[str, Any]:
    """Verdicts on the changes of a line, as fields of a data file.

    - `judged`: present if the line is long enough to distinguish changes from noise;
    - `changes`: index of the release, ratio, low and high of each change, and the other machines
      that show it;
    - `steps`: the changes between two releases that shared rounds have judged.
    """
    if not line.measured:
        return {}
    found: dict[str, Any] = {"judged": True} if line.long_enough else {}
    found["changes"] = [
        [
            places[shift.after.release],
            *(rounded(each, 4) for each in _interval(shift)),
            sorted(
                [machine, ratio]
                for machine, ratio in everywhere[_change_key(shift)].items()
                if machine != shift.after.machine
            ),
        ]
        for shift in changes_of(line)
    ]
    steps = [[places[line.steady[place + 1].release], *_step(step)] for place, step in line.shared]
    return {**found, "steps": steps} if steps else found


def _interval(shift: Shift) -> tuple[float, float, float]:
    return shift.change.ratio, shift.change.low, shift.change.high


def _step(step: SharedStep) -> list[Any]:
    """Kind, ratio, low and high, rounds and state of a step that shared rounds have judged."""
    verdict = step.verdict
    ratios = [rounded(each, 4) for each in (verdict.ratio, verdict.low, verdict.high)]
    return [verdict.kind, *ratios, verdict.rounds, step.state]
