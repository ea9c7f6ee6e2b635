"""The figures of a training over some ranks, as a run that `storage.model_runs` keeps."""

import statistics
from collections.abc import Sequence
from typing import Any

from deepbench_ops.distributed.training.training_request import TrainingRequest
from deepbench_ops.statistics.median_interval import log_interval


def of(request: TrainingRequest, ranks: int, step_seconds: Sequence[float]) -> dict[str, Any]:
    """Return the run of a training; release, day and conditions are to be added.

    step_seconds: of each measured step, on the slowest rank. low, high: the interval of 99 % of
    their median, None of fewer than four steps.
    """
    low, high = log_interval(step_seconds) or (None, None)
    return {
        "kind": "scaling",
        "model": request.network,
        "precision": request.precision,
        "device": request.device,
        "split": request.split,
        "batch": request.batch,
        "ranks": ranks,
        "threads": request.threads,
        "steps": len(step_seconds),
        "step_seconds": statistics.median(step_seconds),
        "low": low,
        "high": high,
    }
