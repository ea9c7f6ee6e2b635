"""Remarks below asv's own tables of one release or two, which show every stored time.

`deepbench compare` leaves out unsteady times, and two times whose external settings, threads or
states of the machine differ. asv knows of none of these.
"""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deepbench_ops.analysis import machine_points
from deepbench_ops.analysis.points import STATE, KernelKey, Point
from deepbench_ops.analysis.settings_and_state_agreement import agree
from deepbench_ops.analysis.unsteady_list import counted
from deepbench_ops.measure.fingerprint import SETTINGS, THREADS
from deepbench_ops.releases.release_table import Release


def of_releases(
    results: Path, machine: str, commits: Sequence[str], releases: dict[str, Release]
) -> list[str]:
    """Return a line about the times of one release, or of two that are compared; [] for none.

    commits: hashes of the releases. releases: the release table by hash. Raises DeepbenchError for
    damaged results.
    """
    if not all(commit in releases for commit in commits):
        return []
    every = machine_points.load(results, machine, releases, only={"commit": commits})
    sides = [[point for point in every if point.release.hash == commit] for commit in commits]
    names = [releases[commit].name for commit in commits]
    if len(sides) == 1:
        return _of_one(sides[0], machine, names[0])
    return _of_two(_by_kernel(sides[0]), _by_kernel(sides[1]), machine, names)


def _of_one(points: Sequence[Point], machine: str, name: str) -> list[str]:
    unsteady = [point for point in points if point.unsteady]
    if not unsteady:
        return []
    are = "is" if len(unsteady) == 1 else "are"
    return [
        f"{len(unsteady)} of {len(points)} times of {name} on {machine} {are} unsteady"
        f" ({counted(unsteady)}): deepbench unsteady {shlex.quote(name)}"
        f" --machine {shlex.quote(machine)} lists them"
    ]


def _times(points: Sequence[Point]) -> str:
    return "1 time is" if len(points) == 1 else f"{len(points)} times are"


def _by_kernel(points: Sequence[Point]) -> dict[tuple[KernelKey, str], Point]:
    return {(point.kernel, point.device): point for point in points}


def _of_two(
    one: dict[tuple[KernelKey, str], Point],
    other: dict[tuple[KernelKey, str], Point],
    machine: str,
    names: Sequence[str],
) -> list[str]:
    pairs = [(one[key], other[key]) for key in one if key in other]
    unsteady = [point for pair in pairs for point in pair if point.unsteady]
    apart = Counter(_reason(*pair) for pair in pairs if not agree(*pair))
    parts = [
        f"{_times(unsteady)} unsteady ({counted(unsteady)})" if unsteady else "",
        f"the external settings of {apart[SETTINGS]} differ" if apart[SETTINGS] else "",
        f"{apart[THREADS]} were measured on unequal numbers of threads" if apart[THREADS] else "",
        f"{apart[STATE]} were measured in different states of the machine" if apart[STATE] else "",
    ]
    if not any(parts):
        return []
    contenders = " ".join(shlex.quote(f"{machine}@{name}") for name in names)
    return [
        f"of {len(pairs)} kernels that both releases have, {', '.join(filter(None, parts))}:"
        f" deepbench compare {contenders} leaves them out"
    ]


def _reason(one: Point, other: Point) -> str:
    """Return the first condition in which two times differ that do not agree."""
    if None not in (one.settings, other.settings) and one.settings != other.settings:
        return SETTINGS
    if "" not in (one.threads, other.threads) and one.threads != other.threads:
        return THREADS
    return STATE
