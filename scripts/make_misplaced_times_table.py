"""Make the table of published times that are printed in the wrong row.

    python scripts/make_misplaced_times_table.py WORKBOOK.xlsx ...

Given all of DeepBench's workbooks it writes published_times_in_wrong_rows.csv in
deepbench_ops/analysis.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from deepbench_ops.analysis.published_times_in_wrong_rows import COLUMNS, TABLE
from deepbench_ops.exchange.workbooks import workbook_values
from deepbench_ops.storage import atomic_write
from deepbench_ops.storage.csv_text import csv_text
from deepbench_ops.storage.result_key import unquoted


def rows(publications: Iterable[workbook_values.Publication]) -> list[tuple[str, ...]]:
    """Return the table's rows, in the order of the sheets."""
    return [
        (one.source, place.sheet, str(place).rpartition(" ")[2], name, problem, precision)
        for one in publications
        for (name, params), place in one.out_of_step.items()
        for problem, precision in [unquoted(name, params)[1]]
    ]


def main() -> None:
    """Write the table of the workbooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workbooks", nargs="+", type=Path)
    paths = sorted(parser.parse_args().workbooks)
    found = rows(one for path in paths for one in workbook_values.read(path))
    atomic_write.write_text(TABLE, csv_text([COLUMNS, *found]))


if __name__ == "__main__":
    main()
