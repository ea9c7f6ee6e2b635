"""The unsteady points of a release, and the command that measures them again."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from deepbench_ops.analysis import machine_points, point_filter, point_reading
from deepbench_ops.analysis.points import Point
from deepbench_ops.asv_adapter import history_join
from deepbench_ops.asv_adapter.remeasured_points import NotTaken
from deepbench_ops.errors import NoAnswer
from deepbench_ops.machine.steadiness import kind
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS


def of_release(
    results: Path, machine: str, release: str, releases: dict[str, Release]
) -> list[Point]:
    """Return all measured points of a release on a machine, steady or not, with their rounds;
    `releases` is the release table by hash.

    Raises NoAnswer for a machine without measurements, and DeepbenchError for one without any of
    that release.
    """
    wanted = point_filter.of_release(release, releases)
    asked = machine_points.load(results, machine, releases, rounds=True, only=wanted)
    if found := [point for point in asked if point.release.measurable]:
        return found
    every = machine_points.load(results, machine, releases)
    names = {point.release.name for point in every if point.release.measurable}
    if not names:
        raise NoAnswer(f"{results / machine}: no measurements")
    raise unknown("measured release", release, sorted(names))


def pattern(chosen: Iterable[Point]) -> str:
    """Return the regular expression for `asv run --bench` that picks exactly these points."""
    return _picking({f"{point.benchmark}({_params(point)})" for point in chosen})


def _picking(named: Collection[str]) -> str:
    if not named:
        return "(?!)"
    return "^(?:" + "|".join(map(re.escape, sorted(named))) + ")$"


def _params(point: Point) -> str:
    params = [point.problem_id, point.precision]
    return ", ".join(map(repr, params if point.ranks is None else [*params, point.ranks]))


def commands(chosen: Iterable[Point], options: str = "") -> list[str]:
    """Return the commands that measure these points of one release again, one for each set of
    conditions; `options` are those of `deepbench unsteady`.

    Points of a history are measured on their own: as a part of it they would have enough rounds.
    """
    found: dict[tuple[str, frozenset[tuple[str, str]]], bool] = {}
    for point in chosen:
        key = shlex.quote(point.release.name), frozenset(point.unusual.items())
        found[key] = found.get(key, False) or point.ensemble is not None
    return [
        _command(dict(unusual), f'"$(deepbench unsteady {name}{options})"', name, alone)
        for (name, unusual), alone in found.items()
    ]


def _command(unusual: Mapping[str, str], picked: str, release: str, alone: bool = False) -> str:
    """Return the command that measures under these conditions, by their names; `picked` and
    `release` as a shell reads them. alone: apart from a history that has the kernels."""
    variables = [f"{c.variable}={unusual[c.name]}" for c in CONDITIONS if c.name in unusual]
    variables += [f"{history_join.ALONE_VARIABLE}=1"] if alone else []
    return " ".join([*variables, f"asv run --bench {picked} {release}"])


def counted(chosen: Iterable[Point]) -> str:
    """Return how many unsteady points there are of each kind of reason, in words."""
    return _counted(point.unsteady for point in chosen)


def _counted(reasons: Iterable[str]) -> str:
    kinds = Counter(kind(reason) for reason in reasons if reason)
    return ", ".join(f"{count} {name}" for name, count in kinds.most_common())


def remarks(asked: Iterable[Point]) -> list[str]:
    """Return a line about the unsteady points that an answer leaves out, [] for none."""
    left = [point for point in asked if point.unsteady]
    if not left:
        return []
    *others, last = sorted({point.machine for point in left})
    machines = " and ".join([*([", ".join(others)] if others else []), last])
    return [
        f"{len(left)} unsteady times of {machines} are left out ({counted(left)}):"
        f" deepbench unsteady RELEASE --machine {'NAME' if others else last} lists those of a"
        " release and how to measure them again"
    ]


def without_answer(reason: str, asked: Iterable[Point]) -> NoAnswer:
    """Return the error of a question that results do not answer; it names the unsteady points that
    were left out."""
    return NoAnswer("; ".join([reason, *remarks(asked)]))


def after_run(files: Sequence[Path], releases: dict[str, Release]) -> list[str]:
    """Return a line for each release among saved result files that has unsteady points: how many,
    and the commands that measure them again.

    Raises DeepbenchError for damaged results.
    """
    lines = []
    for folder in dict.fromkeys(path.parent for path in files):
        saved = {path.name.split("-")[0] for path in files if path.parent == folder}
        names = dict.fromkeys(r.name for r in releases.values() if r.hash[:8] in saved)
        # No store is of results that were saved just now.
        every = point_reading.load(folder.parent, folder.name, releases) if names else []
        for name in names:
            of_release = [point for point in every if point.release.name == name]
            chosen = [point for point in of_release if point.unsteady]
            if chosen:
                lines.append(
                    f"{len(chosen)} of {len(of_release)} points of {name} are unsteady"
                    f" ({counted(chosen)}); to measure them again: {'; '.join(commands(chosen))}"
                )
    return lines


def not_taken(found: Iterable[NotTaken], releases: dict[str, Release]) -> list[str]:
    """Return a line for each release, and conditions, with points that were measured again and came
    out unsteady: how many, and the command that measures them once more."""
    groups: dict[tuple[str, tuple[str, ...]], list[NotTaken]] = defaultdict(list)
    for point in found:
        variables = tuple(condition.of(point.variables) for condition in CONDITIONS)
        groups[point.commit, variables].append(point)
    lines = []
    for (commit, values), group in groups.items():
        release = releases[commit].name if commit in releases else commit
        unusual = {c.name: v for c, v in zip(CONDITIONS, values, strict=True) if v != c.usual}
        named = {f"{name}({_quoted(params)})" for name, params in (point.key for point in group)}
        picked = _picking(named).replace("'", ".").replace("\\ ", " ")  # as a shell takes it
        command = _command(unusual, f"'{picked}'", shlex.quote(release))
        lines.append(
            f"{len(group)} points of {release} came out unsteady"
            f" ({_counted(point.reason for point in group)}), and the steady ones measured before"
            f" stay; to measure them again: {command}"
        )
    return lines


def _quoted(params: Iterable[str]) -> str:
    """Return parameters as asv shows them: texts quoted, numbers of ranks not."""
    return ", ".join(text if text.isdecimal() else repr(text) for text in params)
