"""Count the rounds that `deepbench history` loses or counts twice when it is ended at any moment.

A history of three releases, two kernels and three rounds files its results after every kernel. Its
workers report known times (`tests/support/known_workers.py`), in as few sweeps as there may be. It
kills itself before its n-th operation on files (`kill_at_file_operation.py`), or gets SIGKILL,
SIGTERM or Ctrl-C after a random time. Then the same command runs to its end. Counted are:

- lost: a round that was measured before the last one began, and is neither in the results nor in
  the journal afterwards; such a round that is not in the results in the end; a result that had a
  value and has none;
- counted twice: rounds that are in the results more than once, and more samples in a result than
  its rounds have;
- processes left: processes of the ended run that exist 10 seconds later;
- files left: journals and unfinished files when the second run has ended;
- endings: tracebacks, and a Ctrl-C after which there is not one line with status 130.

    python bench/killed_histories.py [--share 1.0] [--moments 100] [--at-once 1] [--only Ctrl-C]

The exit status is 1 if any of these counts is not 0.
"""

import argparse
import math
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import known_workers
import processes
from history_project import PROBLEMS, ROUNDS, HistoryProject

Try = tuple[int, str, float]
"""The operation before which a run ends (0: none), or the signal and the seconds until it."""

SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}


def tried(project: HistoryProject, stop: int, name: str, seconds: float) -> Counter[str]:
    """End one run before an operation, or by a signal; let the same command finish, and count."""
    project.restore()
    found: Counter[str] = Counter(ended=1)
    with project.start(stop=stop) as process:
        if not stop:
            project.wait_until_begun(process)
            time.sleep(seconds)
            os.killpg(process.pid, SIGNALS[name])
        _, said = process.communicate()
    lines = said.splitlines()
    if name == "Ctrl-C" and process.returncode:  # it may have come to its end before
        one_line = lines[-1:] and lines[-1].startswith("deepbench: interrupted")
        found["endings"] += not (process.returncode == 130 and one_line)
    found["endings"] += "Traceback" in said
    found["processes left"] += not processes.eventually_gone(project.mark)
    for pid in processes.marked_pids(project.mark):
        os.kill(pid, signal.SIGKILL)
    measured, values = project.measured(), project.samples()
    kept = {*project.filed(), *project.journal()}
    found["lost"] += len({*measured[:-1]} - kept)
    project.run()
    filed, samples = project.filed(), project.samples()
    found["lost"] += len(kept - {*filed}) + len(values.keys() - samples.keys())
    found["lost"] += sum(times < ROUNDS for times in Counter(p for p, _ in filed).values())
    found["counted twice"] += len(filed) - len({*filed})
    rounds = Counter(problem for problem, _ in {*filed})
    found["counted twice"] += sum(count > rounds[key[-1]] for key, count in samples.items())
    found["measured before"] += len(measured)
    found["measured again"] += len(project.measured()) - len(PROBLEMS) * ROUNDS
    found["files left"] += len(project.left())
    if found["endings"]:
        print(f"\n{said}", file=sys.stderr)
    return found


def counted(
    projects: Sequence[HistoryProject], share: float, moments: int, seed: int, only: str = ""
) -> Iterator[tuple[object, ...]]:
    """Yield a row for kills before operations, and one for each signal at random moments.

    As many runs as there are projects take place at the same time.
    only: the one signal, at random moments, that is wanted; "" for all rows.
    """
    draw = random.Random(seed)
    started = time.monotonic()
    operations = projects[0].run()
    lasts = time.monotonic() - started
    places = range(1, len(operations) + 1)
    chosen = sorted(draw.sample(places, round(share * len(places))))
    number = math.ceil(share * moments / len(SIGNALS))
    rows = {
        f"SIGKILL before {len(chosen)} of {len(operations)} operations": [
            (stop, "SIGKILL", 0.0) for stop in chosen
        ]
    }
    for name in SIGNALS:
        times = [(0, name, draw.uniform(0, lasts)) for _ in range(number)]
        rows[f"{name} at {number} random moments"] = times
    if only:
        rows = {title: tries for title, tries in rows.items() if title.startswith(f"{only} at ")}
    for title, tries in rows.items():
        total: Counter[str] = Counter()
        for (stop, name, seconds), found, left in tried_at_once(projects, tries):
            total += found
            print(f"\r{title}: {total['ended']} of {len(tries)}", end="", file=sys.stderr)
            if any(found[column] for column in WRONG):
                where = operations[stop - 1] if stop else f"{name} after {seconds:.2f} s"
                print(f"ended at {stop} ({where}): {dict(found)} {left}", flush=True)
        yield title, *(total[column] for column in COLUMNS)


def tried_at_once(
    projects: Sequence[HistoryProject], tries: Sequence[Try]
) -> Iterator[tuple[Try, Counter[str], list[str]]]:
    """Yield the counts of each try, in their order, and the files that it left."""
    free: SimpleQueue[HistoryProject] = SimpleQueue()
    for project in projects:
        free.put(project)

    def one(asked: Try) -> tuple[Try, Counter[str], list[str]]:
        project = free.get()
        try:
            found = tried(project, *asked)
            return asked, found, [str(path.relative_to(project.root)) for path in project.left()]
        finally:
            free.put(project)

    with ThreadPoolExecutor(len(projects)) as pool:
        yield from pool.map(one, tries)


WRONG = ("lost", "counted twice", "processes left", "files left", "endings")
COLUMNS = ("ended", "measured before", *WRONG, "measured again")


def main() -> None:
    """Count, print the table, and exit with 1 if any count of WRONG is not 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument("--share", type=float, default=1.0, help="of all, drawn by the seed")
    parser.add_argument("--moments", type=int, default=100, help="random moments, at least")
    parser.add_argument("--at-once", type=int, default=1, help="runs at the same time")
    parser.add_argument("--only", choices=SIGNALS, help="only its row of random moments")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="histories-") as folder:
        variables = {known_workers.SECONDS_EACH: "0"}
        projects = []
        for number in range(given.at_once):
            root = Path(folder, f"{Path(folder).name}-{number}")
            root.mkdir()
            projects.append(HistoryProject(root, **variables))
        rows = list(counted(projects, given.share, given.moments, given.seed, given.only))
    print(tabulate(rows, ("ended by", *COLUMNS)))
    wrong = {name: sum(row[1 + COLUMNS.index(name)] for row in rows) for name in WRONG}
    counts = ", ".join(f"{count} {name}" for name, count in wrong.items())
    print(f"{sum(row[1] for row in rows)} ended early: {counts}")
    sys.exit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
