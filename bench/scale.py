#!/usr/bin/env python3
"""Seconds and memory of each stage from import to pages, on generated histories.

    python bench/scale.py --points 100000 1000000 --folder /tmp/scale
    python bench/scale.py --points 100000 1000000 --folder /tmp/scale --reading

Ten machines have a time of each kernel with each of 200 releases (`generated_site.py`), cut to
100,000, 1 million or 10 million points. Each stage is a process of its own: packing and importing
submissions, `deepbench store build`, a query, verdicts over all machines, publishing by asv with
our pages, opening the pages (where chromium is there), and plain asv's publishing. Memory is the
peak of the largest process of a stage. Limits of time end a stage. With --reading it is the
commands that read points instead, each without the store and with it.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from generated_site import FRAMEWORKS, ROOT, write
from publishing_speed import PLAIN, WHOLE
from tabulate import tabulate

MACHINES, RELEASES = 10, 200
NEWEST = f"{FRAMEWORKS[0]}-1.{(RELEASES - 1) // len(FRAMEWORKS)}.0"
STAGES = "submit", "import", "store build", "query", "verdict", "publish", "pages", "plain asv"
HEADERS = ("points", "stage", "s", "CPU s", "GiB", "status")
READING = (
    ("verdict", "--all-machines", "--format", "json"),
    ("verdict", "--machine", "machine-00", "--format", "json"),
    (
        "frameworks",
        "--machine",
        "machine-00",
        "--selection",
        "modern-full",
        "--family",
        "attention",
    ),
    ("compare", "machine-00@numpy", "machine-01@numpy"),
    ("fastest", "--selection", "modern-full", "--family", "attention"),
    ("export", "--machine", "machine-00", "--format", "csv"),
    ("export", "--machine", "machine-00", "--format", "csv", "--release", NEWEST),
    ("unsteady", NEWEST, "--machine", "machine-00"),
    ("overhead", "--machine", "machine-00"),
    ("table", "mindspore", "--machine", "machine-00"),
)
"""Commands that read points; those on whole models have no answer in 100,000 points."""
QUESTION = "SELECT machine, count(*), avg(seconds) FROM times GROUP BY machine"
READING_HEADERS = ("points", "command", "read from", "s", "CPU s", "GiB", "status")
MEASURED = "--measured"
"""First argument of the process that runs a command and prints its cost."""


def main() -> None:
    if sys.argv[1:2] == [MEASURED]:
        print_cost(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, nargs="+", default=[100_000])
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--reading", action="store_true", help="commands, not stages")
    parser.add_argument("--without-samples", action="store_true", help="times without samples")
    parser.add_argument("--folder", type=Path, required=True, help="where to write, kept")
    parser.add_argument("--limit", type=float, default=600.0, help="most seconds of a stage")
    options = parser.parse_args()
    for points in options.points:
        folder = options.folder / str(points)
        if not (folder / "asv.conf.json").exists():
            if folder.exists():
                parser.error(f"{folder} was not written to its end: remove it")
            kernels = points // (MACHINES * RELEASES)
            write(folder, MACHINES, RELEASES, (), kernels, not options.without_samples)
            (folder / "asv.conf.json").write_text(json.dumps(CONFIGURATION), "utf-8")
        if options.reading:
            print_reading(folder, points, options.limit)
            continue
        rows = []
        for stage in options.stages:
            cost = timed(stage, folder, options.limit)
            rows.append((f"{points:,}", stage, *cost))
            print(rows[-1], flush=True)
        print(tabulate(rows, HEADERS, disable_numparse=True), flush=True)


CONFIGURATION = {
    "version": 1,
    "project": "generated",
    "dvcs": "releases",
    "repo": "releases.csv",
    "plugins": [".deepbench_ops.asv_adapter.plugin"],
    "env_dir": ".asv/env",
    "results_dir": "results",
    "html_dir": "html",
}


def print_reading(folder: Path, points: int, limit: float) -> None:
    """Run each reading command without the store, then with it; print their costs as a table."""
    deepbench, rows = [sys.executable, "-m", "deepbench_ops.cli"], []
    store, aside = folder / "store", folder / "store-aside"
    cost_of(folder, [[*deepbench, "store", "build"]], limit)
    for read_from in ("results", "store"):
        if read_from == "results":
            store.rename(aside)
        for command in READING:
            cost = cost_of(folder, [[*deepbench, *command]], limit)
            rows.append((f"{points:,}", " ".join(command), read_from, *cost))
            print(rows[-1], flush=True)
        if read_from == "results":
            aside.rename(store)
    print(tabulate(sorted(rows), READING_HEADERS, disable_numparse=True), flush=True)


def timed(stage: str, folder: Path, limit: float) -> tuple[str, ...]:
    """Run a stage; return its cost as `cost_of` does."""
    before_stage(stage, folder)
    return cost_of(folder, commands(stage, folder), limit)


def cost_of(folder: Path, lines: Sequence[Sequence[str]], limit: float) -> tuple[str, ...]:
    """Run command lines in a folder, each for so many seconds at most; return seconds, processor
    seconds, GiB and exit status as texts."""
    spent, processor_seconds, memory, status = 0.0, 0.0, 0, 0
    for command in lines:
        started = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, __file__, MEASURED, *command],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                said, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return f"over {limit:.0f}", "", "", "stopped"
        spent += time.perf_counter() - started
        if not said:
            return f"{spent:.1f}", "", "", "killed"
        used, largest, code = said.splitlines()[-1].split()
        processor_seconds, memory = processor_seconds + float(used), max(memory, int(largest))
        status = max(status, int(code))
    return f"{spent:.1f}", f"{processor_seconds:.1f}", f"{memory / 2**30:.2f}", str(status)


def before_stage(stage: str, folder: Path) -> None:
    """Remove the output of an earlier run of the stage."""
    left = {
        "import": ["imported"],
        "store build": ["store"],
        "publish": ["html", ".asv"],
        "plain asv": ["html"],
    }
    for name in left.get(stage, ()):
        shutil.rmtree(folder / name, ignore_errors=True)


def commands(stage: str, folder: Path) -> list[list[str]]:
    """Return the command lines of a stage."""
    deepbench = [sys.executable, "-m", "deepbench_ops.cli"]
    publishing = [sys.executable, str(ROOT / "bench" / "publishing_speed.py"), "--publish"]
    machines = sorted(path.parent.name for path in folder.glob("results/*/machine.json"))
    if stage == "submit":
        return [[*deepbench, "submit", f"{name}.json", "--machine", name] for name in machines]
    if stage == "import":
        copy_project(folder)
        sent = [str(path) for name in machines for path in sorted(folder.glob(f"{name}*.json"))]
        return [[*deepbench, "import", *sent, "--results", str(folder / "imported" / "results")]]
    if stage == "store build":
        return [[*deepbench, "store", "build"]]
    if stage == "query":
        return [[*deepbench, "query", QUESTION]]
    if stage == "verdict":
        return [[*deepbench, "verdict", "--all-machines", "--format", "json"]]
    if stage == "publish":
        return [[*publishing, WHOLE, str(folder)]]
    if stage == "pages":
        return [[sys.executable, str(ROOT / "scripts" / "page_costs.py"), str(folder / "html")]]
    return [[*publishing, PLAIN, str(folder)]]


def copy_project(folder: Path) -> None:
    """Make an empty project with the same release table, to import into."""
    target = folder / "imported"
    target.mkdir()
    for name in ("asv.conf.json", "releases.csv"):
        shutil.copyfile(folder / name, target / name)


def print_cost(command: Sequence[str]) -> None:
    """Run a command; print its processor seconds, bytes of memory and exit status.

    Only the table of the pages' costs is printed as well, with the errors.
    """
    said = sys.stderr if any("page_costs" in each for each in command) else subprocess.DEVNULL
    done = subprocess.run(command, stdout=said, env=os.environ | {"PYTHONPATH": str(ROOT)})
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as shells have it
    print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, status)


if __name__ == "__main__":
    main()
