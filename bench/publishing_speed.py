#!/usr/bin/env python3
"""Compare the time of publishing with that of plain asv, for growing numbers of results.

    python bench/publishing_speed.py --copies 1 4 16

The results of the repository are copied under further machine names, in a scratch folder. Each
publishing runs in a process of its own: plain asv, only with the release table as repository; then
the whole of `asv publish` without the patches that only save time (DEEPBENCH_PLAIN_ASV=1); then
with them, first without a cache, and again with the cache after one more result file has been
added. Printed are wall-clock seconds and processor seconds of all processes; the latter hardly
depend on other load. Memory is the peak of the process plus the peak of the largest process that it
starts.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from deepbench_ops.asv_adapter.patch import PLAIN_VARIABLE

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
TOO_LONG = 1800

PLAIN, SLOW, WHOLE, AGAIN = "plain asv", "without speed-ups", "whole", "whole, one file later"
"""Ways of publishing."""

HEADERS = ("copies", "values", "way", "s", "CPU s", "CPU s / whole", "GiB")


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall clock and of processors, and the largest memory in bytes."""

    seconds: float
    processor_seconds: float
    memory: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument(
        "--leave-out", nargs="*", default=[], choices=[PLAIN, SLOW], help="ways that take long"
    )
    parser.add_argument("--publish", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        publish(options.publish[0], Path(options.publish[1]))
        return
    for copies in options.copies:
        with tempfile.TemporaryDirectory() as scratch:
            slow_ways = [way for way in (PLAIN, SLOW) if way not in options.leave_out]
            compare(Path(scratch), copies, slow_ways)


def compare(folder: Path, copies: int, slow_ways: list[str]) -> None:
    """Print a table of the costs of each way with `copies` copies of the results."""
    values = copy(folder / "results", copies)
    costs = {way: timed(way, folder) for way in slow_ways}
    shutil.rmtree(folder / ".asv", ignore_errors=True)
    costs[WHOLE] = timed(WHOLE, folder)
    add(folder / "results")
    costs[AGAIN] = timed(WHOLE, folder)
    whole = costs[WHOLE].processor_seconds
    rows = [
        (
            copies,
            values,
            way,
            f"{cost.seconds:.1f}",
            f"{cost.processor_seconds:.1f}",
            f"{cost.processor_seconds / whole:.2f}",
            f"{cost.memory / 2**30:.2f}",
        )
        for way, cost in costs.items()
    ]
    print(tabulate(rows, HEADERS, disable_numparse=True))
    size = sum(path.stat().st_size for path in (folder / "html").rglob("*") if path.is_file())
    print(f"html: {size / 2**20:.0f} MiB\n", flush=True)


def copy(target: Path, copies: int) -> int:
    """Write `copies` copies of the results, and return how many values they contain."""
    target.mkdir()
    shutil.copyfile(RESULTS / "benchmarks.json", target / "benchmarks.json")
    values = 0
    for source in filter(Path.is_dir, RESULTS.iterdir()):
        for number in range(copies):
            name = source.name if not number else f"{source.name}-{number}"
            shutil.copytree(source, target / name)
            for path in (target / name).glob("*.json"):
                stored = json.loads(path.read_text("utf-8"))
                if path.name == "machine.json":
                    stored["machine"] = name
                else:
                    stored["params"]["machine"] = name
                    values += counted(stored)
                path.write_text(json.dumps(stored), "utf-8")
    return values


def add(results: Path) -> None:
    """Add a result file: a machine's largest result, 1 % slower."""
    machine = max(results.iterdir(), key=lambda path: len(list(path.glob("*"))))
    largest = max(machine.glob("*-py3-*.json"), key=lambda path: path.stat().st_size)
    stored = json.loads(largest.read_text("utf-8"))
    times = [stored["result_columns"].index(name) for name in TIMES]
    for entry in stored["results"].values():
        if isinstance(entry, list):
            for place in (place for place in times if place < len(entry)):
                entry[place] = slower(entry[place])
    stored["env_name"] += "-again"
    largest.with_name(f"{largest.stem}-again.json").write_text(json.dumps(stored), "utf-8")


TIMES = ("result", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75", "samples")
"""Columns of a result that contain seconds."""


def slower(value: object) -> object:
    """Return seconds, in lists of any depth, increased by 1 %; missing values stay missing."""
    if isinstance(value, list):
        return [slower(each) for each in value]
    return value * 1.01 if isinstance(value, float) else value


def counted(stored: dict) -> int:
    """Return how many values a result file contains."""
    found = stored["results"].values()
    results = (entry[0] if isinstance(entry, list) else entry for entry in found)
    return sum(value is not None and value == value for each in results for value in each or ())


def timed(way: str, folder: Path) -> Cost:
    """Return the cost of one publishing."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--publish", way, str(folder)],
        cwd=ROOT,
        env=os.environ | {PLAIN_VARIABLE: "1" if way == SLOW else "0"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=TOO_LONG,
        check=True,
    )
    processor_seconds, memory = done.stdout.splitlines()[-1].split()
    return Cost(time.perf_counter() - started, float(processor_seconds), int(memory))


def publish(way: str, folder: Path) -> None:
    """Publish with the settings of asv.conf.json, but from and to `folder`.

    Prints processor seconds and bytes of memory taken.
    """
    from asv.commands.publish import Publish
    from asv.config import Config

    from deepbench_ops.asv_adapter.release_repository import ReleaseRepo

    if way != PLAIN:
        from deepbench_ops.asv_adapter import plugin

        plugin.install()
    conf = Config.load(str(ROOT / "asv.conf.json"))
    own = folder / "releases.csv"
    conf.repo = str(own if own.exists() else ROOT / "deepbench_ops" / "releases" / "releases.csv")
    conf.results_dir = str(folder / "results")
    conf.html_dir = str(folder / "html")
    conf.env_dir = str(folder / ".asv" / "env")
    conf.branches = ReleaseRepo(conf.repo, "").measured_branches()
    if way == PLAIN:  # also published figures, which the plugin would add
        conf.branches = [*conf.branches, "published"]
    Publish.run(conf)
    used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        sum(each.ru_utime + each.ru_stime for each in used),
        sum(each.ru_maxrss for each in used) * 1024,
    )


if __name__ == "__main__":
    main()
