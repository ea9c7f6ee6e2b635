"""Whole models of the published tables and of today: a network, and its inputs at once."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, ClassVar

from deepbench_ops.problems.conv import FAST_ALGORITHM
from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import OPERATIONS_SUFFIX, SETS, Problem, computed
from deepbench_ops.problems.suggestions import unknown


@dataclass(frozen=True)
class NetworkSize:
    """One line of networks.csv, about one network; made by scripts/make_model_tables.py.

    item: what a throughput counts: images, sentences, tokens. items: how many of these an input
    holds: 128 of a prompt of 128 tokens, 1 of a picture. Below, "per item" is per input.
    parameters: all there are. dense: those
    that every forward pass reads, which leaves out tables where it looks up some rows. flops:
    floating-point operations of the forward pass per item, a multiply-add counting two, of
    products and convolutions alone; flops_once: those of a batch in addition, however many items it
    has. reads, writes: numbers that go in (rows looked up included) and come out per item;
    reads_once: rows that are looked up once for all items. kept: numbers per item that training
    keeps for the backward pass. states: numbers per parameter that the optimiser remembers. note:
    what it is where its table leaves that open. trained: parameters that training makes a whole
    gradient of, tables included unless their gradients are sparse. sparse: numbers per item of such
    a gradient. live: numbers per item that inference has at once at most, with what goes in;
    integers of eight bytes count two. step, step_once: FLOPs of forward and backward pass per item,
    and those of a batch in addition: the gradients of the inputs and of the weights cost as much as
    the forward pass each; the gradient of the network's input is not needed. Where a mask is
    causal, pairs of a query and a key that it hides are in none of the FLOPs.
    """

    name: str
    item: str
    parameters: int
    dense: int
    flops: int
    flops_once: int
    reads: int
    reads_once: int
    writes: int
    kept: int
    states: int
    note: str
    trained: int
    sparse: int
    live: int
    step: int
    step_once: int
    items: int


@dataclass(frozen=True)
class Model(Problem):
    """A network on `batch` inputs, on each of `threads` threads at once where it is inference.

    Each thread works on a batch of its own, and the seconds are those of one batch: the time from
    sending it to its answer. whole: False for the small twin that is checked.

    Raises DeepbenchError for a name that is no network's.
    """

    family: ClassVar[str] = "model"
    heading: ClassVar[str] = "whole models"
    id_pattern: ClassVar[str] = r"(?P<name>\w+?)_b(?P<batch>\d+)(?:_t(?P<threads>\d+))?"
    whole_models: ClassVar[bool] = True
    selections: ClassVar[Mapping[str, str]] = {
        "models-training": "training",
        "models-inference": "inference_server",
        "models-modern": "modern",
    }
    operations: ClassVar[tuple[str, ...]] = ("forward", "training_step")
    uncompared: ClassVar[tuple[str, ...]] = (
        *Problem.uncompared,
        *(each + OPERATIONS_SUFFIX for each in operations),
    )
    layouts: ClassVar[tuple[str, ...]] = ("published", "channels_last")
    served: ClassVar[tuple[str, ...]] = ("forward",)
    listed_in: ClassVar[tuple[str, ...]] = SETS

    name: Annotated[str, "name of the network, such as resnet50"]
    batch: Annotated[int, "inputs in a batch"]
    threads: Annotated[int, "batches at the same time"] = 1
    whole: Annotated[bool, "the published size, not the small twin"] = True

    @staticmethod
    def few(listed: Sequence[Problem]) -> Sequence[Problem]:
        """Every network once: its smallest batch of more than one item, on one thread.

        A single item is taken where nothing else is listed; elsewhere it would be a latency.
        """
        found: dict[str, Model] = {}
        for problem in listed:
            assert isinstance(problem, Model)
            if problem.threads == 1:
                known = found.get(problem.name, problem)
                found[problem.name] = min(
                    known, problem, key=lambda one: (one.batch == 1, one.batch)
                )
        return tuple(found.values())

    def __post_init__(self) -> None:
        network_size(self.name)

    @property
    def id(self) -> str:
        """Like resnet50_b16_t12: the network, its batch, the threads where there are several."""
        small = "" if self.whole else "small_"
        together = f"_t{self.threads}" if self.threads > 1 else ""
        return f"{small}{self.name}_b{self.batch}{together}"

    @property
    def network(self) -> NetworkSize:
        """Its sizes."""
        return network_size(self.name)

    @property
    def flops(self) -> int:
        """Those of the network's products and convolutions, forward, over all batches at once."""
        return self.network.flops_once * self.threads + self.network.flops * self.inputs

    @property
    def inputs(self) -> int:
        """Inputs of all batches at once: pictures, sentences, prompts."""
        return self.batch * self.threads

    @property
    def items(self) -> int:
        """Images, sentences or tokens of all batches at once: over the seconds, the throughput."""
        return self.inputs * self.network.items

    def flops_of(self, operation: str) -> float:
        """Of a training step those of both passes; what its optimiser does is not counted."""
        if not _trains(operation):
            return super().flops_of(operation)
        return float(self.network.step_once * self.threads + self.network.step * self.inputs)

    @property
    def fast_factor(self) -> float:
        """That of convolutions with filters larger than 1 x 1, which networks hold."""
        return FAST_ALGORITHM

    def traffic(self) -> tuple[int, int]:
        """Weights once, what is given and looked up once; what comes out once."""
        size = self.network
        read = size.dense + size.reads_once + size.reads * self.inputs
        return read, size.writes * self.inputs

    def bytes_of(self, name: str, operation: str) -> float:
        """A training step moves weights, gradients and what the optimiser remembers as well.

        Weights are read forward and backward; each, its gradient and what is remembered of it is
        read and written by the optimiser, in float32 whatever the products are made in: of a table
        all of it, or the rows that were looked up where its gradient is sparse.
        """
        bytes_of_forward = self.bytes(name)
        if not _trains(operation):
            return bytes_of_forward
        size = self.network
        updated = 4 * (size.trained + size.sparse * self.inputs) * (2 + 2 + 2 * size.states)
        return bytes_of_forward + precision(name).input_bytes * size.dense + updated


def _trains(operation: str) -> bool:
    return computed(operation) == "training_step"


def network_size(name: str) -> NetworkSize:
    """The sizes of the network of that name; DeepbenchError, naming the nearest, if none is."""
    known = network_sizes()
    if name not in known:
        raise unknown("model", name, known)
    return known[name]


@cache
def network_sizes() -> Mapping[str, NetworkSize]:
    """All networks by name, in the order of networks.csv."""
    path = files(__package__).joinpath("networks.csv")
    with path.open(encoding="utf-8") as lines:
        found = [_from_line(line) for line in csv.DictReader(lines)]
    return {size.name: size for size in found}


def _from_line(line: Mapping[str, str]) -> NetworkSize:
    texts = ("name", "item", "note")
    numbers = {name: int(value) for name, value in line.items() if name not in texts}
    return NetworkSize(
        **numbers,  # type: ignore[arg-type]
        **{name: line[name] for name in texts},  # type: ignore[arg-type]
    )
