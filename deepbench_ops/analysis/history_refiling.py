"""Results of histories, calculated again from rounds that have been filed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.history_filing import Filing
from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.asv_adapter.filing_target import FilingTarget
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.releases import table_location
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import ensemble_round_files, locks
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.ensemble_round_files import RoundsFile

DOING = "calculating results of histories again"


@dataclass
class FiledRounds(RoundStore):
    """Filed rounds without a journal, whose results are all filed again.

    content: rounds that take the place of those in the file.
    """

    content: RoundsFile | None = None

    def unfiled(self) -> list[KernelIdentity]:
        """Return the kernels that have rounds."""
        return list(self.rounds)

    def file(self, ready: Ready = Path) -> None:
        """Write the new rounds, if there are any."""
        if self.filed is not None and self.content is not None:
            ensemble_round_files.write(ready(self.filed), self.content)

    def forget(self) -> None:
        """Do nothing: there is no journal."""

    def stored(self) -> RoundsFile:
        """Return the new rounds, or those of the file."""
        return self.content or super().stored()


def file_again(path: Path, content: RoundsFile | None = None) -> int:
    """File the results of a file of rounds again; return the number of its kernels.

    path: in the folder of a machine's results. content: rounds that take the place of those in the
    file, together with the results. Results of each set of run conditions are those of the rounds
    with the conditions that most of its rounds share, such as threads. Rounds over several
    frameworks replace only results that came from them, and fill in missing ones. Raises
    DeepbenchError for damaged files, and where no result tells asv's environment.
    """
    machine = path.parent.parent
    results = machine.parent
    table = {release.name: release for release in table_location.load(results)}
    filed = 0
    with locks.results(results, doing=DOING):
        rounds = (content or ensemble_round_files.load(path)).entries
        for conditions in _conditions(each.get("conditions", {}) for each in rounds):
            measured = {
                name
                for each in rounds
                if each.get("conditions", {}) == conditions
                for name in each["seconds"]
            }
            releases = [release for name, release in table.items() if name in measured]
            target = _target(results, machine.name, releases, conditions)
            names = [release.name for release in releases]
            store = FiledRounds(
                path.with_name("no journal"),
                names,
                path,
                target.levels,
                here=conditions,
                content=content,
            )
            filing = Filing(store, target, table)
            filing.file()
            filed += len(filing.kernels)
    return filed


def _conditions(several: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the conditions that most rounds have, for each set of run conditions among them."""
    counts = Counter(tuple(sorted(each.items())) for each in several)
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for items, _ in counts.most_common():
        found.setdefault(_values(dict(items)), dict(items))
    return list(found.values())


def _values(conditions: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the run conditions: rounds name the unusual ones."""
    return tuple(conditions.get(each.name, each.usual) for each in CONDITIONS)


def _target(
    results: Path, machine: str, releases: Iterable[Release], conditions: Mapping[str, str]
) -> FilingTarget:
    """Return where the results of releases lie: with the environment that holds most of them."""
    folder = results / machine
    commits = {release.hash for release in releases}
    found = Counter(
        (each.env_name, tuple(each.env_vars.items()))
        for each in asv_api.machine_results(results, machine)
        if each.commit_hash in commits
        and tuple(one.of(each.env_vars) for one in CONDITIONS) == _values(conditions)
    )
    if not found:
        raise DeepbenchError(f"{folder} has no results of the releases that its rounds measured")
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
