"""All results as Parquet files, made from results/ and made again from it at any time.

A folder for each table, such as `times/`, with a file for each machine in it. The results stay the
truth: `checksums/` names a machine's inputs and the checksums of its files, and they are read only
where both are still the same.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from deepbench_ops import damage_reports, project, work_on_cores
from deepbench_ops.analysis import (
    parquet_columns,
    parquet_machines,
    parquet_rounds,
    parquet_rows,
    point_reading,
)
from deepbench_ops.analysis.point_filter import EVERYTHING, Only
from deepbench_ops.analysis.points import Point
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.garbage_collector_pause import no_collector
from deepbench_ops.releases import plugin_digest, table_location
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write, input_digest, json_cache, locks, machine_files

SCHEMAS = {
    "times": parquet_columns.TIMES,
    "samples": parquet_columns.SAMPLES,
    "counts": parquet_columns.COUNTS,
    "rounds": parquet_rounds.ROUNDS,
    "model_runs": parquet_machines.MODEL_RUNS,
    "machines": parquet_machines.MACHINES,
    "libraries": parquet_machines.LIBRARIES,
}
"""Columns of each table."""

TABLES = tuple(SCHEMAS)
ROWS = 65_536
"""Rows that a reader skips or reads together."""

LEAST_BYTES = 2**24
"""Size of changed results from which processes save more than their start takes, a second each."""

DAMAGE, STRANGE = b"deepbench damage", b"deepbench left out"
"""Names in a file's metadata: the reports about its inputs, and how many results are left out for
each reason."""

FRESH, OUTDATED, DAMAGED = "up to date", "out of date", "damaged"
"""States of a machine in the store. Out of date is also one whose files are missing."""

UNUSED = ("commands", "distributed", "exchange", "fleet", "models", "pages", "suite")
"""Folders of the package that make no row."""


@dataclass(frozen=True)
class Inputs:
    """Inputs of a machine's files, as these were made.

    digest: of its results and of the code. days: of the releases that it has results of, by their
    hash; "" for one that the release table lacks, by the start of its commit.
    """

    digest: str
    days: Mapping[str, str]

    def same(self, digest: str, releases: Mapping[str, Release]) -> bool:
        """Whether results and code have this digest now, and a release table, by hash, gives the
        releases the same days."""
        known = {
            name: str(each.date)
            for each in releases.values()
            for name in (each.hash, each.hash[:8])
        }
        days = {name: known.get(name, "") for name in self.days}
        return (digest, days) == (self.digest, self.days)


@dataclass(frozen=True)
class Part:
    """A machine in the store: its name, how many times it has, and whether it was made now."""

    machine: str
    times: int
    made: bool


@dataclass(frozen=True)
class Store:
    """The Parquet files in `folder` that are made from `results`."""

    folder: Path
    results: Path

    @classmethod
    def next_to(cls, results: Path) -> "Store":
        """Return the store of a folder of results, which lies next to it."""
        return cls(project.store(results), results)

    @property
    def machines(self) -> list[str]:
        """The machines in the store, whatever they were made from."""
        return sorted(path.stem for path in (self.folder / "times").glob("*.parquet"))

    def files(self, table: str, machines: Iterable[str]) -> list[Path]:
        """Return the files of a table for these machines; one that was made by an earlier version
        may lack the table."""
        paths = (self._path(table, machine) for machine in machines)
        return [path for path in paths if path.exists()]

    def build(self, again: bool = False) -> Iterator[Part]:
        """Make the files of each machine whose results have changed, of all where `again`.

        Yields a machine when it is done. Files of machines without results are removed, unless none
        has results: then the store is a copy. Raises DeepbenchError where another process builds
        the same store, OSError for a disk that is full.
        """
        if not point_reading.machines(self.results):
            return
        with locks.results(self.folder, "deepbench store build"):
            releases = self._releases()
            yield from self._parts(releases, again)
            for gone in set(self.machines) - set(point_reading.machines(self.results)):
                for path in (self._about(gone), *self._paths(gone).values()):
                    path.unlink(missing_ok=True)

    @property
    def is_copy(self) -> bool:
        """Whether it has machines and there are no results here, from which it could be made."""
        return bool(self.machines) and not point_reading.machines(self.results)

    def sizes(self) -> dict[str, int]:
        """Return the number of times of each machine in the store; 0 for a damaged file."""
        return {machine: _rows(self._path("times", machine)) for machine in self.machines}

    def states(self) -> dict[str, str]:
        """Return the state of each machine that has results or is in the store: `FRESH`, `OUTDATED`
        or `DAMAGED`. Every file is read once."""
        here = set(point_reading.machines(self.results))
        releases = self._releases() if here else {}
        found = {}
        for machine in sorted({*here, *self.machines}):
            made_from = self._made_from(machine)
            if made_from is None:
                found[machine] = DAMAGED if self._has_files(machine) else OUTDATED
            else:
                fresh = machine in here and made_from.same(self._digest(machine), releases)
                found[machine] = FRESH if fresh else OUTDATED
        return found

    def outdated(self) -> list[str]:
        """Return the machines whose files are missing, damaged or of other results than now."""
        return [machine for machine, state in self.states().items() if state != FRESH]

    def load(
        self,
        machine: str,
        releases: Mapping[str, Release],
        rounds: bool = False,
        samples: bool = False,
        strange: Counter[str] | None = None,
        only: Only = EVERYTHING,
    ) -> list[Point]:
        """Return the points of a machine that `only` chooses, as `point_reading.load` does.

        releases: by hash, all of the table or some. Raises DeepbenchError where the files are
        missing, damaged or of other results than now.
        """
        self._demand_fresh(machine)
        left_out = () if rounds else parquet_columns.DETAILS
        columns = [name for name in parquet_columns.TIMES.names if name not in left_out]
        times = self._path("times", machine)
        rows = parquet_rows.read(times, columns, only)
        own = self._path("samples", machine)
        seconds = parquet_rows.read_samples(own, times, only) if samples else None
        about = parquet.read_schema(times).metadata
        if strange is None:
            for line, damaged in json.loads(about[DAMAGE]):
                damage_reports.report(line, damaged)
            point_reading.report_strange(machine, json.loads(about[STRANGE]))
        else:
            strange.update(json.loads(about[STRANGE]))
        with no_collector():  # as in `point_reading.load`
            return parquet_columns.points(rows, releases, seconds)

    def _demand_fresh(self, machine: str) -> None:
        """Raise DeepbenchError where a machine's files are out of date."""
        made_from = self._made_from(machine)
        if made_from is None and self._has_files(machine):
            raise DeepbenchError(f"{self.folder}: the files of {machine} are damaged")
        if made_from is None or not made_from.same(self._digest(machine), self._releases()):
            raise DeepbenchError(f"{self.folder} is out of date")

    def _releases(self) -> dict[str, Release]:
        return {each.hash: each for each in table_location.load(self.results)}

    def _path(self, table: str, machine: str) -> Path:
        return self.folder / table / f"{machine}.parquet"

    def _paths(self, machine: str) -> dict[str, Path]:
        return {table: self._path(table, machine) for table in TABLES}

    def _about(self, machine: str) -> Path:
        """Return the file with the inputs and the checksums of a machine's files."""
        return self.folder / "checksums" / machine

    def _parts(self, releases: dict[str, Release], again: bool) -> Iterator[Part]:
        """Make the files of machines whose results have changed; yield all machines, in order."""
        machines = point_reading.machines(self.results)
        digests = {machine: self._digest(machine) for machine in machines}
        old = [
            machine
            for machine, digest in digests.items()
            if again
            or (made_from := self._made_from(machine)) is None
            or not made_from.same(digest, releases)
        ]
        make = partial(self._make, releases)
        size = sum(_size(self.results / machine) for machine in old)
        spread = len(old) > 1 and size >= LEAST_BYTES and work_on_cores.cores() > 1
        asked = [(machine, digests[machine]) for machine in old]
        made = work_on_cores.results(make, asked) if spread else map(make, asked)
        for machine in machines:
            if machine not in old:
                yield Part(machine, _rows(self._path("times", machine)), made=False)
                continue
            rows, reports, strange = next(made)
            for line, damaged in reports:
                damage_reports.report(line, damaged)
            point_reading.report_strange(machine, strange)
            yield Part(machine, rows, made=True)

    def _make(
        self, releases: dict[str, Release], asked: tuple[str, str]
    ) -> tuple[int, list[tuple[str, bool]], Counter[str]]:
        """Make a machine's files; return the number of its times, the reports about damaged inputs,
        and how many results are left out for each reason. The reports about inputs of the points
        are stored with these.

        asked: its name, and the digest of its results and of the code.
        """
        machine, digest = asked
        strange: Counter[str] = Counter()
        with damage_reports.held_back() as damage, no_collector():  # as in `point_reading.load`
            found = parquet_columns.tables(
                point_reading.of_each_result(self.results, machine, releases, strange, True, True)
            )
        days = _days(found["times"])
        with damage_reports.held_back() as further, no_collector():
            listed = (releases[commit] for commit in days if commit in releases)
            folder = self.results / machine
            found["rounds"] = parquet_rounds.table(folder)
            found["model_runs"] = parquet_machines.runs(folder)
            found["machines"] = parquet_machines.machine(folder)
            found["libraries"] = parquet_machines.libraries(folder, listed)
        about = {DAMAGE: json.dumps(damage).encode(), STRANGE: json.dumps(strange).encode()}
        with atomic_write.together() as ready:
            written = {name: ready(path) for name, path in self._paths(machine).items()}
            for name, table in found.items():
                rows = table.replace_schema_metadata(about)
                parquet.write_table(rows, written[name], compression="zstd", row_group_size=ROWS)
            made_from = [digest, _checksums(written), days]
            json_cache.write(ready(self._about(machine)), made_from)
        return found["times"].num_rows, [*damage, *further], strange

    def _has_files(self, machine: str) -> bool:
        return any(path.exists() for path in self._paths(machine).values())

    def _made_from(self, machine: str) -> Inputs | None:
        """Return the inputs of a machine's files; None where any is damaged or missing.

        Files of an earlier version with other tables have inputs that are never those of now.
        """
        match json_cache.read(self._about(machine)):
            case [str(digest), dict(checksums), *days]:
                own = {table: self._path(table, machine) for table in checksums}
                if checksums == _checksums(own):
                    same_tables = checksums.keys() == set(TABLES)
                    return Inputs(digest if same_tables else "", days[0] if days else {})
        return None

    def _digest(self, machine: str) -> str:
        """Return the digest of a machine's results and of all that makes rows of them: the code,
        asv, which reads the files, and plugins.

        The release table is none of it: see `Inputs`. Nor are Python and numpy, which sort numbers
        and take medians for the rows: every version of them does so alike.
        """
        plugins = plugin_digest.of_plugins_of_this_process()
        key = f"{input_digest.of_code(UNUSED)} {plugins} asv {version('asv')}"
        return input_digest.of_machine(self.results / machine, key)


def _days(times: pa.Table) -> dict[str, str]:
    """Return the days of the releases in a table of times, as `Inputs` has them."""
    releases = times.group_by(["commit", "framework", "version", "date"]).aggregate([]).to_pylist()
    listed = [each for each in releases if each["framework"] != point_reading.STAND_IN]
    others = [each for each in releases if each["framework"] == point_reading.STAND_IN]
    days = {each["commit"]: str(each["date"]) for each in listed}
    return days | {each["version"]: "" for each in others}


def _size(machine: Path) -> int:
    """Return the bytes of a machine's folder."""
    return sum(machine_files.sizes(machine).values())


def _checksums(paths: Mapping[str, Path]) -> dict[str, str]:
    """Return the checksum of each file, "" for one that is missing."""
    return {name: _checksum(path) for name, path in paths.items()}


def _checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _rows(path: Path) -> int:
    try:
        return int(parquet.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return 0


def demand(store: Store) -> Sequence[str]:
    """Return the machines of a store. Raises DeepbenchError where there is none."""
    if not store.machines:
        raise DeepbenchError(f"{store.folder} holds no store: deepbench store build makes one")
    return store.machines
