"""Results of histories, calculated again from rounds that have been filed."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepbench_ops.analysis import history_filing
from deepbench_ops.analysis.history_filing import Filing
from deepbench_ops.asv_adapter import asv_api, ensemble_filing
from deepbench_ops.asv_adapter.ensemble_filing import Filed, Places
from deepbench_ops.asv_adapter.filing_target import FilingTarget
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.releases import table_location
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import atomic_write, ensemble_round_files, locks
from deepbench_ops.storage.ensemble_round_files import RoundsFile

DOING = "calculating results of histories again"


@dataclass
class FiledRounds(RoundStore):
    """Filed rounds without a journal.

    content: rounds in place of those in the file.
    """

    content: RoundsFile | None = None

    def stored(self) -> RoundsFile:
        """Return the new rounds, or those of the file."""
        return self.content or super().stored()


def file_again(path: Path) -> int:
    """File the results of a file of rounds again; return the number of its kernels.

    path: in the folder of a machine's results. Results of each set of run conditions are those of
    the rounds with the conditions that most of its rounds share, such as threads. Rounds over
    several frameworks replace only results that came from them, and fill in missing ones. Raises
    DeepbenchError for damaged files, and where no result tells asv's environment.
    """
    with locks.results(path.parents[2], doing=DOING):
        content = ensemble_round_files.load(path)
        by_conditions = _by_conditions(content)
        most: dict[tuple[str, ...], dict[str, str]] = {}
        for conditions in by_conditions:
            most.setdefault(_values(conditions), conditions)
        found = [_points(path, content, conditions, None) for conditions in most.values()]
        if None in found:
            raise DeepbenchError(
                f"{path.parent.parent} has no results of the releases that its rounds measured"
            )
        places = history_filing.places_of(path)
        with atomic_write.together() as ready:
            for target, points in filter(None, found):
                ensemble_filing.file(target, points, ready, places)
    every = [point for _, points in filter(None, found) for point in points]
    return len({point.task for point in every if not point.skipped})


def replace(path: Path, content: RoundsFile, changed: Collection[KernelIdentity]) -> None:
    """Replace the rounds of a file, and the stored results of the changed kernels that came from
    it.

    Other results stay as they are: those of kernels that were measured alone since, and those that
    were removed. All files are replaced together. Raises DeepbenchError for damaged files.
    """
    with locks.results(path.parents[2], doing=DOING):
        points: dict[tuple[str, ...], tuple[FilingTarget, list[Filed]]] = {}
        for conditions in _by_conditions(content):
            found = _points(path, content, conditions, changed)
            if found is not None:
                target, own = found
                points.setdefault(_values(conditions), (target, []))[1].extend(own)
        with atomic_write.together() as ready:
            ensemble_round_files.write(ready(path), content)
            for target, several in points.values():
                ensemble_filing.file(target, several, ready, Places.OWN)


def _points(
    path: Path,
    content: RoundsFile,
    conditions: dict[str, str],
    changed: Collection[KernelIdentity] | None,
) -> tuple[FilingTarget, list[Filed]] | None:
    """Return the points of the rounds under these conditions, and where they are filed.

    changed: the kernels, all if None. None where there are no results of their releases.
    """
    machine = path.parent.parent
    table = {release.name: release for release in table_location.load(machine.parent)}
    measured = {
        name
        for each in content.entries
        if each.get("conditions", {}) == conditions
        for name in each["seconds"]
    }
    names = [name for name in table if name in measured]
    target = _target(machine.parent, machine.name, [table[each] for each in names], conditions)
    if target is None:
        return None
    no_journal = path.with_name("no journal")
    store = FiledRounds(no_journal, names, path, target.levels, here=conditions, content=content)
    tasks = [task for task in store.rounds if changed is None or task in changed]
    return target, Filing(store, target, table).points(tasks)


def _by_conditions(content: RoundsFile) -> list[dict[str, str]]:
    """Return the conditions of rounds, those of most rounds first."""
    counts = Counter(tuple(sorted(each.get("conditions", {}).items())) for each in content.entries)
    return [dict(items) for items, _ in counts.most_common()]


def _values(conditions: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the run conditions: rounds name the unusual ones."""
    return tuple(conditions.get(each.name, each.usual) for each in CONDITIONS)


def _target(
    results: Path, machine: str, releases: Iterable[Release], conditions: Mapping[str, str]
) -> FilingTarget | None:
    """Return where the results of releases lie: with the environment that holds most of them; None
    where there are none."""
    folder = results / machine
    commits = {release.hash for release in releases}
    found = Counter(
        (each.env_name, tuple(each.env_vars.items()))
        for each in asv_api.machine_results(results, machine)
        if each.commit_hash in commits
        and tuple(one.of(each.env_vars) for one in CONDITIONS) == _values(conditions)
    )
    if not found:
        return None
    ((name, variables), _), *_ = found.most_common(1)
    benchmarks: dict[str, Any] = json.loads((results / "benchmarks.json").read_text("utf-8"))
    benchmarks.pop("version")
    known = machine_profile.read(results, machine)
    entry = json.loads((folder / "machine.json").read_text("utf-8"))
    entry.pop("version")
    levels = known.latencies if known else ()
    return FilingTarget(
        results, entry, name, dict(variables), benchmarks, NominalReadings(), levels
    )
