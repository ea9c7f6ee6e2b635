"""Replace stored intervals that cannot be right: bounds at or below zero, or without end.

    python scripts/mend_intervals.py [--results results]

Until November 2026 asv's own intervals were stored, which are made of seconds and reach below zero
where samples are few. The same code that sets the intervals of each saved result
(`asv_adapter.result_merging.set_intervals`) replaces them. All else stays, which is checked before
a file is replaced; only that asv writes statistics with five digits. A file without such a bound is
not written, and a second call changes nothing.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.private_result_fields import INTERVAL
from deepbench_ops.asv_adapter.result_merging import set_intervals
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write, locks

COLUMNS = tuple(f"stats_{name}" for name in INTERVAL)


def mend(path: Path) -> int:
    """Replace the impossible intervals of a result file; return how many there were.

    Raises DeepbenchError for a damaged file, and where anything but an interval would change.
    """
    stored = result_files.undamaged(path)
    before = _intervals(stored)
    stored.changed = set()  # nothing is measured: sound intervals stay
    set_intervals(stored)
    count = sum(one != other for one, other in zip(before, _intervals(stored), strict=True))
    if count:
        with atomic_write.replacing(path) as unfinished:
            result_files.write(unfinished, stored)
            if _without_intervals(path) != _without_intervals(unfinished):
                raise DeepbenchError(f"{path} is not written: more than intervals would change")
    return count


def _intervals(stored: Any) -> list[tuple[float | None, ...]]:
    """Return the two bounds of each statistic of a result."""
    columns = private_result_fields.of(stored).stats.values()
    stats = [stat for column in columns for stat in column or () if stat]
    return [tuple(stat.get(name) for name in INTERVAL) for stat in stats]


def _without_intervals(path: Path) -> str:
    """Return the content of a result file without its intervals, as text: NaN equals NaN."""
    content = json.loads(path.read_text(encoding="utf-8"))
    for name, row in content["results"].items():
        columns = dict(zip(content["result_columns"], row, strict=False))
        content["results"][name] = {
            title: _in_digits_of_asv(column) if title.startswith("stats_") else column
            for title, column in columns.items()
            if title not in COLUMNS
        }
    return json.dumps(content, sort_keys=True)


def _in_digits_of_asv(column: list[float | None] | None) -> list[float | None]:
    return [each and private_result_fields.as_stored(each) for each in column or ()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    results = parser.parse_args().results
    faults = 0
    with locks.results(results, doing="mending intervals"):
        for machine in sorted(path for path in results.iterdir() if path.is_dir()):
            counts = []
            for path in result_files.paths(machine):
                try:
                    counts.append(mend(path))
                except DeepbenchError as wrong:
                    print(wrong, file=sys.stderr)
                    faults += 1
            if any(counts):
                files = sum(map(bool, counts))
                print(f"{machine.name}: {sum(counts)} intervals in {files} files")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
