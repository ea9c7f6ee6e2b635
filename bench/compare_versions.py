#!/usr/bin/env python3
"""Compare the costs of two versions of this project: `make dashboard`, a point, publishing, tests.

    python bench/compare_versions.py 004c5ef HEAD --folder /tmp/versions

Each version is cloned into a scratch folder, with an environment, a home folder and a machine entry
of its own. `make dashboard` runs once in each, from nothing. Then the versions take turns, in an
order that is reversed from round to round: each measures one list of points again (the headline
products in float32 on one release of numpy), and publishes the same results, those of the first
version, without a cache and again with it. With --tests each runs `make test` at the end.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tabulate import tabulate

ROOT = Path(__file__).resolve().parent.parent
RELEASE = "numpy-2.3.5"
HEADLINE = [".venv/bin/deepbench", "select", "headline", "--family", "gemm"]
PUBLISH = [".venv/bin/asv", "publish"]


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall clock and seconds of processors of a command, and its output."""

    seconds: float
    processor_seconds: float
    output: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("versions", nargs=2, metavar="REVISION", help="the older one first")
    parser.add_argument("--folder", type=Path, required=True, help="scratch folder, created")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each version [3]")
    parser.add_argument("--tests", action="store_true", help="run `make test` of both at the end")
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    clones = [
        clone(revision, options.folder / name)
        for revision, name in zip(options.versions, ("before", "after"), strict=True)
    ]
    costs: dict[str, list[list[Cost]]] = {}

    def take(step: str, place: int, command: list[str]) -> None:
        """Run a step of a version, and print and keep its cost."""
        cost = timed(command, clones[place], step)
        print(f"{step}, {clones[place].name}: {cost.seconds:.1f} s", flush=True)
        costs.setdefault(step, [[], []])[place].append(cost)

    for place in (0, 1):
        take("make dashboard", place, ["make", "dashboard"])
    published = options.folder / "published"
    shutil.copytree(clones[0] / "results", published)
    for turn in range(options.rounds):
        for place in (0, 1) if turn % 2 else (1, 0):
            take("points measured again", place, measuring(clones[place]))
    for place in (0, 1):
        replace_results(clones[place], published)
    for turn in range(options.rounds):
        for place in (0, 1) if turn % 2 else (1, 0):
            remove_caches(clones[place])
            take("asv publish, no cache", place, PUBLISH)
            take("asv publish, cache", place, PUBLISH)
    for place in (0, 1) if options.tests else ():
        take("make test", place, ["make", "test"])
    print(table(costs))
    for place, found in enumerate(costs.get("make test", [])):
        print(f"{clones[place].name}: {found[0].output.strip().splitlines()[-1]}")


def clone(revision: str, folder: Path) -> Path:
    """Return a folder with a clone of this project at a revision, and a home folder in it."""
    commit = subprocess.check_output(["git", "rev-parse", revision], cwd=ROOT, text=True).strip()
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    subprocess.run(["git", "checkout", "--quiet", "-B", "main", commit], cwd=folder, check=True)
    (folder / ".home").mkdir()
    return folder


def measuring(folder: Path) -> list[str]:
    """Return the command of a version that measures the headline products on one release."""
    select = [*HEADLINE, "--precision", "float32"]
    points = subprocess.check_output(select, cwd=folder, text=True).strip()
    return [".venv/bin/asv", "run", "--show-stderr", "--bench", points, RELEASE]


def timed(command: list[str], folder: Path, step: str) -> Cost:
    """Run a command of a version in its folder.

    Raises:
        SystemExit: It failed; its last lines are printed.
    """
    surroundings = {**os.environ, "HOME": str(folder / ".home"), "COLUMNS": "100"}
    # Without it each process would compile all modules, which no user's processes do.
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env=surroundings,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (folder / f"{re.sub('[^a-z]+', '-', step)}.log").write_text(done.stdout, "utf-8")
    if done.returncode and step != "make test":
        last = "\n".join(done.stdout.splitlines()[-20:])
        sys.exit(f"{folder.name}: {' '.join(command)} ended with status {done.returncode}\n{last}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds, used, done.stdout)


def replace_results(folder: Path, published: Path) -> None:
    """Replace the results of a version by a copy of `published`."""
    shutil.rmtree(folder / "results")
    shutil.copytree(published, folder / "results")


def remove_caches(folder: Path) -> None:
    """Remove the pages of a version and all that it has stored but its environments."""
    shutil.rmtree(folder / "html", ignore_errors=True)
    for path in (folder / ".asv").iterdir():
        if path.name != "env":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def table(costs: dict[str, list[list[Cost]]]) -> str:
    """Return a table of the median costs of each step, before and after."""
    rows = []
    for step, (before, after) in costs.items():
        old, new = (median(cost.seconds for cost in each) for each in (before, after))
        used = [median(cost.processor_seconds for cost in each) for each in (before, after)]
        rows.append((step, len(after), *_columns(old, new), *_columns(*used)))
    sides = ("before, s", "after, s", "ratio")
    headers = ("step", "times", *sides, *(f"CPU {side}" for side in sides))
    return tabulate(rows, headers, disable_numparse=True)


def _columns(before: float, after: float) -> tuple[str, str, str]:
    """Return two numbers of seconds, and how many times the second is the first."""
    return f"{before:.1f}", f"{after:.1f}", f"{after / before:.2f}"


if __name__ == "__main__":
    main()
