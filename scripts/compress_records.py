"""Compress raw records of measurements that were written uncompressed.

    python scripts/compress_records.py [--results results] [MACHINE...]

Without MACHINE, records of all machines are compressed. The text of a file stays the same to the
byte: it is compared before the uncompressed file is removed. An interrupted run can be continued by
starting it again.
"""

import argparse
import sys
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import locks, measurement_files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("machines", metavar="MACHINE", nargs="*")
    parser.add_argument("--results", type=Path, default=Path("results"))
    asked = parser.parse_args()
    folders = [asked.results / name for name in asked.machines]
    for folder in folders:
        if not folder.is_dir():
            parser.error(f"{folder}: no such folder")
    faults, before, after, count = 0, 0, 0, 0
    with locks.results(asked.results, doing="compressing records"):
        for folder in folders or sorted(path for path in asked.results.iterdir() if path.is_dir()):
            for path in sorted(folder.glob(f"*{measurement_files.PLAIN}")):
                size = path.stat().st_size
                try:
                    packed = measurement_files.compress(path)
                except DeepbenchError as wrong:
                    print(wrong, file=sys.stderr)
                    faults += 1
                    continue
                before, after, count = before + size, after + packed.stat().st_size, count + 1
    print(f"{count} files: {before / 1e6:.1f} MB became {after / 1e6:.1f} MB")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
