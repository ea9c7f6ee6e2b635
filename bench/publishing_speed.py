#!/usr/bin/env python3
"""Compare the time of publishing with that of plain asv, for growing numbers of results.

    python bench/publishing_speed.py --copies 1 4 16
    python bench/publishing_speed.py --copies 1 --rounds 3 --store

The results of the repository are copied under further machine names, in a scratch folder. Each
publishing runs in a process of its own: plain asv, only with the release table as repository;
asv's pages alone with all patches; then the whole of `asv publish` without the patches that only
save time (DEEPBENCH_PLAIN_ASV=1); then with them, first without a cache, and again with the cache
after one more result file has been added. Printed are wall-clock seconds and processor seconds of
all processes; the latter hardly depend on other load. Memory is the peak of the process plus the
peak of the largest process that it starts.

--store writes the medians of one copy to publishing_times.txt in deepbench_ops/asv_adapter and to
docs/explanation/publishing.md, unless the machine has other work.
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
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

from tabulate import tabulate

from deepbench_ops.asv_adapter.patch_installation import PLAIN_VARIABLE
from deepbench_ops.machine import machine_facts

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
TOO_LONG = 1800

STORED = ROOT / "deepbench_ops" / "asv_adapter" / "publishing_times.txt"
LARGEST_LOAD = 0.5
"""Mean number of running processes in the last minute from which on times are not stored."""

PLAIN, ASV, SLOW = "plain asv", "only asv's pages", "without speed-ups"
WHOLE, AGAIN = "all pages", "all pages, one file later"
"""Ways of publishing."""

HEADERS = ("values", "way", "s", "CPU s", "s / all pages", "GiB")


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall clock and of processors, and the largest memory in bytes."""

    seconds: float
    processor_seconds: float
    memory: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=1, help="times that all is measured [1]")
    parser.add_argument("--store", action="store_true", help="store the medians of one copy")
    parser.add_argument(
        "--leave-out", nargs="*", default=[], choices=[PLAIN, ASV, SLOW], help="ways to leave out"
    )
    parser.add_argument("--publish", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        publish(options.publish[0], Path(options.publish[1]))
        return
    if options.store and 1 not in options.copies:
        parser.error("--store stores the times of one copy: add --copies 1")
    load = os.getloadavg()[0]
    if options.store and load > LARGEST_LOAD:
        parser.error(f"--store: the machine has a load of {load:.1f}; wait for {LARGEST_LOAD}")
    ways = [way for way in (PLAIN, ASV, SLOW) if way not in options.leave_out]
    for copies in options.copies:
        rounds = [measured(copies, ways) for _ in range(options.rounds)]
        text = table(rounds)
        print(text, flush=True)
        if options.store and copies == 1:
            store(text, options.rounds)


Measured = tuple[int, dict[str, "Cost"]]
"""The number of values, and the cost of each way."""


def measured(copies: int, ways: Sequence[str]) -> Measured:
    """Return the costs of these ways and of all pages with `copies` copies of the results."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        values = copy(folder / "results", copies)
        costs = {way: timed(way, folder) for way in ways}
        shutil.rmtree(folder / ".asv", ignore_errors=True)
        costs[WHOLE] = timed(WHOLE, folder)
        add(folder / "results")
        costs[AGAIN] = timed(WHOLE, folder)
        html = filter(Path.is_file, (folder / "html").rglob("*"))
        print(f"html: {sum(path.stat().st_size for path in html) / 2**20:.0f} MiB", flush=True)
    return values, costs


def table(rounds: Sequence[Measured]) -> str:
    """Return the median cost of each way, as a table."""
    values, first = rounds[0]

    def middle(way: str, figure: str) -> float:
        return median(getattr(costs[way], figure) for _, costs in rounds)

    whole = middle(WHOLE, "seconds")
    rows = [
        (
            f"{values:,}",
            way,
            f"{middle(way, 'seconds'):.1f}",
            f"{middle(way, 'processor_seconds'):.1f}",
            f"{middle(way, 'seconds') / whole:.2f}",
            f"{middle(way, 'memory') / 2**30:.2f}",
        )
        for way in first
    ]
    return f"{tabulate(rows, HEADERS, disable_numparse=True)}\n"


def store(text: str, rounds: int) -> None:
    """Store a table of one copy with its machine and day, and copy it into the docs."""
    where = f"{os.cpu_count()} cores of {machine_facts.processor_name()}"
    remark = f"{SLOW}: {PLAIN_VARIABLE}=1; medians of {rounds} rounds, {date.today()}, {where}\n"
    STORED.write_text(text + remark, "utf-8")
    subprocess.run([sys.executable, ROOT / "scripts" / "copy_code_into_docs.py"], check=True)


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
    from deepbench_ops.asv_adapter import asv_api
    from deepbench_ops.asv_adapter.release_repository import ReleaseRepo

    if way != PLAIN:
        from deepbench_ops.asv_adapter import plugin

        plugin.install()
    if way == ASV:
        from deepbench_ops.asv_adapter.publishing import publish_command

        publish_command.use(lambda *_: NoPages())
    conf = asv_api.configuration_file(ROOT / "asv.conf.json")
    own = folder / "releases.csv"
    conf.repo = str(own if own.exists() else ROOT / "deepbench_ops" / "releases" / "releases.csv")
    conf.results_dir = str(folder / "results")
    conf.html_dir = str(folder / "html")
    conf.env_dir = str(folder / ".asv" / "env")
    conf.branches = ReleaseRepo(conf.repo, "").measured_branches()
    if way in (PLAIN, ASV) and not own.exists():  # also published figures, which our pages add
        conf.branches = [*conf.branches, "published"]
    asv_api.publish(conf)
    used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        sum(each.ru_utime + each.ru_stime for each in used),
        sum(each.ru_maxrss for each in used) * 1024,
    )


class NoPages:
    """No pages of this project (see `publish_command.OwnPages`)."""

    def wrong_times(self, machine: Path) -> dict[str, set]:
        return {}

    def being_made(self) -> AbstractContextManager[None]:
        return nullcontext()

    def complete(self, *_: object) -> Sequence[str]:
        return ()

    def finish(self) -> Sequence[str]:
        return ()


if __name__ == "__main__":
    main()
