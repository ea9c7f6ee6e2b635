"""Stored times of single runs, calculated again from their raw seconds by other nominal readings.

A point's samples are the calibrated seconds of its records, process after process: each is
multiplied by the new nominal reading over the former one. Times of histories follow from their
rounds (`analysis.recalibration`).
"""

import math
from collections.abc import Mapping
from pathlib import Path

from asv.results import Results
from asv_runner.statistics import compute_stats

from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.result_merging import set_intervals
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import fingerprint
from deepbench_ops.measure.nominal_readings import Choice, NominalReadings
from deepbench_ops.statistics.yardstick_calibration import on_quiet_machine
from deepbench_ops.storage import measurement_files
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted

DIGITS = 5
"""Significant digits of stored seconds."""

ALIKE = 0.002
"""Part of a sample within which it is the calibrated one of its record, both rounded."""


def recalibrate(path: Path, nominal: NominalReadings, ready: Ready) -> int:
    """Calculate the points of a result file again; return how many have changed.

    nominal: the readings that hold now. ready: as `atomic_write.together` gives it. Records for
    which there is no nominal reading now, nor a reason to have none, stay as they are, and so do
    those of ranks, since the threads of their yardstick are not recorded. Raises
    DeepbenchError for damaged files, and where a point's samples are not those of its records.
    """
    filed = measurement_files.file_of(path)
    if not filed.exists():
        return 0
    facts, former = measurement_files.load(filed)
    records = [_recalibrated(each, facts, nominal) for each in former]
    samples: dict[ResultKey, list[tuple[float, float]]] = {}
    changed = set()
    for old, new in zip(former, records, strict=True):
        if "skipped" not in old and "ensemble" not in old:
            key = unquoted(old["benchmark"], old["params"])
            samples.setdefault(key, []).extend(zip(_samples(old), _samples(new), strict=True))
            changed |= {key} if old is not new else set()
    if not changed:
        return 0
    stored = result_files.undamaged(path)
    stored.changed = set()
    fields = private_result_fields.of(stored)
    for name in fields.values:
        for place, each in enumerate(fields.keys(name)):
            key = unquoted(name, each)
            if key in changed:
                _put(path, stored, name, place, samples[key])
                stored.changed.add((name, each))
    set_intervals(stored)
    result_files.write(ready(path), stored)
    measurement_files.write(filed, facts, records, ready)
    return len(changed)


def chosen(nominal: NominalReadings, kind: str, threads: str, latencies: list[float]) -> Choice:
    """Return the nominal reading of a kind for times on a number of threads, at latencies between
    two cores."""
    return nominal.choice(kind, int(threads), [each for each in latencies if math.isfinite(each)])


def _recalibrated(
    record: Record, facts: Mapping[str, Mapping[str, str]], nominal: NominalReadings
) -> Record:
    """Return a record with the nominal reading of now, the same object if it has that one."""
    if "skipped" in record or "ensemble" in record or not record["yardstick"]:
        return record
    own = facts[record["fingerprint"]]
    threads = own.get(fingerprint.THREADS, "")
    if not threads.isdecimal() or "ranks" in own:  # of a rank, not of the yardstick
        return record
    latencies = record.get("core_latencies", [])
    if nominal.by_level and not latencies:
        return record  # its state is not known
    choice = chosen(nominal, record["yardstick_kind"], threads, latencies)
    if choice.seconds == record["nominal"] or choice == Choice(None):
        return record
    notes = {name: text for name, text in record["notes"].items() if name != "calibration"}
    if choice.remark:
        notes["calibration"] = choice.remark
    return {**record, "nominal": choice.seconds, "notes": notes}


def _samples(record: Record) -> list[float]:
    """Return the seconds that asv gets of a record."""
    seconds: list[float] = record["seconds"]
    if not record["yardstick"] or not record.get("nominal"):
        return seconds
    pairs = zip(seconds, record["yardstick"], strict=True)
    return [on_quiet_machine(each, reading, record["nominal"]) for each, reading in pairs]


def _put(
    path: Path, stored: Results, name: str, place: int, samples: list[tuple[float, float]]
) -> None:
    """Put the new samples of a point, given with the former ones, and the value that follows."""
    fields = private_result_fields.of(stored)
    held = (fields.samples.get(name) or [])[place : place + 1]
    former = held[0] if held and held[0] else []
    if len(former) != len(samples) or any(
        abs(one - old) > ALIKE * old for one, (old, _) in zip(former, samples, strict=True)
    ):
        raise DeepbenchError(
            f"{path}: {name}({', '.join(fields.keys(name)[place])}) has other samples than its raw"
            " seconds give: measure it again, or remove it with asv rm; the file stays as it is"
        )
    new = [_rounded(one * (now / old)) for one, (old, now) in zip(former, samples, strict=True)]
    stats = (fields.stats.get(name) or [])[place]
    value, found = compute_stats(new, (stats or {}).get("number", 1))
    for column, entry in zip(fields.columns, (value, new, found), strict=True):
        own = column[name]
        assert own is not None
        own[place] = entry


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.{DIGITS}g}")
