"""Count the points that `asv run` loses or counts twice when it is killed at any moment.

A small suite with two releases, three problems and two rounds runs in a folder of its own. Its
times scatter as little as those of steady points, so that they replace stored ones. The run is
killed before its n-th operation on files (opening to write, flushing, renaming, removing, making
folders; before every other flush the end of the file is cut off), or after a random time. Then the
same command runs again to its end. Every measurement writes its raw seconds, which identify it,
into a log outside of the folder. Counted are:

- lost: a measurement that ended before the last one began, and is neither saved with its raw
  seconds nor in a journal after the kill; one of a journal that the second run does not save; a
  point that had a value before and has none after the kill;
- counted twice: raw seconds that are saved more than once;
- processes left: processes of the killed run that exist 15 seconds later.

    python bench/killed_runs.py [--share 1.0] [--moments 100] [--way "rounds alternate"]

The exit status is 1 if anything is lost, counted twice or left. No network is needed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import processes  # noqa: E402
import wheelhouse  # noqa: E402

from deepbench_ops.storage import measurement_files  # noqa: E402

RELEASES = """framework,version,date,pins,on_request,index
numpy,1.0.0,2020-01-01,,no,
numpy,1.1.0,2020-06-01,,no,
"""
FRAMEWORK = "__version__ = {0!r}\n"
BENCHMARK = """
class Training:
    params = [["m1760_n16_k1760_NN", "m1760_n32_k1760_NN", "m1760_n64_k1760_NN"], ["float32"]]
    param_names = ["problem", "precision"]
    rounds = 2
    version = "1"

    def kernel_forward(self, problem, precision):
        return None
"""
KERNEL = """
import json, os, random, re, time

from asv_runner.benchmarks.time import TimeBenchmark
from deepbench_ops.measure import record_handover


class KernelBenchmark(TimeBenchmark):
    name_regex = re.compile("^kernel_.+$")

    def run(self, *param):
        seconds = [random.uniform(1, 1.2) for _ in range(3)]
        record_handover.write({
            "benchmark": self.name, "params": list(param), "seconds": seconds, "yardstick": [],
            "started_at": round(time.time(), 3), "fingerprint": {"cpu": "abacus"},
        })
        with open(os.environ["KILLS_LOG"], "a") as log:
            log.write(json.dumps(seconds) + "\\n")
        return {"samples": seconds, "number": 1}


