"""What our own pages read: data/*.js, each a text that `local_data` packs.

- data/catalogue: machines with their profiles, releases with their days, what there is of each.
- data/lines/MACHINE/FAMILY: every line of a family on a machine, with its points. MACHINE is a
  key that the catalogue tells, since a name may hold what an address may not.
- data/stacks/MACHINE: under what each framework's newest release was measured there, and what was
  new under each release.
- data/start: what the first page tells of all machines.
- data/models: the published tables of whole models beside the measured ones.
- data/contests/MACHINE: its frameworks side by side, from `framework_page`.

A release is told by its place in the catalogue's list. Only seconds, FLOPs, bytes and items are
written; the pages derive the rest.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.special import stdtrit

from deepbench_ops.analysis import missing_reasons, software_versions
from deepbench_ops.analysis.causes import Cause
from deepbench_ops.analysis.comparison import CONFIDENCE
from deepbench_ops.analysis.history import Line
from deepbench_ops.analysis.model_tables import rows
from deepbench_ops.analysis.overhead import overheads
from deepbench_ops.analysis.overview import standings
from deepbench_ops.analysis.percentiles import shown
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.roofline import moved, roof
from deepbench_ops.analysis.software_versions import Stack
from deepbench_ops.analysis.speed_index import speeds
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.models import TABLES, load
from deepbench_ops.machine.profile import Profile
from deepbench_ops.pages.addresses import timeline
from deepbench_ops.pages.local_data import packed
from deepbench_ops.problems.selections import select
from deepbench_ops.releases.table import Release
from deepbench_ops.storage import atomic, model_runs

FOLDER = "data"
Notes = tuple[tuple[str, str], ...]
STUDENT = 400
"""Up to so many degrees of freedom the pages know Student's quantile; beyond, the last one."""

LONGEST = 200
"""Characters of a fact that is told as new."""

LATEST = 12
"""Verdicts that the first page tells."""


@dataclass(frozen=True)
class Machine:
    """What results/ says of a machine: asv's entry, the profile where there is one, and the runs
    of whole models that `model_runs` keeps."""

    name: str
    entry: Mapping[str, str]
    profile: Profile | None = None
    runs: Sequence[Mapping[str, Any]] = ()
    stacks: Sequence[Stack] = ()
    """What each release was measured under, in the order of the releases."""

    @property
    def key(self) -> str:
        """Its name in addresses."""
        return key(self.name)


def key(machine: str) -> str:
    """A machine's name in addresses."""
    return hashlib.sha1(machine.encode()).hexdigest()[:10]


def write(
    html_dir: Path,
    project: str,
    machines: Sequence[Machine],
    lines: Sequence[Line],
    changed: Sequence[Cause],
    torn: Sequence[str],
) -> None:
    """Write html_dir/data from the lines of all machines; `changed` is what became of them."""
    folder = html_dir / FOLDER
    ordered = sorted(
        {point.release for line in lines for point in line.points},
        key=lambda release: (release.date, release.name),
    )
    places = {release: place for place, release in enumerate(ordered)}
    grouped: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        grouped[line.points[0].machine, line.points[0].family].append(line)
    known = {machine.name: machine for machine in machines}
    for (name, family), members in grouped.items():
        machine = known[name]
        put(folder / "lines" / machine.key / family, _lines(members, machine.profile, places))
    for machine in machines:
        put(folder / "stacks" / machine.key, _stacks(machine.stacks, places))
    put(folder / "catalogue", _catalogue(project, machines, places, grouped, torn))
    put(folder / "start", _start(machines, lines, changed, places))
    put(folder / "models", _models(machines, lines))


