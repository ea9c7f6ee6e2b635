"""Starts the ranks of one machine with torchrun, and reads what the first of them says."""

import json
import os
import subprocess
import sys

from deepbench_ops import lifetime
from deepbench_ops.distributed.launch import loopback
from deepbench_ops.distributed.training.request import Request
from deepbench_ops.errors import DeepbenchError

LIMIT_SECONDS = 900.0


def steps(request: Request, ranks: int, limit: float = LIMIT_SECONDS) -> dict[str, object]:
    """Return {"seconds": of each step, "losses": before and after the first}.

    DeepbenchError, with what the ranks said last, where one of them fails, or the limit passes;
    torchrun ends the others.
    """
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [
        "--nproc-per-node",
        str(ranks),
        "-m",
        "deepbench_ops.distributed.training",
        request.text(),
    ]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
            env={"GLOO_SOCKET_IFNAME": loopback(), **os.environ},
            preexec_fn=lifetime.with_this_process(),
        )
    except subprocess.TimeoutExpired:
        raise DeepbenchError(
            f"{ranks} ranks of {request.network} took longer than {limit:g} s"
        ) from None
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise DeepbenchError(f"{ranks} ranks of {request.network} failed: {_said(done.stderr)}")
    found: dict[str, object] = json.loads(lines[-1])
    return found


def _said(text: str) -> str:
    """Return the line that tells most of what torchrun and the ranks have printed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ours = [line for line in lines if "deepbench: error:" in line]
    errors = [line for line in lines if "Error" in line]
    return (ours or errors or lines or ["they said nothing"])[0].split("deepbench: error: ")[-1]
