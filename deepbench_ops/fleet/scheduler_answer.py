"""The output of a scheduler's command, such as squeue."""

import subprocess

SECONDS = 30.0
"""How long a command may take; without a controller Slurm's do not end for long."""


def of(*command: str) -> str:
    """Return the output of a command, "" where it fails, is missing or takes too long."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout
