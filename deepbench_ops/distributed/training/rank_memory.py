"""Check of the memory for the ranks of one machine, before any of them starts.

Without enough memory the system would end a rank during the training, and the others would wait
for it.
"""

from deepbench_ops.backends import free_memory
from deepbench_ops.backends.families.model import FIXED_BYTES, FLOAT_BYTES, MARGIN, step_numbers
from deepbench_ops.distributed.training.training_request import TrainingRequest
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.model import network_size

RANK_BYTES = 300e6
"""Bytes of a process that has imported torch and joined the others."""


def demand(request: TrainingRequest, ranks: int, everywhere: int = 0) -> None:
    """Raise DeepbenchError, with the needed and the available bytes, if `ranks` ranks do not fit.

    everywhere: number of ranks on all machines, if that is more.
    """
    needed = of_rank(request, everywhere or ranks) * ranks
    available = _available(request.device, ranks)
    if needed > available:
        alone = ranks == 1
        who = f"a rank of {request.network} with {request.batch} items needs"
        if not alone:
            who = f"{ranks} ranks of {request.network} with {request.batch} items each need"
        raise DeepbenchError(
            f"{who} about {needed:.3g} bytes of memory on {request.device}, and {available:.3g} are"
            f" available: give a smaller --batch{'' if alone else ' or fewer --ranks'}"
        )


def of_rank(request: TrainingRequest, ranks: int) -> float:
    """Return an estimate of the bytes that one of `ranks` ranks takes.

    A rank takes the bytes of a training step, and a second copy of dense gradients, which are
    exchanged. A split table is whole while it is drawn; later each rank has its part.
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
    """Return the bytes available to all ranks of this machine together.

    Each GPU counts with the free memory of the fullest one.
    """
    if device == "cpu":
        return free_memory.available()
    import torch

    if not torch.cuda.is_available():  # the ranks report it
        return float("inf")
    used = range(min(ranks, torch.cuda.device_count()))
    return ranks * float(min(torch.cuda.mem_get_info(place)[0] for place in used))
