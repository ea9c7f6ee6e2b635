"""A project folder in which releases have known times, and `deepbench history` in it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import command
import known_workers
import processes

from deepbench_ops.releases import release_table
from deepbench_ops.storage import atomic_write, ensemble_round_files, json_lines

SUPPORT = Path(__file__).parent
OPERATIONS = SUPPORT.parents[1] / "bench" / "kill_at_file_operation.py"

PROBLEMS = ("m35_n700_k2048_NN", "m1760_n16_k1760_NN")
ROUNDS = 3
SPAN = "2.2.4..2.2.6"
ASKED = ["history", "numpy", SPAN, "--family", "gemm", "--within", "0.0001%"]
ASKED += ["--rounds", str(ROUNDS), *(part for name in PROBLEMS for part in ("--problem", name))]
BEGUN_SECONDS = 120.0
"""Seconds that the command may take to load."""

JOURNALS = ".asv/history/*.jsonl"
"""Keep rounds until they are filed."""

Measured = tuple[str, str]
"""A kernel's problem and the id of its round."""


class HistoryProject:
    """A project folder, and the command in it, with variables of the environment."""

    def __init__(self, root: Path, **variables: str) -> None:
        self.root, self.log, self._variables = root, root / "measured.log", variables
        self.mark = root.name
        command.make_project(root, dvcs="releases", repo=release_table.TABLE.name)
        shutil.copy(release_table.TABLE, root)
        shutil.copy(OPERATIONS, root)
        (root / "tmp").mkdir()
        self.restore()

    def restore(self) -> None:
        """Remove all that the command writes."""
        for name in ("results", ".asv"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        self.log.unlink(missing_ok=True)
        known_workers.filing(self.root / "results")

    def start(self, *asked: str, stop: int = 0, **variables: str) -> "subprocess.Popen[str]":
        """Start a command, the history unless given, as the leader of a group of its own.

        It kills itself before its operation `stop` on files (0: not).
        """
        environ = {
            **os.environ,
            "HOME": str(self.root),
            "TMPDIR": str(self.root / "tmp"),
            "PYTHONPATH": os.pathsep.join(map(str, (SUPPORT, SUPPORT.parents[1]))),
            processes.MARK: self.mark,
            known_workers.LOG: str(self.log),
            known_workers.FILED_EVERY: "0",
            **self._variables,
            **variables,
        }
        report = ["kill_at_file_operation.py", str(stop), "operations.txt"]
        return subprocess.Popen(
            [sys.executable, *report, "known_workers", *(asked or ASKED)],
            cwd=self.root,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_hear_interruptions,
        )

    def run(self) -> list[str]:
        """Run the command to its end; return its operations on files. Raises where it fails."""
        with self.start() as process:
            _, said = process.communicate()
        if process.returncode:
            raise SystemExit(f"the history failed:\n{said}")
        return (self.root / "operations.txt").read_text().splitlines()

    def wait_until_begun(self, process: "subprocess.Popen[str]") -> None:
        """Return when the command is loaded."""
        until = time.monotonic() + BEGUN_SECONDS
        while not self.log.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)

    def measured(self) -> list[Measured]:
        """Rounds that were measured to their end, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(problem, name) for problem, name in map(str.split, lines)]

    def journal(self) -> set[Measured]:
        """Rounds in the journal."""
        lines = [each for path in self.root.glob(JOURNALS) for each in json_lines.read(path)]
        return {(line["problem"], line["round"]) for line in lines if "round" in line}

    def filed(self) -> list[Measured]:
        """Rounds in the file next to the results."""
        machine = self.root / "results" / known_workers.MACHINE
        stored = ensemble_round_files.load(ensemble_round_files.path_of(machine, "numpy"))
        return [(entry["problem"], entry["round"]) for entry in stored.entries]

    def samples(self) -> dict[tuple[str, str, str], int]:
        """Number of samples of each result that has a value: of release, benchmark and problem."""
        found = {}
        for path in self.root.glob("results/*/*-release-*.json"):
            stored = json.loads(path.read_text())
            for name, values in stored["results"].items():
                row = dict(zip(stored["result_columns"], values, strict=False))
                for key, samples in zip(product(*row["params"]), row["samples"], strict=False):
                    if samples:
                        found[path.name, name, key[0].strip("'")] = len(samples)
        return found

    def left(self) -> list[Path]:
        """Journals and unfinished files."""
        unfinished = self.root.rglob(f"*{atomic_write.SUFFIX}")
        return [*unfinished, *self.root.glob(JOURNALS)]


def _hear_interruptions() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
