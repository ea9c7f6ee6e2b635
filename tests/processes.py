"""Runs a command as a user would who is not at the keyboard, and keeps all it says."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(
    command: Sequence[str], folder: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run in `folder`, with nothing to read, both outputs in `stdout`; ten minutes at most."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
