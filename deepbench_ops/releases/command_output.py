"""The output of an installer: a program that may run long, but not be silent long."""

import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from deepbench_ops import process_lifetime


class CommandFailed(Exception):
    """A program that ended with another status than 0, or was silent for too long.

    output: text that it wrote until then. silent: whether it was ended for its silence.
    """

    def __init__(self, output: str, silent: bool) -> None:
        super().__init__(output)
        self.output, self.silent = output, silent


def command_output(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], silence_seconds: float
) -> str:
    """Return the text that a program writes to its output and its errors.

    folder: to run in. variables: the program's environment. silence_seconds: after so many without
    output it is ended, with the programs that it started; so it is when this process ends.
    Raises CommandFailed, and OSError where the program cannot be started.
    """
    process = subprocess.Popen(
        process_lifetime.bound(command),
        cwd=folder,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    with process:
        try:
            output, silent = _read(process, silence_seconds)
        except BaseException:
            _end(process)
            raise
        if silent:
            _end(process)
    text = output.decode("utf-8", errors="replace")
    if silent or process.returncode:
        raise CommandFailed(text, silent)
    return text


def _read(process: subprocess.Popen[bytes], silence_seconds: float) -> tuple[bytes, bool]:
    """Return the output up to its end, or up to a silence, and whether it was a silence."""
    assert process.stdout is not None
    chunks: list[bytes] = []
    while True:
        ready, _, _ = select.select([process.stdout], [], [], silence_seconds)
        if not ready:
            return b"".join(chunks), True
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            return b"".join(chunks), False
        chunks.append(chunk)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
