"""Compute the results of committed histories again from their rounds.

    python scripts/file_rounds_again.py [--results results]

For use after a change of the way in which results follow from rounds. Nothing is measured: the
rounds in RESULTS/MACHINE/ensembles/ stay as they are, and the results and records of the releases
that they measured are replaced. Rounds over several frameworks replace only those that came from
them, and fill in missing ones.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

from deepbench_ops.analysis.history_filing import Filing
from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.asv_adapter.filing_target import FilingTarget
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import ensemble_round_json, ensemble_sweeps
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.releases import table_location
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS


class FiledRounds(RoundStore):
    """Filed rounds without a journal; all of them are filed again."""

    def unfiled(self) -> list[KernelIdentity]:
        """Return the kernels that have rounds."""
        return list(self.rounds)


def target(results: Path, machine: str, releases: Iterable[Release]) -> FilingTarget:
    """Return where the results of releases lie: with the environment that holds most of them."""
    folder = results / machine
    commits = {release.hash for release in releases}
    found = Counter(
        (each.env_name, tuple(each.env_vars.items()))
        for each in asv_api.machine_results(results, machine)
        if each.commit_hash in commits
        and all(condition.of(each.env_vars) == condition.usual for condition in CONDITIONS)
    )
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


def file_again(results: Path, path: Path) -> int:
    """File the results of a file of rounds again; return the number of its kernels."""
    table = {release.name: release for release in table_location.load(results)}
    rounds = [each for found in ensemble_round_json.load(path).values() for each in found]
    conditions = Counter(tuple(sorted(each.conditions.items())) for each in rounds)
    usual = dict(conditions.most_common(1)[0][0])
    names = [name for name in table if any(name in each.names for each in rounds)]
    where = target(results, path.parent.parent.name, [table[name] for name in names])
    with (
        tempfile.TemporaryDirectory() as scratch,
        mock.patch.object(ensemble_sweeps, "conditions", lambda: usual),
    ):
        store = FiledRounds(Path(scratch) / "none.jsonl", names, path, where.levels)
        filing = Filing(store, where, table)
        filing.file()
    return len(filing.kernels)


def main() -> None:
    """File all histories again, and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("results"))
    results = parser.parse_args().results
    for path in sorted(results.glob("*/ensembles/*.jsonl.gz")):
        print(f"{path}: {file_again(results, path)} kernels filed again")


if __name__ == "__main__":
    main()
