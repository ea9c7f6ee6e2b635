"""The part of one rank in a training; the first rank prints seconds and losses as JSON."""

import json
import os
import platform
import sys
from typing import Any

import torch
import torch.distributed as dist

from deepbench_ops.backends import torch_backend
from deepbench_ops.distributed.launchers import launcher_variables, rank_placement
from deepbench_ops.distributed.training import rank_memory, training_worker
from deepbench_ops.distributed.training.training_request import MEETING_VARIABLE, parsed
from deepbench_ops.errors import DeepbenchError, Unsupported


def main() -> None:
    """Take part in the training that the argument describes."""
    try:
        request = parsed(sys.argv[1] if len(sys.argv) == 2 else "")
        os.environ.update(launcher_variables.for_torch())
        if request.device == "cuda":  # before anything is put on a GPU
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        ranks = [int(os.environ[name]) for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE")]
        rank_memory.demand(request, *ranks)  # no rank allocates until all have joined
        _join(torch_backend.TRANSPORTS[request.device])
        steps = training_worker.run(request)
        if dist.get_rank() == 0:
            print(
                json.dumps({"seconds": list(steps.seconds), "losses": list(steps.losses)}),
                flush=True,
            )
        dist.destroy_process_group()
    except (DeepbenchError, Unsupported) as wrong:
        sys.exit(f"deepbench: error: {wrong}")


def _join(backend: str) -> None:
    """Connect to the other ranks: over a file on one machine, else by the launcher's variables.

    Raises DeepbenchError where ranks of a job over several nodes are on fewer.
    """
    meeting = os.environ.get(MEETING_VARIABLE)
    if meeting is None:
        dist.init_process_group(backend)
        _demand_nodes()
        return
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = dist.FileStore(meeting, ranks)
    dist.init_process_group(backend, store=store, rank=rank, world_size=ranks)


def _demand_nodes() -> None:
    placement = rank_placement.asked()
    if placement is None:
        return
    names: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(names, os.environ.get("SLURMD_NODENAME") or platform.node())
    placement.demand_nodes(names)