export_as_benchmark = [KernelBenchmark]
"""
WAYS = {
    "rounds alternate": ["--interleave-rounds"],
    "one release after the other": ["--no-interleave-rounds"],
    "samples appended": ["--append-samples", "--interleave-rounds"],
}

LOG = "measured.log"

Seconds = tuple[float, ...]
"""The raw seconds of one measurement, random numbers that identify it."""


class Suite:
    """A project with small releases in a folder of its own, and its measurements."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / LOG
        self.mark = str(root)
        self.processes_left = 0
        ignore = shutil.ignore_patterns("__pycache__")
        for name in ("deepbench_ops", "asv_bench_deepbench"):
            shutil.copytree(ROOT / name, root / name, ignore=ignore)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, root / name)
        (root / "asv_bench_deepbench" / "benchmarks" / "kernel.py").write_text(KERNEL)
        conf = (ROOT / "asv.conf.json").read_text(encoding="utf-8")
        conf = conf.replace("deepbench_ops/releases/releases.csv", "releases.csv")
        (root / "asv.conf.json").write_text(conf, encoding="utf-8")
        (root / "releases.csv").write_text(RELEASES)
        (root / "benchmarks").mkdir()
        (root / "benchmarks" / "__init__.py").touch()
        (root / "benchmarks" / "gemm.py").write_text(BENCHMARK)
        shutil.copy(ROOT / "bench" / "kill_at_file_operation.py", root)
        wheelhouse.stock(root / "wheels")
        for version in ("1.0.0", "1.1.0"):
            wheelhouse.build(root / "wheels", "numpy", version, FRAMEWORK.format(version))
        self.run(["machine", "--yes"])
        self.run(["run", "--interleave-rounds", "numpy-1.0.0 numpy-1.1.0"])
        self.before = root.parent / "before"
        for name in ("results", ".asv/unfinished"):
            if (root / name).exists():
                shutil.copytree(root / name, self.before / name)

    def restore(self) -> None:
        """Restore the results of the first run, and remove all other files."""
        for name in ("results", ".asv/unfinished"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        shutil.copytree(self.before / "results", self.root / "results")
        self.log.unlink(missing_ok=True)

    def run(self, arguments: list[str], stop: int = 0, seconds: float | None = None) -> list[str]:
        """Run asv, killed before its operation `stop` (0: not killed) or after `seconds`.

        Returns the operations on files if it was not killed. Raises SystemExit if it failed.
        """
        variables = variables_in(self.root) | {processes.MARK: self.mark}
        report = self.root / "operations.txt"
        report.unlink(missing_ok=True)
        program = ["kill_at_file_operation.py", str(stop), str(report), "asv"]
        command = [sys.executable, *program, *arguments]
        with subprocess.Popen(
            command,
            cwd=self.root,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                said = process.communicate(timeout=seconds)[0] if seconds else None
                said = said if said is not None else _ended(process)
            except subprocess.TimeoutExpired:
                process.kill()
                said = b""
        if not processes.eventually_gone(self.mark, seconds=15.0):
            for left in processes.marked_pids(self.mark):
                self.processes_left += 1
                os.kill(left, signal.SIGKILL)
        if process.returncode not in (0, -signal.SIGKILL) or b"Traceback" in said:
            raise SystemExit(f"asv {' '.join(arguments)} failed:\n{said.decode()}")
        return report.read_text().splitlines() if report.exists() else []

    def measured(self) -> list[Seconds]:
        """Every measurement in the log, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [tuple(json.loads(line)) for line in lines]

    def saved(self) -> dict[tuple[str, str], list[Seconds]]:
        """Measurements whose samples and raw seconds are saved, by release and problem."""
        return saved_in(self.root)

    def values(self) -> set[tuple[str, str]]:
        """Points that have a value, by release and problem."""
        return {
            (path.name, problem)
            for path in self.root.glob("results/*/*-release-*.json")
            for problem, samples in _result(path).items()
            if samples
        }

    def kept(self) -> set[Seconds]:
        """Measurements in journals."""
        found = set()
        for path in self.root.glob(".asv/unfinished/*.jsonl"):
            for text in path.read_text().splitlines():
                try:
                    found.add(tuple(json.loads(text)["answer"]["samples"][0]))
                except ValueError:
                    continue
        return found


def variables_in(root: Path) -> dict[str, str]:
    """Variables of a user who has only the suite's wheels, and the log of measurements."""
    own = {"HOME": str(root), "KILLS_LOG": str(root / LOG)}
    return own | wheelhouse.pip_environment(root / "wheels")


def saved_in(root: Path) -> dict[tuple[str, str], list[Seconds]]:
    """Measurements whose samples and raw seconds are saved, by release and problem."""
    found = {}
    for path in root.glob("results/*/*-release-*.json"):
        names, raw = _result(path), _raw(path)
        for problem, samples in names.items():
            parts = [tuple(samples[at : at + 3]) for at in range(0, len(samples), 3)]
            known = raw.get(problem, [])
            # A measurement twice in either file counts as saved twice.
            found[(path.name, problem)] = [
                part for part in set(parts) for _ in range(_times(part, parts, known))
            ]
    return found


def _ended(process: "subprocess.Popen[bytes]") -> bytes:
    """Wait for the process only: children that it has left keep its output open."""
    assert process.stdout is not None
    said = []
    os.set_blocking(process.stdout.fileno(), False)
    while True:
        over = process.poll() is not None
        if part := process.stdout.read():
            said.append(part)
        if over:
            return b"".join(said)
        time.sleep(0.02)


def _times(part: Seconds, samples: list[Seconds], raw: list[Seconds]) -> int:
    counts = samples.count(part), raw.count(part)
    return max(counts) if min(counts) else 0


def _result(path: Path) -> dict[str, list[float]]:
    stored = json.loads(path.read_text())
    row = dict(
        zip(
            stored["result_columns"],
            stored["results"]["gemm.Training.kernel_forward"],
            strict=False,
        )
    )
    problems = [text.strip("'") for text in row["params"][0]]
    return {name: found or [] for name, found in zip(problems, row["samples"], strict=True)}


def _raw(path: Path) -> dict[str, list[Seconds]]:
    found: dict[str, list[Seconds]] = {}
    records = measurement_files.file_of(path)
    for line in measurement_files.content(records).splitlines() if records.exists() else []:
        entry = json.loads(line)
        if "seconds" in entry:
            found.setdefault(entry["params"][0], []).append(tuple(entry["seconds"]))
    return found


def tried(suite: Suite, options: list[str], stop: int, seconds: float | None) -> Counter[str]:
    """Kill one run, let the same command finish, and count."""
    command = ["run", *options, "numpy-1.0.0 numpy-1.1.0"]
    suite.restore()
    before, values = suite.saved(), suite.values()
    suite.processes_left = 0
    suite.run(command, stop, seconds)
    found: Counter[str] = Counter(kills=1)
    saved, kept = suite.saved(), suite.kept()
    held = {part for parts in saved.values() for part in parts}
    measured = suite.measured()
    found["lost"] += sum(part not in held | kept for part in measured[:-1])
    found["lost"] += len(values - suite.values())
    suite.run(command)
    after = suite.saved()
    final = Counter(part for parts in after.values() for part in parts)
    found["lost"] += sum(part not in final for part in kept - held)
    found["lost"] += sum(len(after.get(place, ())) < 2 for place in before)
    appending = "--append-samples" in options
    found["lost"] += sum(part not in final for p in before.values() for part in p if appending)
    found["counted twice"] += sum(times - 1 for times in final.values())
    if not appending:
        found["counted twice"] += sum(max(0, len(parts) - 2) for parts in after.values())
    found["measured before the kill"] += len(measured)
    found["measured again"] += len(suite.measured()) - 12
    found["journals left"] += len(list(suite.root.glob(".asv/unfinished/**/*.jsonl")))
    found["processes left"] += suite.processes_left
    return found


def counted(
    suite: Suite, ways: list[str], share: float, moments: int, seed: int
) -> Iterator[tuple[object, ...]]:
    """Yield two rows for each way of running: kills before operations, and at random moments."""
    for way in ways:
        draw, options = random.Random(f"{seed} {way}"), WAYS[way]
        suite.restore()
        started = time.monotonic()
        operations = suite.run(["run", *options, "numpy-1.0.0 numpy-1.1.0"])
        lasts = time.monotonic() - started
        places = range(1, len(operations) + 1)
        chosen = sorted(draw.sample(places, round(share * len(places))))
        times = [draw.uniform(0, lasts) for _ in range(round(share * moments / len(ways)))]
        for name, tries in (
            (f"{len(chosen)} of {len(operations)} operations", [(n, None) for n in chosen]),
            (f"{len(times)} random moments", [(0, seconds) for seconds in times]),
        ):
            total: Counter[str] = Counter()
            for stop, seconds in tries:
                found = tried(suite, options, stop, seconds)
                print(f"\r{way}: {total['kills'] + 1} of {len(tries)}", end="", file=sys.stderr)
                if any(found[column] for column in WRONG):
                    where = operations[stop - 1] if stop else f"{seconds:.2f} s"
                    print(f"{way}, killed at {stop} ({where}): {dict(found)}", flush=True)
                total += found
            yield way, name, *(total[column] for column in COLUMNS)


WRONG = ("lost", "counted twice", "processes left", "journals left")
COLUMNS = ("kills", "measured before the kill", *WRONG, "measured again")


def main() -> None:
    """Count, print the table, and exit with 1 if any count of WRONG is not 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of all kills, drawn by the seed"
    )
    parser.add_argument("--moments", type=int, default=100, help="total number of random moments")
    parser.add_argument(
        "--way", action="append", choices=WAYS, help="a way of running (default: all)"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        root = Path(folder, "suite")
        root.mkdir()
        suite = Suite(root)
        asked = (arguments.share, arguments.moments, arguments.seed)
        rows = list(counted(suite, arguments.way or [*WAYS], *asked))
    print(tabulate(rows, ("run", "killed before", *COLUMNS)))
    wrong = {name: sum(row[2 + COLUMNS.index(name)] for row in rows) for name in WRONG}
    counts = ", ".join(f"{count} {name}" for name, count in wrong.items())
    print(f"{sum(row[2] for row in rows)} kills: {counts}")
    sys.exit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
