"""Published times that stand in other rows than their own, workbook by workbook.

A sheet shows where a column was pasted out of step (`exchange/workbooks/workbook_timings.py`).
published_times_in_wrong_rows.csv lists those times of DeepBench's workbooks, since results hold no
rows; scripts/make_misplaced_times_table.py writes it.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from deepbench_ops.storage.result_key import ResultKey

TABLE = Path(__file__).with_name("published_times_in_wrong_rows.csv")

COLUMNS = ("workbook", "sheet", "cell", "benchmark", "problem", "precision")


def of(workbooks: Iterable[str]) -> set[ResultKey]:
    """Return the times of some workbooks, by name, that stand in other rows than their own."""
    return {key for name in workbooks for key in _by_workbook().get(name, ())}


@cache
def _by_workbook() -> Mapping[str, set[ResultKey]]:
    found: dict[str, set[ResultKey]] = defaultdict(set)
    with TABLE.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            params = repr(row["problem"]), repr(row["precision"])
            found[row["workbook"]].add((row["benchmark"], params))
    return found
