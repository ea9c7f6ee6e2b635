"""The output of a scheduler's command, such as squeue."""

import os
import subprocess

from deepbench_ops.errors import DeepbenchError

SECONDS = 30.0
"""Longest time of a command; those of Slurm do not end for long if its controller is away."""

CHANGED_BY = ("SACCT_", "SCANCEL_", "SINFO_", "SQUEUE_")
"""Beginnings of variables by which users choose columns, states and partitions for Slurm's
commands; here they would hide jobs or nodes."""


def environ() -> dict[str, str]:
    """Return the variables of this process without those that change the answers of Slurm."""
    return {name: value for name, value in os.environ.items() if not name.startswith(CHANGED_BY)}


def of(*command: str) -> str:
    """Return the output of a command, "" where it fails, is missing or takes too long."""
    try:
        return demanded(*command)
    except DeepbenchError:
        return ""


def demanded(*command: str) -> str:
    """Return the output of a command.

    Raises DeepbenchError, with its last line of errors, for a command that fails, is missing or
    takes too long.
    """
    try:
        done = subprocess.run(
            command,
            env=environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except OSError as error:
        raise DeepbenchError(f"{command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise DeepbenchError(f"{command[0]} did not answer within {SECONDS:.0f} s") from None
    if done.returncode:
        said = done.stderr.split("\n") if done.stderr.strip() else [f"status {done.returncode}"]
        reason = [line for line in said if line.strip()][-1].strip()
        raise DeepbenchError(f"{command[0]}: {reason.removeprefix(f'{command[0]}: ')}")
    return done.stdout
