"""The figures of a training over some ranks, as a run that `storage.model_runs` keeps."""

import statistics
from collections.abc import Sequence
from typing import Any

from deepbench_ops.distributed.training.training_request import TrainingRequest


def of(request: TrainingRequest, ranks: int, step_seconds: Sequence[float]) -> dict[str, Any]:
    """Return the run of a training; release, day and conditions are to be added.

    step_seconds: of each measured step, on the slowest rank.
    """
    low, high = interval(step_seconds)
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


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return an interval of the median of at least 95 %, from the order of the values alone."""
    ordered = sorted(values)
    aside = max(0, int(len(ordered) / 2 - 0.98 * len(ordered) ** 0.5))
    return ordered[aside], ordered[-1 - aside]
