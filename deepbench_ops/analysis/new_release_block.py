"""Measurement of a new release in a block with the anchor of its history and the release before."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from deepbench_ops import project
from deepbench_ops.analysis.ensemble_verdicts import Ensemble, Goal
from deepbench_ops.analysis.open_history import OpenHistory, open_history
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.asv_adapter.history_join import Joining
from deepbench_ops.conditions import CACHE
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.kernel_task import KernelTask
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import table_location, worker_launch
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import ensemble_round_files

GOAL = Goal(within=0.01, most=20)
"""A new release is measured until its interval is as narrow as that of a history."""

Say = Callable[[str], object]


def measure(joining: Joining, say: Say) -> Mapping[str, set[KernelTask]]:
    """Measure and file what joins a history; return the kernels that need no other measurement.

    By release's name: those that the history now has of it, and those that the release lacks.
    say: is called with a line before something long, and about what is left out.
    Raises DeepbenchError where results cannot be filed.
    """
    if CACHE.asked() != CACHE.usual:
        return {}
    table = {each.name: each for each in table_location.measurable(project.results())}
    ordered = [each for each in table.values() if each.framework == joining.framework]
    launches = _launches(_wanted(joining, ordered), say)
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
        found.measure(tasks, GOAL)
    return _settled(opened, new, tasks, say)


def _wanted(joining: Joining, ordered: Sequence[Release]) -> list[Release]:
    """Return the releases to start, oldest first: the new ones, the one before each that the
    history has, and the anchor."""
    folder = project.results() / machine_entry.default_name()
    content = ensemble_round_files.load(ensemble_round_files.path_of(folder, joining.framework))
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
    opened: OpenHistory, new: Sequence[Release], tasks: Sequence[KernelTask], say: Say
) -> dict[str, set[KernelTask]]:
    """Return the kernels that the filed rounds settle, by release's name."""
    done: dict[str, set[KernelTask]] = {}
    for release in new:
        done[release.name] = {task for task in tasks if opened.settles(task, release.name)}
        left = len(tasks) - len(done[release.name])
        rest = f"; {left} are measured on their own" if left else ""
        say(f"{release.name}: {len(done[release.name])} kernels are in the history{rest}")
    return done
