"""The records of measuring processes that belong to one result file, by point."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path

from deepbench_ops.measure import library_variables
from deepbench_ops.measure.fingerprint import SETTINGS, THREADS
from deepbench_ops.measure.library_variables import Settings
from deepbench_ops.storage import measurement_files
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey


@dataclass(frozen=True)
class File:
    """A file of records of measurements.

    records: by benchmark and parameters, one for each process. facts: conditions of processes, by
    the digest in the records.
    """

    records: Mapping[ResultKey, Sequence[Record]]
    facts: Mapping[str, Mapping[str, str]]

    @classmethod
    def read(cls, path: Path) -> "File":
        """Read a file, without the records of skipped and of quick measurements.

        Raises DeepbenchError for a broken file.
        """
        facts, entries = measurement_files.load(path)
        found: dict[ResultKey, list[Record]] = defaultdict(list)
        for entry in entries:
            if not measurement_files.is_less(entry):
                found[entry["benchmark"], tuple(map(str, entry["params"]))].append(entry)
        return cls(dict(found), facts)

    def of(self, key: ResultKey) -> Sequence[Record]:
        """Return the records of a point."""
        return self.records.get(key, ())

    def settings(self, key: ResultKey) -> Settings | None:
        """Return the external settings of a point's processes; for a point without records
        those of all processes of the file, None if these differ."""
        records = self.of(key)
        if records:
            return reduce(_together, {self._settings.get(each["fingerprint"]) for each in records})
        several = set(self._settings.values())
        return several.pop() if len(several) == 1 else None

    def threads(self, key: ResultKey) -> str:
        """Return the number of threads of a point's processes; "" where it is not known, or
        differs."""
        digests = {each["fingerprint"] for each in self.of(key)}
        found = {self.facts.get(digest, {}).get(THREADS, "") for digest in digests}
        return found.pop() if len(found) == 1 else ""

    @cached_property
    def _settings(self) -> Mapping[str, Settings | None]:
        return {digest: _settings(facts) for digest, facts in self.facts.items()}


NOTHING = File({}, {})
"""The records of a result without a file of measurements."""


def _settings(facts: Mapping[str, str]) -> Settings | None:
    written = facts.get(SETTINGS)
    try:
        return None if written is None else library_variables.parse(written)
    except ValueError:  # an unclosed quote
        return None


def _together(one: Settings | None, other: Settings | None) -> Settings | None:
    """Return the settings of two processes of a point: all that one of them had."""
    if one == other or one is None or other is None:
        return one if one == other else None
    return tuple(sorted({*one, *other}))
