"""Runs a command as a user would who is not at the keyboard, and keeps all it says."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
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


MARK = "DEEPBENCH_TEST_MARK"
"""Set to something unique, it marks all processes that descend from the one that set it."""

PAIR = """
import sys, time
from deepbench_ops.measure.worker_control import Launch, LiveWorker
kernel = dict(family="gemm", problem="m512_n1_k512_NN", precision="float32")
workers = [LiveWorker(Launch(sys.executable), {0}) for _ in range(2)]
for worker in workers:
    worker.ask(do="prepare", **kernel)
print("ready", flush=True)
while True:
    for worker in workers:
        worker.ask(do="slice", calls=100)
"""
"""A program that measures two live workers in turns until it is ended."""


def marked_pids(mark: str) -> list[int]:
    """The processes that carry the mark and have not ended; zombies have."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            variables = (process / "environ").read_bytes().split(b"\0")
            if wanted in variables and state(int(process.name)) not in "ZX":
                found.append(int(process.name))
    return found


def state(pid: int) -> str:
    """One letter: R running, S sleeping, T stopped, Z ended and not yet collected."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


LOOK_SECONDS = 0.05


def eventually_gone(mark: str, seconds: float = 10.0) -> bool:
    """Whether all marked processes end within so many seconds; those that do not are printed.

    Looks are counted, not the clock: a machine that stands still makes none.
    """
    for _ in range(round(seconds / LOOK_SECONDS)):
        if not marked_pids(mark):
            return True
        time.sleep(LOOK_SECONDS)
    left = marked_pids(mark)
    for pid in left:
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            print(f"process {pid} is left, in state {state(pid)}: {command}")
    return not left
