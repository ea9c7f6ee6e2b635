"""A program that a job starts on its node: it ends with the job, and its output is the job's."""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepbench_ops import process_lifetime


@dataclass(frozen=True)
class Ended:
    """A program's exit status, and the lines that it wrote, indented, without empty ones."""

    status: int
    lines: tuple[str, ...]

    @property
    def last_line(self) -> str:
        """The last line that it wrote."""
        return self.lines[-1].strip() if self.lines else f"it ended with status {self.status}"


KEPT = 10_000
"""Lines of output that are kept for the reason of a failure."""


def run(
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    python: str = sys.executable,
) -> Ended:
    """Run a Python, usually this one, with arguments in a folder; its output goes to standard
    output.

    variables: of the environment, in addition to those of this process. Raises OSError where Python
    cannot be started.
    """
    process = subprocess.Popen(
        process_lifetime.bound([python, *arguments]),
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines: deque[str] = deque(maxlen=KEPT)
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.strip():
                lines.append(line.rstrip())
    return Ended(process.returncode, tuple(lines))