def put(path: Path, content: Any) -> None:
    """Write the data file that a page loads as `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    atomic.write_text(path.with_name(f"{path.name}.js"), packed(text), durable=False)


def _catalogue(
    project: str,
    machines: Sequence[Machine],
    places: Mapping[Release, int],
    grouped: Mapping[tuple[str, str], Sequence[Line]],
    torn: Sequence[str],
) -> dict[str, Any]:
    """Machines without results are told as well: they have no families."""
    quantiles = stdtrit(range(1, STUDENT + 1), (1 + CONFIDENCE) / 2)
    return {
        "project": project,
        "here": _here(machines),
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "torn": list(torn),
        "student": [_short(float(value), 6) for value in quantiles],
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
        "machines": [
            _machine(
                machine,
                {
                    family: found
                    for (name, family), found in grouped.items()
                    if name == machine.name
                },
                places,
            )
            for machine in machines
        ],
    }


def _here(machines: Sequence[Machine]) -> str:
    """The name of the machine that publishes, "" where it is none of those."""
    try:
        name = machine_entry.default_name()
    except DeepbenchError:
        return ""
    return name if any(machine.name == name for machine in machines) else ""


def _machine(
    machine: Machine, families: Mapping[str, Sequence[Line]], places: Mapping[Release, int]
) -> dict[str, Any]:
    profile = machine.profile
    own = [line for lines in families.values() for line in lines]
    points = [point for line in own for point in line.points]
    frameworks = Counter(line.points[0].release.framework for line in own)
    return {
        "name": machine.name,
        "key": machine.key,
        "entry": dict(machine.entry),
        "facts": dict(profile.facts) if profile else {},
        "surveyed": profile.date if profile else "",
        "peaks": [
            {
                "device": device,
                "of": name,
                "value": figure.value,
                "unit": figure.unit,
                "how": _how(figure.how),
            }
            for device, name, figure in (_figures(profile) if profile else ())
        ],
        "measured": any(point.release.measurable for point in points),
        "newest": max((point.release.date.isoformat() for point in points), default=""),
        "families": {family: len(lines) for family, lines in sorted(families.items())},
        "frameworks": [name for name, _ in frameworks.most_common()],
        "releases": sorted({places[point.release] for point in points}),
    }


def _how(text: str) -> str:
    """How a figure was got; of one that was not measured the first reason alone, and no hints."""
    if not text.startswith("not measured:"):
        return text
    reasons = text.removeprefix("not measured:").split(";")
    known = [reason.strip() for reason in reasons if "is not installed" not in reason]
    return f"not measured: {known[0] if known else 'what could is not installed'}"


def _figures(profile: Profile) -> Iterable[tuple[str, str, Any]]:
    for device, peaks in profile.peaks.items():
        for precision, figure in peaks.items():
            yield device, precision, figure
    for device, figure in profile.bandwidth.items():
        yield device, "memory", figure


def _stacks(known: Sequence[Stack], places: Mapping[Release, int]) -> dict[str, Any]:
    """By framework the facts of its newest release, and what was new under each that has times."""
    told: dict[str, dict[str, Any]] = {}
    for one in known:
        own = told.setdefault(one.release.framework, {"new": []})
        own["facts"] = dict(one.facts)
        if one.release in places:
            own["new"].append([places[one.release], software_versions.told(one.new, LONGEST)])
    return told


def _lines(
    lines: Sequence[Line], profile: Profile | None, places: Mapping[Release, int]
) -> dict[str, Any]:
    """A family's problems and the notes of its kernels once, and its lines, which tell both by
    the place."""
    problems: dict[str, int] = {}
    notes: dict[Notes, int] = {}
    told: list[dict[str, Any]] = []
    described = []
    for line in lines:
        point = line.points[-1]
        if point.problem_id not in problems:
            problems[point.problem_id] = len(problems)
            problem = point.problem
            described.append([problem.id, problem.application, problem.items, problem.note])
        one = _line(line, problems[point.problem_id], profile, places)
        if any(each.notes for each in line.points):
            one["notes"] = [notes.setdefault(each.notes, len(notes)) for each in line.points]
        told.append(one)
    return {"problems": described, "notes": [dict(each) for each in notes], "lines": told}


def _line(
    line: Line, problem: int, profile: Profile | None, places: Mapping[Release, int]
) -> dict[str, Any]:
    point = line.points[-1]
    highest = roof(profile, point)
    fields: dict[str, Any] = {
        "problem": problem,
        "set": point.set,
        "operation": point.operation,
        "precision": point.precision,
        "framework": point.release.framework,
        "benchmark": point.benchmark,
        "flops": point.flops,
        "bytes": moved(point),
        "at": [places[each.release] for each in line.points],
        "seconds": [_short(each.seconds, 5) for each in line.points],
    }
    intervals = [each.interval for each in line.points]
    if any(intervals):
        fields["low"] = [_short(each[0], 4) if each else None for each in intervals]
        fields["high"] = [_short(each[1], 4) if each else None for each in intervals]
    if line.measured and not all(intervals):
        fields["without"] = [each.without_interval for each in line.points]
    if any(each.unsteady for each in line.points):
        fields["unsteady"] = [each.unsteady for each in line.points]
    fields |= point.unusual
    if not point.compared:
        fields["beside"] = True
    if point.ranks is not None:
        fields["ranks"] = point.ranks
    if highest is not None:
        fields["roof"] = _short(highest, 5)
    if line.noise == line.noise:  # not NaN
        fields["noise"] = _short(line.noise, 2)
    if line.measured and line.judgeable:
        fields["judged"] = True
        fields["changes"] = [
            [places[shift.after.release], *(_short(x, 4) for x in _ratios(shift.change))]
            for shift in line.changes
        ]
    return fields


def _ratios(change: Any) -> tuple[float, float, float]:
    return change.ratio, change.low, change.high


def _start(
    machines: Sequence[Machine],
    lines: Sequence[Line],
    changed: Sequence[Cause],
    places: Mapping[Release, int],
) -> dict[str, Any]:
    headline = select("headline")
    profiles = {machine.name: machine.profile for machine in machines}
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
                "of_roof": None if one.of_roof is None else _short(one.of_roof, 4),
                "headline": one.headline,
                "sources": [
                    [places[source.release], source.kernels, list(source.selections)]
                    for source in one.sources
                ],
                "unusual": dict(one.unusual),
            }
            for one in standings(lines, profiles, headline)
        ],
        "speeds": [
            {
                "machine": one.machine,
                "framework": one.framework,
                "family": one.family,
                "precision": one.precision,
                "at": [places[release] for release in one.releases],
                "values": [_short(value, 4) for value in one.values],
                "kernels": list(one.kernels),
                "selections": list(one.selections),
                "unusual": dict(one.unusual),
            }
            for one in speeds(lines)
        ],
        "changes": len(changed),
        "several": len(several),
        "judged": sum(line.judgeable for line in several),
        "latest": [_cause(cause, places) for cause in changed[:LATEST]],
    }


def _cause(cause: Cause, places: Mapping[Release, int]) -> dict[str, Any]:
    return {
        "machine": cause.machine,
        "before": places[cause.before],
        "after": places[cause.after],
        "slower": cause.slower,
        "ratio": _short(cause.ratio, 3),
        "what": cause.name,
        "kernels": len(cause.shifts),
        "watched": cause.watched,
        "lines": [
            {
                "at": timeline(shift.after),
                "name": shift.after.name,
                "ratio": _short(shift.change.ratio, 3),
            }
            for shift in sorted(cause.shifts, key=lambda shift: -abs(math.log(shift.change.ratio)))
        ],
    }


def _models(machines: Sequence[Machine], lines: Sequence[Line]) -> dict[str, Any]:
    """The four tables, with the cells of every machine that has measured whole models; what they
    take beside their operations; and what was found of their latency and scaling."""
    measured: dict[str, list[Point]] = defaultdict(list)
    for line in lines:
        for point in line.points:
            if point.family == "model" and point.release.measurable:
                measured[point.machine].append(point)
    what = {
        machine.name: missing_reasons.machine(machine.entry, machine.profile)
        for machine in machines
    }
    return {
        "machines": list(measured),
        "tables": {name: rows(load(name), measured, what) for name in TABLES},
        "apart": [
            {
                "machine": one.whole.machine,
                "release": one.whole.release.name,
                "problem": one.whole.problem_id,
                "operation": one.whole.operation,
                "precision": one.whole.precision,
                "seconds": _short(one.whole.seconds, 5),
                "operations": _short(one.operations.seconds, 5),
                "interval": [_short(end, 4) for end in one.interval or ()],
                **one.whole.unusual,
            }
            for points in measured.values()
            for one in overheads(points)
        ],
        **{
            kind: [
                {**_told(run), "machine": machine.name}
                for machine in machines
                for run in machine.runs
                if run["kind"] == kind
            ]
            for kind in model_runs.ASKED
        },
    }


def _told(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the page shows of a run: of a latency, no percentile of too few batches."""
    told = shown(run) if run["kind"] == "latency" else run
    return {key: value for key, value in told.items() if key != "conditions"}


def _short(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
