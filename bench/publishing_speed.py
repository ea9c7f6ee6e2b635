#!/usr/bin/env python3
"""Seconds of publishing, next to plain asv on the same results, and how they grow with the results.

    python bench/publishing_speed.py --copies 1 4 16

The results of the repository are copied under further machine names, in a scratch folder. Each
publishing is a process of its own: plain asv with nothing but the release table as repository;
then the whole of `asv publish` without the patches that only save time (DEEPBENCH_PLAIN_ASV=1);
then with them: first with nothing remembered, and again after one more result file has come, with
what the first has left. Seconds are of the wall clock, memory the largest of
the process and of the largest it starts, added up.
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
from pathlib import Path

from tabulate import tabulate

from deepbench_ops.asv_adapter.patch import PLAIN_VARIABLE

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
TOO_LONG = 1800

PLAIN, SLOW, WHOLE = "plain asv", "without speed-ups", "whole"
"""Ways of publishing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--without-plain", action="store_true", help="leave plain asv out")
    parser.add_argument("--publish", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        publish(options.publish[0], Path(options.publish[1]))
        return
    rows = []
    for copies in options.copies:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            points = copy(folder / "results", copies)
            plain = None if options.without_plain else timed(PLAIN, folder)
            slow = timed(SLOW, folder)
            shutil.rmtree(folder / ".asv", ignore_errors=True)
            first = timed(WHOLE, folder)
            add(folder / "results")
            again = timed(WHOLE, folder)
            size = sum(p.stat().st_size for p in (folder / "html").rglob("*") if p.is_file())
            rows.append(
                [copies, points]
                + ([f"{plain[0]:.1f}", f"{plain[1] / 2**30:.2f}"] if plain else ["", ""])
                + [
                    f"{slow[0]:.1f}",
                    f"{first[0]:.1f}",
                    f"{again[0]:.1f}",
                    f"{first[1] / 2**30:.2f}",
                ]
                + (
                    [f"{plain[0] / first[0]:.1f}", f"{plain[0] / again[0]:.1f}"]
                    if plain
                    else ["", ""]
                )
                + [f"{size / 2**20:.0f}"]
            )
            print(tabulate(rows, HEADERS), flush=True)


HEADERS = (
    "copies",
    "values",
    "plain s",
    "GiB",
    "without speed-ups s",
    "first s",
    "file later s",
    "GiB",
    "plain / first",
    "plain / later",
    "MiB of html",
)


def copy(target: Path, copies: int) -> int:
    """Write the results so many times over, and return how many values they hold."""
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
    """Let a machine's largest result be measured once more, 1 % slower: one more result file."""
    machine = max(results.iterdir(), key=lambda path: len(list(path.glob("*"))))
    largest = max(machine.glob("*-py3-*.json"), key=lambda path: path.stat().st_size)
    stored = json.loads(largest.read_text("utf-8"))
    for entry in stored["results"].values():
        if isinstance(entry, list) and entry[0]:
            entry[0] = [value and value * 1.01 for value in entry[0]]
    stored["env_name"] += "-again"
    name = largest.name.replace("-py3-", "-py3-again-")
    largest.with_name(name).write_text(json.dumps(stored), "utf-8")


def counted(stored: dict) -> int:
    """How many values a result file holds."""
    found = stored["results"].values()
    results = (entry[0] if isinstance(entry, list) else entry for entry in found)
    return sum(value is not None and value == value for each in results for value in each or ())


def timed(way: str, folder: Path) -> tuple[float, int]:
    """Return the seconds and the largest memory in bytes of one publishing."""
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
    return time.perf_counter() - started, int(done.stdout.splitlines()[-1])


def publish(way: str, folder: Path) -> None:
    """Publish as asv.conf.json asks for, but from and to `folder`; print the memory taken."""
    from asv.commands.publish import Publish
    from asv.config import Config

    from deepbench_ops.asv_adapter.repo import ReleaseRepo

    if way != PLAIN:
        from deepbench_ops.asv_adapter import plugin

        plugin.install()
    conf = Config.load(str(ROOT / "asv.conf.json"))
    conf.repo = str(ROOT / "deepbench_ops" / "releases" / "releases.csv")
    conf.results_dir = str(folder / "results")
    conf.html_dir = str(folder / "html")
    conf.env_dir = str(folder / ".asv" / "env")
    conf.branches = ReleaseRepo(conf.repo, "").measured_branches()
    if way == PLAIN:  # published figures, too, which the plugin would add
        conf.branches = [*conf.branches, "published"]
    Publish.run(conf)
    processes = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    print(sum(resource.getrusage(each).ru_maxrss for each in processes) * 1024)


if __name__ == "__main__":
    main()
