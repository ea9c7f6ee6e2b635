"""Start of the ranks of one machine, and the figures that the first rank prints.

The ranks connect over a file and not through torchrun, whose store listens on all interfaces
without authentication. On several nodes `training_over_nodes` starts the same program.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from deepbench_ops import process_lifetime, process_messages
from deepbench_ops.distributed.one_machine.rank_command import loopback
from deepbench_ops.distributed.training.training_request import MEETING_VARIABLE, TrainingRequest
from deepbench_ops.errors import DeepbenchError

LOOK_SECONDS = 0.05
GRACE_SECONDS = 0.5
"""Seconds to wait after the first failure: the rank that is the cause may report later."""

Rank = subprocess.Popen[bytes]


def steps(request: TrainingRequest, ranks: int, limit: float | None = None) -> dict[str, object]:
    """Run a training; return {"seconds": those of each step, "losses": before and after the first}.

    Raises DeepbenchError if a rank fails, with its reason, or if the training takes longer than
    `limit` seconds, those of the request unless given; the other ranks are ended.
    """
    limit = request.limit if limit is None else limit
    with tempfile.TemporaryDirectory(prefix="deepbench-") as name:
        folder = Path(name)
        started: list[Rank] = []
        try:
            for rank in range(ranks):
                started.append(_start(request, rank, ranks, folder))
            failed = failed_ranks(started, time.monotonic() + limit)
        finally:
            for each in started:
                each.kill()
                each.wait()
        if failed is None:
            raise request.too_long(ranks, limit)
        printed = (folder / "0.out").read_text()
        found = None if failed else process_messages.last_printed(printed)
        if found is None:
            said = "".join((folder / f"{rank}.err").read_text() for rank in failed or [0])
            raise DeepbenchError(f"{ranks} ranks of {request.network} failed: {reason(said)}")
        return found


def _start(request: TrainingRequest, rank: int, ranks: int, folder: Path) -> Rank:
    """Start one rank, whose output goes to files in `folder`."""
    own = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": ranks,
        "LOCAL_WORLD_SIZE": ranks,
        MEETING_VARIABLE: folder / "meeting",
    }
    usual = {"GLOO_SOCKET_IFNAME": loopback(), "NCCL_SOCKET_IFNAME": loopback()}
    if ranks > 1:
        usual["OMP_NUM_THREADS"] = "1"  # as torchrun sets; a rank sets torch's number itself
    with (folder / f"{rank}.out").open("wb") as out, (folder / f"{rank}.err").open("wb") as err:
        program = [sys.executable, "-m", "deepbench_ops.distributed.training", request.text()]
        return subprocess.Popen(
            process_lifetime.bound(program),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**usual, **os.environ, **{key: str(value) for key, value in own.items()}},
        )


def failed_ranks(ranks: Sequence[Rank], end: float) -> list[int] | None:
    """Wait until all ranks have ended or one has failed; return the failed ranks, None if the time
    `end` comes first."""
    while time.monotonic() < end:
        statuses = [rank.poll() for rank in ranks]
        if any(statuses):
            time.sleep(GRACE_SECONDS)
            return [number for number, rank in enumerate(ranks) if rank.poll()]
        if None not in statuses:
            return []
        time.sleep(LOOK_SECONDS)
    return None


def reason(text: str) -> str:
    """Return the most informative line of the output of ranks."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ours = [line for line in lines if "deepbench: error:" in line]
    errors = [line for line in lines if "Error" in line]
    return (ours or errors or lines or ["they said nothing"])[0].split("deepbench: error: ")[-1]
