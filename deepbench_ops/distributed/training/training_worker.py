"""One rank of a training: its copy of the network, its batch, and the steps of all ranks."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from deepbench_ops.backends.torch_backend.tensors import true_precision
from deepbench_ops.distributed.training.split_embedding import SplitEmbedding
from deepbench_ops.distributed.training.training_request import (
    FEWEST_STEPS,
    MOST_STEPS,
    TrainingRequest,
)
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.models.network_catalogue import network
from deepbench_ops.models.torch_weights import filled
from deepbench_ops.models.training_steps import TrainingStep, mixed_type

WARM_UP_STEPS = 2


@dataclass(frozen=True)
class Steps:
    """Measured steps of a training.

    seconds: those of each step on the slowest rank. losses: before and after the first step, the
    mean over the ranks.
    """

    seconds: Sequence[float]
    losses: Sequence[float]


def run(request: TrainingRequest) -> Steps:
    """Take part in the training; the process group must exist.

    Raises DeepbenchError if the weights of the ranks differ at the end.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(request.threads)
    true_precision(request.precision, request.device)
    step = _step(request, rank, ranks)
    losses = [step.step().float().reshape(1) for _ in range(WARM_UP_STEPS)]
    one = _timed(step, request.device)  # of the slowest rank: all ranks do the same number of steps
    count = max(FEWEST_STEPS, min(MOST_STEPS, int(request.seconds / one)))
    seconds = [_timed(step, request.device) for _ in range(count)]
    _demand_alike(step.module)
    return Steps(seconds, [float(_over_ranks(x, dist.ReduceOp.SUM)) / ranks for x in losses])


def _step(request: TrainingRequest, rank: int, ranks: int) -> TrainingStep:
    known = network(request.network)
    form = known.whole if request.whole else known.small
    device = request.device
    mixed = mixed_type(request.precision, device)
    module = filled(lambda: known.make(form)).to(device)
    called = _split(module, rank, ranks) if request.split else DistributedDataParallel(module)
    seed = rank  # every rank has a batch of its own
    inputs, targets = (
        [torch.from_numpy(values).to(device) for values in drawn(request.batch, seed)]
        for drawn in (form.inputs, form.targets)
    )
    return TrainingStep(module, known.loss, known.recipe, inputs, targets, mixed, called)


def _split(module: nn.Module, rank: int, ranks: int) -> nn.Module:
    """Split the tables of a module over the ranks, in place; gradients of other layers are averaged
    over the ranks."""
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Embedding):
            split = SplitEmbedding(child, rank, ranks)
            split.weight.register_hook(lambda gradient: gradient / ranks)
            setattr(module, name, split)
        else:
            setattr(module, name, DistributedDataParallel(child))
    for parameter in module.parameters(recurse=False):
        parameter.register_hook(lambda gradient: _over_ranks(gradient, dist.ReduceOp.SUM) / ranks)
    return module


def _timed(step: TrainingStep, device: str) -> float:
    """Return the seconds of one step on the slowest rank."""
    dist.barrier()
    started = time.perf_counter()
    step.step()
    if device == "cuda":
        torch.cuda.synchronize()
    spent = torch.tensor([time.perf_counter() - started], dtype=torch.float64, device=device)
    return float(_over_ranks(spent, dist.ReduceOp.MAX))


def _over_ranks(values: Tensor, how: dist.ReduceOp.RedOpType) -> Tensor:
    combined = values.clone()
    dist.all_reduce(combined, how)
    return combined


def _demand_alike(module: nn.Module) -> None:
    """Raise DeepbenchError unless all ranks have the same weights; split tables do not count."""
    split = {id(m.weight) for m in module.modules() if isinstance(m, SplitEmbedding)}
    for name, values in module.named_parameters():
        if id(values) in split:
            continue
        own = values.detach().double().sum().reshape(1)
        least, most = (_over_ranks(own, how) for how in (dist.ReduceOp.MIN, dist.ReduceOp.MAX))
        if not torch.equal(least, most):
            raise DeepbenchError(f"after the last step the ranks have different weights in {name}")
