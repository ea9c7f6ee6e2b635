"""Measure the time to import all of DeepBench's workbooks into an empty folder, and again.

Usage: python bench/import_speed.py FOLDER_OF_WORKBOOKS
"""

import sys
import tempfile
import time
from pathlib import Path

from deepbench_ops.exchange.published import published_result_filing
from deepbench_ops.exchange.workbooks import workbook_values


def seconds(paths: list[Path], results: Path) -> float:
    """Import the workbooks; return the seconds that it takes."""
    started = time.perf_counter()
    published_result_filing.file(
        results, [one for path in paths for one in workbook_values.read(path)], list_days=len
    )
    return time.perf_counter() - started


def main() -> None:
    paths = [p for p in sorted(Path(sys.argv[1]).glob("*.xlsx")) if "__kernel_list__" not in p.name]
    with tempfile.TemporaryDirectory() as folder:
        for what in ("first", "again"):
            print(f"{what}: {len(paths)} workbooks in {seconds(paths, Path(folder)):.1f} s")


if __name__ == "__main__":
    main()
