#!/usr/bin/env python3
"""Compare the processor seconds of each part of measuring a point, of several versions in turns.

    python bench/point_cost.py --family softmax --precision float32 CHECKOUT [CHECKOUT ...]

Each checkout is a folder with a version of this repository; "." is this one. A version has one
process that imports the framework, and a process forked from it for each point, twice one after the
other, as a run does. All versions measure the same point before the next one, so that they find
the same machine. Printed for each version are the seconds of all processors, and those on the wall
clock, for preparing, for measuring, for checking the output, and for the rest of a process: its
start and its end. asv's own work between the processes is not included. A version that stores
values of references has an empty folder for them at the start.

--table FILE writes the seconds of each point and version as CSV.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

PARTS = ("preparing", "measuring", "checking", "rest")
NAMES = ("family", "problem", "precision", "operation")
PROCESSES = 2
"""Processes that measure a point, one in each round."""


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        work()
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--framework", default="torch")
    parser.add_argument("--selection", default="modern")
    parser.add_argument("--family", action="append")
    parser.add_argument("--precision", action="append")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    asked = points(options.selection, options.family or [], options.precision or ["float32"])
    with tempfile.TemporaryDirectory() as folder:
        versions = [
            Version(path.resolve(), Path(folder, str(number)), options.framework)
            for number, path in enumerate(options.checkouts)
        ]
        rows = list(measured(versions, list(asked)))
        for version in versions:
            version.end()
    if options.table:
        write_table(options.table, rows)
    for version in versions:
        print(summary([row for row in rows if row["version"] == str(version.checkout)]))


def points(selection: str, families: Sequence[str], precisions: Sequence[str]) -> Iterator[Any]:
    """Yield (family, problem, precision, operation) of all points in one process each."""
    from deepbench_ops.problems.problem_lists import TYPES
    from deepbench_ops.problems.selections import operations, select

    for _, problem, _ in select(selection):
        if TYPES[problem.family].ranks or (families and problem.family not in families):
            continue
        for precision in precisions:
            if precision in problem.precisions:
                for operation in operations(problem, fused=True):
                    if operation != "first_call":
                        yield problem.family, problem.id, precision, operation


class Version:
    """A process with one version of the code, that forks a process for each point."""

    def __init__(self, checkout: Path, folder: Path, framework: str) -> None:
        self.checkout = checkout
        folders = {name: str(folder / name) for name in ("answers", "references", "spool")}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": str(checkout),
                "DEEPBENCH_FRAMEWORK": framework,
                "DEEPBENCH_ANSWERS": folders["answers"],
                "DEEPBENCH_REFERENCES": folders["references"],
                "DEEPBENCH_SPOOL": folders["spool"],
            },
        )

    def measure(self, point: Sequence[str]) -> dict[str, Any]:
        """Return the seconds of a point's parts, in one new process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(point), file=self._process.stdin, flush=True)
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measured(versions: Sequence[Version], asked: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each point, version and process; versions take turns in being the first."""
    for turn in range(PROCESSES):
        for number, point in enumerate(asked):
            first = (number + turn) % len(versions)
            for version in (*versions[first:], *versions[:first]):
                found = version.measure(point)
                names = dict(zip(NAMES, point, strict=True))
                yield {"version": str(version.checkout), "turn": turn, **names, **found}
            print(f"{turn * len(asked) + number + 1} of {PROCESSES * len(asked)}", file=sys.stderr)


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the rows as CSV."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as stream:
        table = csv.DictWriter(stream, names, restval="")
        table.writeheader()
        table.writerows(rows)


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Return the lines about one version."""
    lines = [f"{rows[0]['version']}: {sum('error' not in row for row in rows)} measured processes"]
    for kind in ("processor", "wall"):
        seconds = [sum(row.get(f"{kind} {part}", 0.0) for row in rows) for part in PARTS]
        shown = ", ".join(f"{part} {each:.1f}" for part, each in zip(PARTS, seconds, strict=True))
        lines.append(f"  {kind} seconds {sum(seconds):.1f}: {shown}")
    skipped = [row for row in rows if "error" in row]
    spent = sum(row.get("processor rest", 0.0) for row in skipped)
    lines.append(f"  {len(skipped)} skipped processes, {spent:.1f} of the processor seconds")
    return "\n".join(lines)


def work() -> None:
    """Measure each point that is asked for in a forked process, until standard input ends."""
    from deepbench_ops.measure import kernel_measurement

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    kernel_measurement.preload()
    for line in sys.stdin:
        started = time.monotonic()
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "w") as stream:
                json.dump(of_point(*json.loads(line)), stream)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as stream:
            found = json.load(stream)
        used = os.wait4(child, 0)[2]
        for kind, total in (
            ("processor", used.ru_utime + used.ru_stime),
            ("wall", time.monotonic() - started),
        ):
            found[f"{kind} rest"] = total - sum(found.get(f"{kind} {part}", 0.0) for part in PARTS)
        print(json.dumps(found), file=answers, flush=True)


def of_point(family: str, problem: str, precision: str, operation: str) -> dict[str, Any]:
    """Prepare, measure and check a kernel; return the seconds of the parts, or the error."""
    from deepbench_ops.backends import output_check
    from deepbench_ops.errors import DeepbenchError, Unsupported
    from deepbench_ops.measure import kernel_measurement

    readings = [(time.process_time(), time.monotonic())]
    plain = output_check.verify_output

    def verify(*args: Any, **options: Any) -> Any:
        readings.append((time.process_time(), time.monotonic()))
        try:
            return plain(*args, **options)
        finally:
            readings.append((time.process_time(), time.monotonic()))

    output_check.verify_output = verify
    try:
        prepared = kernel_measurement.prepare(family, problem, precision, operation)
        readings.append((time.process_time(), time.monotonic()))
        kernel_measurement.timed(prepared, f"{family}.kernel_{operation}", [problem, precision])
    except (DeepbenchError, Unsupported) as wrong:
        return {"error": str(wrong)}
    found = {}
    for part, (before, after) in zip(PARTS[:3], pairwise(readings), strict=True):
        found[f"processor {part}"] = after[0] - before[0]
        found[f"wall {part}"] = after[1] - before[1]
    return found


if __name__ == "__main__":
    main()
