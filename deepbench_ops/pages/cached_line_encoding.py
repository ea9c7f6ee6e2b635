"""The lines of a machine in JSON types, for the cache of pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import date
from functools import cache
from typing import Any

from deepbench_ops.analysis.change_detection import Change
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Origin, Point
from deepbench_ops.analysis.shared_rounds import SharedStep
from deepbench_ops.analysis.software_versions import ReleaseSoftware
from deepbench_ops.analysis.verdict import Verdict
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release

MachineLines = tuple[list[Line], MachineRecord, list[str]]
"""The lines of a machine, the machine, and sentences about results that cannot be read."""

RELEASE, ROUNDS, NOTES, SETTINGS, SAMPLES, ENSEMBLE, CONFLICT = map(
    Point._fields.index,
    ("release", "rounds", "notes", "settings", "sample_seconds", "ensemble", "conflict"),
)
"""Places of the fields of a point that JSON cannot hold as they are."""

_release = cache(Release)
"""The same object for all machines, which is compared in no time."""

Pairs = tuple[tuple[str, str], ...]


def encode(found: MachineLines) -> dict[str, Any]:
    """The lines of a machine in JSON types, with their noise and changes if already computed."""
    lines, machine, problems = found
    releases = {point.release.hash: point.release for line in lines for point in line.points}
    releases |= {stack.release.hash: stack.release for stack in machine.stacks}
    places = {of: place for place, of in enumerate(releases)}
    pairs: dict[Pairs | None, int] = {}
    rows = [
        [_row(point, places[point.release.hash], pairs) for point in line.points] for line in lines
    ]
    return {
        "releases": [
            {**asdict(release), "date": release.date.isoformat()} for release in releases.values()
        ],
        "pairs": list(pairs),
        "lines": [
            {
                "points": points,
                **_computed(line),
                "shared": [(place, asdict(step)) for place, step in line.shared],
            }
            for line, points in zip(lines, rows, strict=True)
        ],
        "machine": {
            "name": machine.name,
            "entry": dict(machine.entry),
            "profile": _profile(machine.profile) if machine.profile else None,
            "runs": list(machine.runs),
            "stacks": [
                {"release": places[one.release.hash], "facts": one.facts, "new": one.new}
                for one in machine.stacks
            ],
            "submitted": machine.submitted,
            "damaged": list(machine.damaged),
        },
        "problems": list(problems),
    }


def _row(point: Point, release: int, pairs: dict[Pairs | None, int]) -> list[Any]:
    """The fields of a point in JSON types.

    release: index of its release. pairs: indices of notes and settings, which many points share;
    new ones are added.
    """
    row: list[Any] = list(point)
    row[RELEASE] = release
    for place in (NOTES, SETTINGS):
        row[place] = pairs.setdefault(row[place], len(pairs))
    if point.ensemble is not None:
        row[ENSEMBLE] = tuple(point.ensemble)
    return row


def _profile(known: Profile) -> dict[str, Any]:
    return {"version": machine_profile.VERSION, **asdict(known)}


def _computed(line: Line) -> dict[str, Any]:
    """The noise and the changes of a line, if already computed."""
    known = vars(line)
    found: dict[str, Any] = {"noise": known["noise"]} if "noise" in known else {}
    if "changes" in known:
        found["changes"] = [astuple(shift.change) for shift in known["changes"]]
    return found


def decode(stored: Mapping[str, Any]) -> MachineLines:
    """The lines that `encode` stored.

    Raises LookupError, TypeError, ValueError or AttributeError for other JSON.
    """
    releases = [
        _release(**{**each, "date": date.fromisoformat(each["date"]), "pins": tuple(each["pins"])})
        for each in stored["releases"]
    ]
    machine = stored["machine"]
    record = MachineRecord(
        str(machine["name"]),
        {str(name): str(text) for name, text in machine["entry"].items()},
        machine_profile.parse(machine["profile"]) if machine["profile"] else None,
        tuple(machine["runs"]),
        tuple(
            ReleaseSoftware(
                releases[each["release"]],
                dict(each["facts"]),
                {name: (before, after) for name, (before, after) in each["new"].items()},
            )
            for each in machine["stacks"]
        ),
        str(machine["submitted"]),
        tuple(map(str, machine["damaged"])),
    )
    pairs = [None if each is None else _immutable(each) for each in stored["pairs"]]
    lines = [_line(each, releases, pairs) for each in stored["lines"]]
    return lines, record, list(map(str, stored["problems"]))


def _line(
    stored: Mapping[str, Any], releases: Sequence[Release], pairs: Sequence[Pairs | None]
) -> Line:
    shared = tuple((int(place), _step(each)) for place, each in stored["shared"])
    line = Line(tuple([_point(row, releases, pairs) for row in stored["points"]]), shared)
    if "noise" in stored:
        noise = stored["noise"]
        vars(line)["noise"] = math.nan if noise is None else float(noise)
    if "changes" in stored:
        vars(line)["changes"] = [line.shift(Change(*each)) for each in stored["changes"]]
    return line


def _point(row: list[Any], releases: Sequence[Release], pairs: Sequence[Pairs | None]) -> Point:
    """Return the point of a row, which is changed."""
    row[RELEASE] = releases[row[RELEASE]]
    for place in (NOTES, SETTINGS):
        row[place] = pairs[row[place]]
    for place in (ROUNDS, SAMPLES, CONFLICT):
        row[place] = tuple(row[place])
    if row[ENSEMBLE] is not None:
        row[ENSEMBLE] = Origin._make(map(_immutable, row[ENSEMBLE]))
    return Point._make(row)


def _step(stored: Mapping[str, Any]) -> SharedStep:
    return SharedStep(
        Verdict(**{**stored["verdict"], **_infinite(stored["verdict"])}),
        str(stored["state"]),
        _immutable(stored["levels"]),
        _immutable(stored["implementations"]),
    )


def _infinite(verdict: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a verdict that JSON cannot hold: only `detectable` can be infinite."""
    return {} if verdict["detectable"] is not None else {"detectable": math.inf}


def _immutable(value: Any) -> Any:
    """Return `value` with all lists, also nested ones, converted to tuples."""
    return tuple(map(_immutable, value)) if isinstance(value, list) else value
