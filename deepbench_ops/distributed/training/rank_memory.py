"""Memory of the ranks of one machine, asked for before any of them starts.

Beyond it the system would end a rank in the middle, and the others would wait for it.
"""

from deepbench_ops.backends import free_memory
from deepbench_ops.backends.families.model import FIXED_BYTES, FLOAT_BYTES, MARGIN, step_numbers
from deepbench_ops.distributed.training.request import TrainingRequest
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.model import network_size

RANK_BYTES = 300e6
"""Bytes of a process that has imported torch and joined the others."""


def demand(request: TrainingRequest, ranks: int, everywhere: int = 0) -> None:
    """Raise DeepbenchError, with the bytes needed and available, where `ranks` do not fit here.

    everywhere: how many there are on all machines, where those are more.
    """
    needed = of_rank(request, everywhere or ranks) * ranks
    available = _available(request.device, ranks)
    if needed > available:
        raise DeepbenchError(
            f"{ranks} ranks of {request.network} with {request.batch} items each need about"
            f" {needed:.3g} bytes of memory on {request.device}, and {available:.3g} are available:"
            " give a smaller --batch or fewer --ranks"
        )


def of_rank(request: TrainingRequest, ranks: int) -> float:
    """Return about how many bytes one of so many ranks takes.

    A rank takes a training step's bytes, and a second copy of whole gradients, in which they are
    shared. A table
    that is split is whole while it is drawn; later each rank has its part.
    """
    size = network_size(request.network)
    parameters, trained = size.parameters, size.trained
    whole = 0
    if request.split:
        aside = (parameters - size.dense) * (ranks - 1) // ranks
        whole, parameters, trained = parameters, parameters - aside, trained - aside
    steps = step_numbers(size, request.batch, parameters, trained) + trained
    numbers = max(whole + parameters, steps)
    return RANK_BYTES + FIXED_BYTES + MARGIN * FLOAT_BYTES * numbers


def _available(device: str, ranks: int) -> float:
    """Return the bytes that all ranks of this machine have together, each GPU as much as the
    fullest of them."""
    if device == "cpu":
        return free_memory.available()
    import torch

    if not torch.cuda.is_available():  # which the ranks will say
        return float("inf")
    used = range(min(ranks, torch.cuda.device_count()))
    return ranks * float(min(torch.cuda.mem_get_info(place)[0] for place in used))
