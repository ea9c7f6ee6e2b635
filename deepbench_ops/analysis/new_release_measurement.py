"""Measurement of a new release in a block with the anchor of its history and the release before."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite
from pathlib import Path
from statistics import fmean, median

from deepbench_ops import project
from deepbench_ops.analysis.ensemble_verdicts import (
    Ensemble,
    Goal,
    anchor_of,
    compare,
    half_width,
)
from deepbench_ops.analysis.history_stores import OpenHistory, journal_of, open_history
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.asv_adapter.history_join import Joining
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.ensemble_sweeps import YARDSTICK
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import table_location, worker_launch
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CACHE
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH
from deepbench_ops.storage import ensemble_round_files

GOAL = Goal(within=0.01, most=20)
"""A new release is measured until its interval is as narrow as that of a history."""

Say = Callable[[str], object]


def measure(joining: Joining, say: Say, until: float = inf) -> Mapping[str, set[KernelIdentity]]:
    """Measure and file kernels that join a history; return those that need no other measurement.

    By release's name: those that the history now has of it, and those that the release lacks.
    say: is called with a line before something long, and about each omission. until: reading of
    time.monotonic from which on no round is begun.
    Raises DeepbenchError where results cannot be filed.
    """
    if CACHE.asked() != CACHE.usual or time.monotonic() >= until:
        return {}
    table = {each.name: each for each in table_location.measurable(project.results())}
    launches = _launches(_wanted(joining), say)
    new = [release for release in joining.releases if release.name in launches]
    if not new or len(launches) < 2:
        return {}
    opened = open_history(joining.framework, [table[name] for name in launches], True, say)
    anchor = opened.store.anchor(list(launches))
    if anchor is None:
        say(f"the anchor of {joining.framework}'s history cannot be measured here now: on its own")
        return {}
    tasks = [task for task in joining.tasks if opened.store.of(task)]
    opened.store.releases = [anchor, *(each.name for each in new if each.name != anchor)]
    found = Ensemble(launches, anchor, opened.store, reference=opened.reference)
    with opened.filing_at_the_end():
        if (left := until - time.monotonic()) > 0:
            found.measure(tasks, replace(GOAL, seconds=left))
    return _settled(opened, new, tasks, say)


def forecast(joining: Joining) -> dict[KernelIdentity, float]:
    """Return the expected seconds of `measure`, by kernel; {} where nothing joins.

    A kernel gets as many rounds as the history's releases have of it where these reach the goal,
    and the most that it may get where they do not. A round takes as long for each release as
    earlier ones did.
    """
    names = [] if CACHE.asked() != CACHE.usual else [each.name for each in _wanted(joining)]
    store = RoundStore(journal_of(joining.framework), names, _file(joining))
    anchor = store.anchor(names)
    if anchor is None or len(names) < 2:
        return {}
    store.releases = {anchor, *(release.name for release in joining.releases)}
    tasks = [task for task in joining.tasks if store.of(task)]
    each = _seconds_each(store)
    return {task: each[task] * _slots(store, task, anchor, names) for task in tasks}


def _slots(store: RoundStore, task: KernelIdentity, anchor: str, names: Sequence[str]) -> int:
    """Return how many times a release takes part in the expected rounds of a kernel."""
    anchor = anchor_of(store.of(task), anchor, names)
    every = [name for each in store.of(task) for name in _settled_by(each)]
    counts = Counter(name for name in every if name != anchor)
    usual = round(median(counts.values())) if counts else 0
    enough = usual if _reaches_goal(store, task, anchor) else GOAL.most
    slots = 0
    for number in range(min(GOAL.most, max(FEWEST_FOR_WIDTH, enough))):
        if lacking := store.lacking(task, number):
            before = {names[max(0, names.index(name) - 1)] for name in lacking}
            slots += len({anchor, *lacking, *before})
    return slots


def _settled_by(each: Round) -> set[str]:
    """Return the releases that have times in a round, or a reason for having none."""
    return {*each.names, *each.reasons} - {YARDSTICK}


def _reaches_goal(store: RoundStore, task: KernelIdentity, anchor: str) -> bool:
    """Whether the median interval of a kernel's releases is as narrow as the goal."""
    rounds = preferred_state.select(store.of(task)).rounds
    others = {name for each in rounds for name in each.names if name != anchor}
    widths = [half_width(compare(rounds, anchor, name)) for name in others]
    return not widths or median(widths) <= GOAL.within


def _seconds_each(store: RoundStore) -> dict[KernelIdentity, float]:
    """Return the mean seconds of a round of each kernel for each release in it.

    Those of its calls, and an equal part of the rest of its processes' lives: starts, preparations
    and yardsticks of all kernels that they measured.
    """
    together: dict[str, list[tuple[KernelIdentity, Round]]] = defaultdict(list)
    for task, rounds in store.rounds.items():
        for each in rounds.values():
            together[each.id].append((task, each))
    found: dict[KernelIdentity, list[float]] = defaultdict(list)
    for members in together.values():
        began = min(each.started_at for _, each in members)
        lasted = max(each.ended_at for _, each in members) - began
        calls = sum(_call_seconds(each) for _, each in members)
        rest = max(0.0, lasted - calls) / len(members)
        for task, each in members:
            own = _call_seconds(each) * min(1.0, lasted / (calls or 1.0))
            found[task].append((own + rest) / max(1, len(_settled_by(each))))
    return {task: fmean(seconds) for task, seconds in found.items()}


def _call_seconds(each: Round) -> float:
    """Return the seconds that all calls of a round took."""
    return sum(
        seconds * each.calls.get(name, 1)
        for sweep in each.sweeps
        for name, seconds in sweep.items()
        if isfinite(seconds)
    )


def _file(joining: Joining) -> Path:
    """Return the path of the history's filed rounds."""
    folder = project.results() / machine_entry.default_name()
    return ensemble_round_files.path_of(folder, joining.framework)


def _wanted(joining: Joining) -> list[Release]:
    """Return the releases to start, oldest first: the new ones, the one before each that the
    history has, and the anchor."""
    table = table_location.measurable(project.results())
    ordered = [each for each in table if each.framework == joining.framework]
    content = ensemble_round_files.load(_file(joining))
    anchors = Counter(entry["anchor"] for entry in content.entries)
    known = {name for entry in content.entries for name in entry["seconds"]}
    names = {max(sorted(anchors), key=anchors.__getitem__)}
    for release in joining.releases:
        place = ordered.index(release)
        before = [each.name for each in ordered[:place] if each.name in known]
        names |= {release.name, *before[-1:]}
    return [release for release in ordered if release.name in names]


def _launches(releases: Sequence[Release], say: Say) -> dict[str, Launch]:
    """Return how to start releases, oldest first; those that cannot be installed are left out."""
    found = {}
    for release in releases:
        try:
            found[release.name] = worker_launch.launch(release, None, say)
        except DeepbenchError as error:
            say(str(error))
    return found


def _settled(
    opened: OpenHistory, new: Sequence[Release], tasks: Sequence[KernelIdentity], say: Say
) -> dict[str, set[KernelIdentity]]:
    """Return the kernels that the filed rounds settle, by release's name."""
    done: dict[str, set[KernelIdentity]] = {}
    for release in new:
        done[release.name] = {task for task in tasks if opened.settles(task, release.name)}
        left = len(tasks) - len(done[release.name])
        rest = f"; {left} are measured on their own" if left else ""
        say(f"{release.name}: {len(done[release.name])} kernels are in the history{rest}")
    return done
