"""Whole models of the published tables, and modern ones: a network and a number of inputs."""

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

TITLES = {
    "resnet34": "ResNet-34",
    "resnet50": "ResNet-50",
    "resnet50_v1p5": "ResNet-50 v1.5",
    "resnet101": "ResNet-101",
    "densenet101": "DenseNet-121",
    "mobilenet_v2": "MobileNet v2",
    "googlenet": "GoogLeNet",
    "lstm": "LSTM on reviews",
    "bert_128": "BERT, 128 words",
    "bert_256": "BERT, 256 words",
    "bert_512": "BERT, 512 words",
    "bert_pretraining_128": "BERT pretraining, 128 words",
    "bert_large_128": "BERT-Large, 128 words",
    "bert_large_384": "BERT-Large, 384 words",
    "xlnet": "XLNet",
    "deepfm": "DeepFM",
    "dlrm": "DLRM",
    "dlrm_1m": "DLRM, tables of a million rows",
    "dssm": "DSSM",
    "mmoe": "MMoE",
    "wide_deep": "Wide & Deep",
    "llama_1b_prefill_128": "Llama 1B, prompt of 128 tokens",
    "llama_1b_decode_512": "Llama 1B, one token after 512",
    "llama_1b_4layers_128": "Llama 1B, 4 layers, 128 tokens",
    "qwen3_30b_a3b_layer_128": "Qwen3 30B-A3B, one layer, 128 tokens",
    "vit_b16": "ViT-B/16",
}
"""Readable names of the networks; densenet101 is a DenseNet-121, as its note says."""


@dataclass(frozen=True)
class NetworkSize:
    """Sizes of one network: a line of networks.csv, written by scripts/make_model_tables.py.

    item: unit of throughput: images, sentences or tokens. items: number of these in an input: 128
    for a prompt of 128 tokens, 1 for a picture. Below, "per item" means per input.

    parameters: number of all parameters. dense: number of those that every forward pass reads,
    without tables in which it looks up rows. trained: number of parameters with a dense gradient.
    states: numbers of optimiser state per parameter. sparse: numbers per item in sparse gradients.

    flops: floating-point operations of the forward pass per item, two for a multiply-add, of
    products and convolutions only; flops_once: further ones of a batch that do not depend on its
    items. step, step_once: the same for forward and backward pass together. The gradients of the
    inputs and of the weights of a layer take as many as its forward pass each; the gradient of the
    network's input is not computed. Pairs that a causal mask hides do not count.

    reads, writes: input numbers (with looked-up rows) and output numbers per item; reads_once: rows
    that are looked up once for all items. kept: numbers per item that training keeps for the
    backward pass. live: largest count of numbers per item that inference has in memory at the same
    time, with the input; integers of eight bytes count two. note: the choice where the table
    leaves it open.
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
    """A network on `batch` inputs; in inference on each of `threads` threads at the same time.

    Each thread has a batch of its own, and the seconds are those from the start of a batch to its
    output. whole: False for the small twin that is checked.

    Raises DeepbenchError for an unknown name of a network.
    """

    family: ClassVar[str] = "model"
    heading: ClassVar[str] = "whole models"
    title_names_operation: ClassVar[bool] = False
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
    training_version: ClassVar[str] = "2"
    """`benchmark_version` of published training steps: 1 timed the first step of torch's long
    ones."""
    operations_version: ClassVar[str] = "3"
    """`benchmark_version` of the operations of a step alone: earlier ones timed the parts of batch
    normalisations, of gradients of SiLU and of dropout, which no step runs."""
    layouts: ClassVar[tuple[str, ...]] = ("published", "channels_last")
    served: ClassVar[tuple[str, ...]] = ("forward",)
    listed_in: ClassVar[tuple[str, ...]] = SETS

    name: Annotated[str, "name of the network, such as resnet50"]
    batch: Annotated[int, "inputs in a batch"]
    threads: Annotated[int, "batches at the same time"] = 1
    whole: Annotated[bool, "the published size, not the small twin"] = True

    @staticmethod
    def few(listed: Sequence[Problem]) -> Sequence[Problem]:
        """Return every network once: its smallest batch of more than one item, on one thread.

        A network that is listed with single items only has one item.
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
        """Id such as resnet50_b16_t12: network, batch, and the number of threads if above 1."""
        small = "" if self.whole else "small_"
        together = f"_t{self.threads}" if self.threads > 1 else ""
        return f"{small}{self.name}_b{self.batch}{together}"

    @property
    def title(self) -> str:
        """Title such as "ResNet-50, batch 16, 12 at once"."""
        together = f", {self.threads} at once" if self.threads > 1 else ""
        return f"{TITLES[self.name]}, batch {self.batch}{together}"

    @property
    def network(self) -> NetworkSize:
        """Sizes of the network."""
        return network_size(self.name)

    @property
    def flops(self) -> int:
        """FLOPs of products and convolutions in the forward passes of all simultaneous batches."""
        return self.network.flops_once * self.threads + self.network.flops * self.inputs

    @property
    def inputs(self) -> int:
        """Number of inputs (pictures, sentences, prompts) of all simultaneous batches."""
        return self.batch * self.threads

    @property
    def items(self) -> int:
        """Number of images, sentences or tokens of all simultaneous batches; divided by the seconds
        it is the throughput."""
        return self.inputs * self.network.items

    def version_of(self, operation: str) -> str:
        """Version of the benchmarks of an operation, another one for published training steps and
        for the operations of a step alone."""
        if operation.endswith(OPERATIONS_SUFFIX):
            return self.operations_version
        return self.training_version if self._is_published(operation) else self.benchmark_version

    def unrecorded_version_of(self, operation: str) -> str:
        """Version of older rounds."""
        return "2" if self._is_published(operation) else "1"

    def _is_published(self, operation: str) -> bool:
        """Whether an operation is a training step of a published size."""
        return _trains(operation) and "training" in self.sets

    def flops_of(self, operation: str) -> float:
        """FLOPs of an operation: both passes of a training step, without those of the optimiser."""
        if not _trains(operation):
            return super().flops_of(operation)
        return float(self.network.step_once * self.threads + self.network.step * self.inputs)

    @property
    def fast_factor(self) -> float:
        """Factor of convolutions with filters larger than 1 x 1, which networks contain."""
        return FAST_ALGORITHM

    def traffic(self) -> tuple[int, int]:
        """Weights, inputs and looked-up rows read once, outputs written once."""
        size = self.network
        read = size.dense + size.reads_once + size.reads * self.inputs
        return read, size.writes * self.inputs

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of an operation; a training step also moves gradients and optimiser state.

        Forward and backward pass each read the weights. The optimiser reads and writes weights,
        gradients and state, in float32 for every type of products: whole tables, or only the
        looked-up rows for tables with sparse gradients.
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
    """Return the sizes of a network; raise DeepbenchError with similar names if none exists."""
    known = network_sizes()
    if name not in known:
        raise unknown("model", name, known)
    return known[name]


@cache
def network_sizes() -> Mapping[str, NetworkSize]:
    """Return all networks by name, in the order of networks.csv."""
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
