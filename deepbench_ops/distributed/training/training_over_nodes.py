"""A training over the nodes of a placement: `python -m ...training_over_nodes REQUEST`.

This program runs on the first node, in the environment of a release of torch. It times one rank
alone, then all ranks, which srun, torchrun or mpirun starts, and prints both runs as JSON. One rank
alone has as many threads as each of them, so that the two runs give the efficiency.
"""

import json
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from deepbench_ops import process_messages
from deepbench_ops.distributed.launchers import (
    launcher_commands,
    launcher_processes,
    rank_placement,
)
from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.distributed.training import scaling_run, training_launch
from deepbench_ops.distributed.training.training_request import TrainingRequest, parsed
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.measure import fingerprint, threads

PROGRAM = "deepbench_ops.distributed.training"


def runs(request: TrainingRequest, placement: RankPlacement) -> list[dict[str, Any]]:
    """Return the runs of one rank alone and of all ranks, with their conditions.

    request: its number of threads is replaced by the share of each rank. Raises DeepbenchError
    where a rank fails, and Unsupported where the launcher or torch is missing.
    """
    launcher_commands.demand_installed(placement)
    versions = {"framework": f"torch {_torch_version()}"}
    request = replace(request, threads=threads_of_rank(request.device, placement))
    alone: dict[str, Any] = training_launch.steps(request, 1)
    together = steps(request, placement)
    return [
        {
            **scaling_run.of(request, ranks, found["seconds"]),
            "conditions": fingerprint.stable({**versions, **facts}, request.threads),
        }
        for ranks, facts, found in (
            (1, {}, alone),
            (placement.ranks, placement.facts(), together),
        )
    ]


def threads_of_rank(device: str, placement: RankPlacement) -> int:
    """Return the threads of each rank, its share of the processors of its node.

    Raises DeepbenchError for more ranks than threads on the cpu.
    """
    here = placement.ranks if placement.on_one_machine else placement.ranks_per_node
    share = threads.wanted() // here
    if device == "cpu" and share < 1:
        raise DeepbenchError(
            f"{here} ranks on {threads.wanted()} threads of a node would wait for each other: give"
            " fewer --ranks-per-node"
        )
    return max(share, 1)


def steps(request: TrainingRequest, placement: RankPlacement) -> dict[str, Any]:
    """Run a training over all ranks of a placement; return its figures as `training_launch.steps`.

    Raises DeepbenchError if a rank fails, with its reason, if the ranks are on fewer nodes, or if
    the training takes longer than the request's limit. No rank is left.
    """
    environ = launcher_commands.environment(placement) | placement.variables()
    commands = launcher_commands.commands(
        placement, [PROGRAM, request.text()], environ, binding=request.threads == 1
    )
    named = f"{placement.ranks} ranks of {request.network}"
    with tempfile.TemporaryDirectory(prefix="deepbench-") as name:
        out, err = Path(name, "out"), Path(name, "err")
        started: list[launcher_processes.Launcher] = []
        try:
            with out.open("wb") as printed, err.open("wb") as errors:
                launcher_processes.start(commands, environ, started, printed, errors)
            failed = training_launch.failed_ranks(started, time.monotonic() + request.limit)
        finally:
            launcher_processes.end(started, waiting=False)
        if failed is None:
            raise request.too_long(placement.ranks, request.limit)
        text = out.read_text("utf-8", errors="replace")
        found = None if failed else process_messages.last_printed(text)
        if found is None:
            reason = training_launch.reason(err.read_text("utf-8", errors="replace"))
            raise DeepbenchError(f"{named} failed: {reason}")
        return found


def _torch_version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        raise Unsupported(f"torch is missing in the environment of {sys.executable}") from None


def _placement() -> RankPlacement:
    """Return the placement of this job. Raises DeepbenchError without one."""
    found = rank_placement.asked()
    if found is None:
        raise DeepbenchError(f"{rank_placement.VARIABLE} is not set: deepbench fleet sets it")
    return found


def main() -> None:
    """Print the runs of the request in the argument; exit with one line for an error."""
    try:
        request = parsed(sys.argv[1] if len(sys.argv) == 2 else "")
        print(json.dumps({"runs": runs(request, _placement())}), flush=True)
    except (DeepbenchError, Unsupported) as wrong:
        sys.exit(f"deepbench: error: {wrong}")


if __name__ == "__main__":
    main()
