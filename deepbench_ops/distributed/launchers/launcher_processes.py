"""The processes of srun, torchrun or mpirun that start ranks on several nodes.

When this process dies they get SIGTERM, and end their ranks.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from deepbench_ops import process_lifetime
from deepbench_ops.distributed.one_machine.rank_group import ENDING_SECONDS

Launcher = subprocess.Popen[bytes]


def start(
    commands: Sequence[Sequence[str]],
    environ: Mapping[str, str],
    started: list[Launcher],
    out: IO[bytes],
    err: IO[bytes],
) -> None:
    """Start commands of `launcher_commands.commands`, each with a group of processes of its own.

    started: gets each process as soon as it runs, so that `end` finds it also if a later one
    cannot be started. Raises OSError for a command that cannot be started.
    """
    for command in commands:
        process = subprocess.Popen(
            process_lifetime.bound(command, by=signal.SIGTERM),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        started.append(process)


def end(started: Sequence[Launcher], waiting: bool) -> None:
    """End launchers and their ranks: by SIGTERM, and by SIGKILL where that does not help.

    waiting: whether they have `ENDING_SECONDS` to end by themselves first.
    """
    for sign in (None, signal.SIGTERM, signal.SIGKILL):
        if sign is None and not waiting:
            continue
        for each in started:
            if sign is not None and each.poll() is None:
                os.killpg(each.pid, sign)
        until = time.monotonic() + ENDING_SECONDS
        for each in started:
            with suppress(subprocess.TimeoutExpired):
                each.wait(max(0.0, until - time.monotonic()))
