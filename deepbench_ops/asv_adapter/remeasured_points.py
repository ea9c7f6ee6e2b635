"""Points measured again while a steady one is stored: an unsteady one does not replace it.

A point is known when all of its rounds are. Where rounds alternate between releases asv saves after
each: until the last one the stored point stays, and the rounds so far are in the run's journal.
Samples that a user appends replace nothing, and are always stored; points of a history take none.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from asv.results import Results
from asv_runner.statistics import compute_stats

from deepbench_ops.asv_adapter import private_result_fields
from deepbench_ops.asv_adapter.private_result_fields import Fields
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.point_records import File
from deepbench_ops.machine.steadiness import SteadinessJudge
from deepbench_ops.problems.benchmark_names import why_not
from deepbench_ops.run_conditions import DEVICE
from deepbench_ops.storage import measurement_files
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted


class NotTaken(NamedTuple):
    """A point that came out unsteady and did not replace the steady one.

    commit, variables: hash of the release and environment variables of its result file. key:
    benchmark and plain parameters.
    """

    commit: str
    variables: Mapping[str, str]
    key: ResultKey
    reason: str


@dataclass
class _Rounds:
    """The rounds of a point so far."""

    samples: list[float] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)


@dataclass
class Remeasured:
    """The points that a run has measured again, by their result file.

    not_taken: those that came out unsteady, in the order of saving.
    """

    not_taken: list[NotTaken] = field(default_factory=list)
    _rounds: dict[Path, dict[ResultKey, _Rounds]] = field(default_factory=lambda: defaultdict(dict))

    def settle(
        self,
        path: Path,
        new: Results,
        stored: Results,
        records: Sequence[Record],
        last_round: bool,
    ) -> list[Record]:
        """Put stored values of steady points back into `new`; return the records to file.

        Not those of points whose rounds are all there and steady.


        stored: the result file at `path`. records: of this save. last_round: whether no other save
        of this file follows in the run.
        """
        measured = _by_key(records)
        judge = _Judge(path, stored)
        waiting = self._rounds[path]
        for key in measured:
            if key not in waiting and judge.protects(key, measured[key]):
                waiting[key] = _Rounds()
        for key in waiting.keys() & measured.keys():
            waiting[key].records += measured[key]
            waiting[key].samples += _fresh(new, stored, key)
        taken = {key for key in waiting if last_round and self._is_taken(judge, key)}
        for key in waiting:
            samples = waiting[key].samples if key in taken else None
            _put(new, key, stored, samples)
        filed = [entry for entry in records if _key(entry) not in waiting]
        filed += [entry for key in waiting if key in taken for entry in waiting[key].records]
        if last_round:
            del self._rounds[path]
        return filed

    def _is_taken(self, judge: "_Judge", key: ResultKey) -> bool:
        rounds = self._rounds[judge.path][key]
        if not rounds.samples:
            return False
        reason = judge.reason(rounds.records, key, compute_stats(rounds.samples, 1)[0])
        if reason:
            stored = judge.stored
            found = NotTaken(stored.commit_hash, dict(stored.env_vars), key, reason)
            self.not_taken.append(found)
        return not reason


class _Judge:
    """The steadiness of points of one result file; the machine's files are read when needed."""

    def __init__(self, path: Path, stored: Results) -> None:
        self.path, self.stored = path, stored
        self._judge: SteadinessJudge | None = None

    def protects(self, key: ResultKey, records: Sequence[Record]) -> bool:
        """Whether the stored point is steady, and of an earlier run than `records`."""
        value, _, _ = _at(self.stored, key)
        if value is None or value != value or why_not(*key):
            return False
        known = self._of_machine().file(self.path).of(key)
        own = {entry["started_at"] for entry in records}
        earlier = [
            entry
            for entry in known
            if entry["started_at"] not in own
            and not measurement_files.is_of_this_run(self.path, entry)
        ]
        return (bool(earlier) or not known) and not self.reason(known, key, value)

    def reason(self, records: Sequence[Record], key: ResultKey, seconds: float) -> str:
        """Return why a point is unsteady; "" where it is steady."""
        device = DEVICE.of(self.stored.env_vars)
        return self._of_machine().reason(records, key, seconds, device)

    def _of_machine(self) -> SteadinessJudge:
        if self._judge is None:
            try:
                self._judge = SteadinessJudge.of(self.path.parent)
            except DeepbenchError:  # of another release, whose damage keeps no result from the disk
                own = measurement_files.file_of(self.path)
                self._judge = SteadinessJudge(
                    {self.path.name: File.read(own)} if own.exists() else {}
                )
        return self._judge


def of_histories(path: Path) -> set[ResultKey]:
    """Return the points of an asv result file whose times are those of an ensemble.

    Raises DeepbenchError for a damaged file of records.
    """
    own = measurement_files.file_of(path)
    known = File.read(own).records if own.exists() else {}
    return {key for key, records in known.items() if "ensemble" in records[-1]}


def _by_key(records: Iterable[Record]) -> dict[ResultKey, list[Record]]:
    found: dict[ResultKey, list[Record]] = defaultdict(list)
    for entry in records:
        if not measurement_files.is_less(entry):
            found[_key(entry)].append(entry)
    return dict(found)


def _key(entry: Record) -> ResultKey:
    return entry["benchmark"], tuple(map(str, entry["params"]))


def _place(fields: Fields, key: ResultKey) -> int | None:
    """Return the place of a plain key in the columns of its benchmark; None where it has none."""
    name, _ = key
    places = {unquoted(name, each): place for place, each in enumerate(fields.keys(name))}
    return places.get(key)


def _at(results: Results, key: ResultKey) -> tuple[Any, ...]:
    """Return value, samples and statistics of a point, None for each that a result lacks."""
    fields = private_result_fields.of(results)
    place, found = _place(fields, key), (column.get(key[0]) for column in fields.columns)
    return tuple(column[place] if column and place is not None else None for column in found)


def _fresh(new: Results, stored: Results, key: ResultKey) -> list[float]:
    """Return the samples of this round alone: asv joins later rounds to those stored."""
    _, samples, _ = _at(new, key)
    _, before, _ = _at(stored, key)
    joined = new.added.get(key[0], False)
    return list((samples or [])[len(before or []) if joined else 0 :])


def _put(new: Results, key: ResultKey, stored: Results, samples: list[float] | None) -> None:
    """Give a point the value that these samples have; None: the stored one."""
    entries = _at(stored, key)
    if samples is not None:
        _, _, stats = _at(new, key)
        value, stats = compute_stats(samples, (stats or {}).get("number", 1))
        entries = value, samples, stats
    name, fields = key[0], private_result_fields.of(new)
    place, count = _place(fields, key), len(fields.keys(name))
    assert place is not None  # the run has measured it
    quoted = name, fields.keys(name)[place]
    (new.changed.discard if samples is None else new.changed.add)(quoted)
    for column, entry in zip(fields.columns, entries, strict=True):
        values = list(column.get(name) or [None] * count)
        values[place] = entry
        column[name] = values
