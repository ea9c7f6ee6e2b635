"""A rank's part in a training; the first prints seconds and losses as a line of JSON."""

import json
import os
import sys

import torch
import torch.distributed as dist

from deepbench_ops.distributed.training import memory, worker
from deepbench_ops.distributed.training.request import parsed
from deepbench_ops.errors import DeepbenchError, Unsupported


def main() -> None:
    """Take part in the training that the only argument describes."""
    try:
        request = parsed(sys.argv[1] if len(sys.argv) == 2 else "")
        if request.device == "cuda":  # before anything is put on a GPU
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        ranks = [int(os.environ[name]) for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE")]
        memory.demand(request, *ranks)  # no rank allocates until all have joined
        dist.init_process_group(worker.BACKENDS[request.device])
        steps = worker.run(request)
        if dist.get_rank() == 0:
            print(
                json.dumps({"seconds": list(steps.seconds), "losses": list(steps.losses)}),
                flush=True,
            )
        dist.destroy_process_group()
    except (DeepbenchError, Unsupported) as wrong:
        sys.exit(f"deepbench: error: {wrong}")
