"""Published times that stand beside other rows than their own, workbook by workbook.

Reading a sheet tells where a column was pasted out of step (`timings`). misplaced.csv keeps what
that was in DeepBench's workbooks, since results hold no rows; scripts/make_misplaced_table.py
writes it.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.publication import Key, Publication

TABLE = Path(__file__).with_name("misplaced.csv")

COLUMNS = ("workbook", "sheet", "cell", "benchmark", "problem", "precision")


def of(workbooks: Iterable[str]) -> set[Key]:
    """Return what some workbooks, by their names, give beside other rows than their own."""
    return {key for name in workbooks for key in _by_workbook().get(name, ())}


def refuse_others(publications: Iterable[Publication]) -> None:
    """Raise DeepbenchError for times out of step that the table does not list: a workbook that
    is not published yet can be mended."""
    for one in publications:
        known = of([one.source])
        for key, place in one.out_of_step.items():
            if key not in known:
                raise DeepbenchError(
                    f"{one.source}: {place} and those below it stand beside other rows than their"
                    " own: as many times are in rows without sizes as kernels at the table's end"
                    " have none"
                )


@cache
def _by_workbook() -> Mapping[str, set[Key]]:
    found: dict[str, set[Key]] = defaultdict(set)
    with TABLE.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            params = repr(row["problem"]), repr(row["precision"])
            found[row["workbook"]].add((row["benchmark"], params))
    return found
