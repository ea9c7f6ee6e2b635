"""Make the tables of whole models: sizes, problems, and published figures.

    python scripts/make_model_tables.py FACTS

FACTS is a folder with the four published tables as CSV files. The script writes, in deepbench_ops:

- problems/networks.csv: the sizes of each network, counted on the network itself with torch;
- problems/model.csv: every batch and number of threads of the tables, and smaller ones that fit a
  small machine;
- models/recorded_training_steps.csv: results of a training step of the small twins, by torch in
  float64;
- analysis/published_model_figures.csv: the figures of the tables, each with its problem.

Figures of one device and a known step are also added to results/ as points of their machine.
"""

import argparse
import csv
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import network_rows
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from deepbench_ops.analysis.published_model_figures import FIGURES, SOURCES, SPLIT, TABLES, load
from deepbench_ops.backends.families.model import STEP_ENTRIES
from deepbench_ops.backends.torch_backend import operator_trace, peak_memory
from deepbench_ops.backends.torch_backend.backend import TorchBackend
from deepbench_ops.exchange.published import published_result_filing
from deepbench_ops.exchange.published.published_model_points import publications
from deepbench_ops.models import recorded_training_steps
from deepbench_ops.models.network_catalogue import NETWORKS, STATES, Network
from deepbench_ops.models.training_steps import LOSSES
from deepbench_ops.problems.model import Model
from deepbench_ops.releases.release_table import TABLE, append
from deepbench_ops.storage import atomic_write
from deepbench_ops.storage.csv_text import csv_text

PACKAGE = Path(__file__).parents[1] / "deepbench_ops"

MINDSPORE, QINGCLOUD, STCP920, PAPER = TABLES
DAYS = {
    MINDSPORE: (
        "2022-04-28",
        "release of MindSpore 1.7.0 (mindspore-ascend), whose documentation holds the table",
    ),
    QINGCLOUD: ("2018-03-29", "not before the release of TensorFlow 1.7.0; the page bears no day"),
    STCP920: ("2022-02-24", "the day that the document bears"),
    PAPER: ("2022-04-30", "April 2022, the issue's month; its last day"),
}
"""Day on which each table was published, and its source.

Days of releases are those of the package index.
"""

SPELT = {
    "ResNet-50 v1.5": "resnet50_v1p5",
    "BERT-Large": "bert_large_128",
    "Wide & Deep": "wide_deep",
    "densenet101": "densenet101",
    "dssm_mock": "dssm",
    "dlrm_1M": "dlrm_1m",
    "wdl": "wide_deep",
    "GoogLeNet": "googlenet",
    "LSTM": "lstm",
    "BERT": "bert_pretraining_128",
    "ResNet-50": "resnet50_v1p5",
}
VERSION = (
    "version 1.5, as which MindSpore's own table has the Ascend 910's 2115 images/sec; the paper"
    " does not tell which"
)
"""Reason for reading the paper's ResNet-50 as this network."""

OWN_THREADS = (1, 2)
OWN_TRAINING = {
    "resnet34": (32, 8),
    "resnet50": (8,),
    "resnet50_v1p5": (32, 8),
    "resnet101": (16, 4),
    "densenet101": (8,),
    "mobilenet_v2": (32, 8),
    "googlenet": (32, 8),
    "lstm": (16,),
    "bert_128": (8,),
    "bert_256": (4,),
    "bert_512": (2,),
    "bert_pretraining_128": (32, 8),
    "bert_large_128": (8, 2),
    "bert_large_384": (1,),
    "xlnet": (8, 2),
    "deepfm": (1024,),
    "dlrm": (1024,),
    "dlrm_1m": (1024,),
    "dssm": (1024, 8),
    "mmoe": (51200, 1024),
    "wide_deep": (1200,),
}
"""Further batches: for machines too small for those of the tables, and for networks that the tables
show only in inference."""

LIVE_BATCHES = (4, 8)
"""Two batches between which the memory of inference is assumed to grow linearly."""

COMPARED = ("googlenet", "lstm", "bert_pretraining_128")
"""Networks that the paper trains in both frameworks."""

OWN_INFERENCE = {"googlenet": 128, "lstm": 64, "bert_pretraining_128": 8, "bert_large_128": 8}
"""Batches of networks that the tables show only in training."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("facts", type=Path, metavar="FACTS")
    facts = parser.parse_args().facts
    figures = [
        *_mindspore(_read(facts / "mindspore_training.csv")),
        *_qingcloud(_read(facts / "qingcloud_resnet50.csv")),
        *_stcp920(_read(facts / "streamcomputing_stcp920.csv")),
        *_paper(_read(facts / "pytorch_vs_mindspore.csv")),
    ]
    _write(PACKAGE / "problems/networks.csv", [_sizes(network) for network in NETWORKS.values()])
    _write(PACKAGE / "problems/model.csv", _problems(figures))
    _write(
        PACKAGE / "models/recorded_training_steps.csv",
        [line for name in COMPARED for line in _twin(name)],
    )
    _write(FIGURES, figures)
    dated = publications(each for table in TABLES for each in load(table))
    changed, added = published_result_filing.file(
        PACKAGE.parent / "results", dated, partial(append, TABLE)
    )
    print(f"{changed} result files, {added} days added to the release table")


def _sizes(network: Network) -> dict[str, object]:
    """Return the fields of `problems.model.NetworkSize`, counted on a network without data."""
    with torch.device("meta"):
        module: nn.Module = network.make(network.whole)
    parameters = sum(each.numel() for each in module.parameters())
    looked_up = sum(each.weight.numel() for each in _tables(module))
    if getattr(module, "tied", False):
        looked_up = 0
    if network.builder == "Pretraining":  # its last layer is the whole table of word vectors
        looked_up -= module.encoder.words.weight.numel()
    one, two = (_forward(network, module, batch) for batch in (1, 2))
    (flops, flops_once), (reads, reads_once), (writes, _), (sparse, _) = (
        (more - least, 2 * least - more) for least, more in zip(one, two, strict=True)
    )
    step = step_once = 0
    if not network.untrained:
        step_of_one, step_of_two = (_step(network, module, batch) for batch in (1, 2))
        step, step_once = step_of_two - step_of_one, 2 * step_of_one - step_of_two
        step -= 3 * network.whole.masked
    return {
        "name": network.name,
        "item": network.item,
        "parameters": parameters,
        "dense": parameters - looked_up,
        "flops": flops - network.whole.masked,
        "flops_once": flops_once,
        "reads": reads,
        "reads_once": reads_once,
        "writes": writes,
        "kept": _kept(network, module, 2) - _kept(network, module, 1),
        "states": 0 if network.untrained else STATES[network.recipe],
        "note": network.note,
        "trained": 0 if network.untrained else sum(map(_trained, module.modules())),
        "sparse": sparse,
        "live": _live(network, module),
        "step": step,
        "step_once": step_once,
        "items": network.items,
    }


def _forward(network: Network, module: nn.Module, batch: int) -> tuple[int, int, int, int]:
    """Return counts of a batch: FLOPs, input numbers including table rows, output numbers, and
    numbers of sparse gradients."""
    rows = sparse = 0

    def count_rows(table: nn.Module, given: tuple[torch.Tensor], made: torch.Tensor) -> None:
        nonlocal rows, sparse
        numbers = given[0].numel() * table.weight.shape[1]
        rows += numbers
        sparse += numbers * table.sparse

    hooks = [table.register_forward_hook(count_rows) for table in _tables(module)]
    given = _meta(network.whole.inputs(batch))
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        made = module.eval()(*given)
    for hook in hooks:
        hook.remove()
    real = sum(each.numel() for each in given if each.is_floating_point())
    outputs = made if isinstance(made, tuple) else (made,)
    made_numbers = sum(each.numel() for each in outputs)
    return counter.get_total_flops(), real + rows, made_numbers, sparse


def _tables(module: nn.Module) -> list[nn.Embedding | nn.EmbeddingBag]:
    return [each for each in module.modules() if isinstance(each, nn.Embedding | nn.EmbeddingBag)]


def _trained(layer: nn.Module) -> int:
    """Return how many numbers of a layer's own parameters have a dense gradient."""
    if getattr(layer, "sparse", False):
        return 0
    own = layer.parameters(recurse=False)
    return sum(each.numel() for each in own if each.requires_grad)


def _live(network: Network, module: nn.Module) -> int:
    """Return how many 4-byte numbers an item adds to the peak memory of inference."""

    def run(batch: int) -> int:
        given = [torch.empty_like(each) for each in _meta(network.whole.inputs(batch))]
        return sum(each.nbytes for each in given) + peak_memory.peak_bytes(lambda: module(*given))

    module.eval()
    few, more = LIVE_BATCHES
    with torch.inference_mode():
        return -(-(run(more) - run(few)) // (4 * (more - few)))


def _twin(name: str) -> Iterable[dict[str, object]]:
    """Yield loss and gradients of a training step of the twin in float64, with the limits for
    float32."""
    twin = Model(name=name, batch=recorded_training_steps.BATCH, whole=False)
    judge = TorchBackend().build(twin, "float32", "training_step").reference
    recorded = (each[:STEP_ENTRIES] for each in judge.everywhere())
    for place, (expected, allowed) in enumerate(zip(*recorded, strict=True)):
        yield {
            "network": name,
            "place": place,
            "expected": f"{expected:.12g}",
            "allowed": f"{allowed:.3g}",
        }


def _loss(network: Network, module: nn.Module, batch: int) -> torch.Tensor:
    """Return the loss of a batch; for a network that is not trained, the sum of its output."""
    form = network.whole
    made = module.train()(*_meta(form.inputs(batch)))
    if network.untrained:
        return made.sum()
    return LOSSES[network.loss](made, *_meta(form.targets(batch)))


def _step(network: Network, module: nn.Module, batch: int) -> int:
    """Return the FLOPs of the products of a batch, forward and backward."""
    found = operator_trace.operations(lambda: _loss(network, module, batch).backward())
    return round(sum(each.flops * each.calls for each in found))


def _kept(network: Network, module: nn.Module, batch: int) -> int:
    """Return how many 4-byte numbers a training step of `batch` items keeps."""
    storages: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        storages[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        _loss(network, module, batch)
    return sum(storage.nbytes() for storage in storages.values()) // 4


def _meta(arrays: Iterable[object]) -> list[torch.Tensor]:
    return [torch.as_tensor(values).to("meta") for values in arrays]


def _problems(figures: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return a line for each network, batch and number of threads, with its sets."""
    found: dict[tuple[str, int, int], dict[str, object]] = {}

    def add(name: str, batch: int, threads: int, listed: str, source: str) -> None:
        line = found.setdefault(
            (name, batch, threads),
            {
                "name": name,
                "batch": batch,
                "threads": threads,
                "training": 0,
                "inference_server": 0,
                "inference_device": 0,
                "modern": 0,
                "modern_full": 0,
                "application": "",
                "source": source,
                "note": NETWORKS[name].note,
                "aliases": "",
                "timed": "",
            },
        )
        line[listed] = 1
        if source not in str(line["source"]):
            line["source"] = f"{line['source']}; {source}"

    own = "smaller than published, or of another form, to fit a small machine"
    for figure in figures:
        if figure["batch"]:
            listed = "training" if figure["operation"] == "training_step" else "inference_server"
            place = (str(figure["network"]), int(str(figure["batch"])), int(str(figure["threads"])))
            add(*place, listed, SOURCES[str(figure["table"])])
    published = {(key[0], key[1]) for key, line in found.items() if line["inference_server"]}
    for name, batch in published | set(OWN_INFERENCE.items()):
        for threads in OWN_THREADS:
            add(name, batch, threads, "inference_server", own)
        add(name, 1, 1, "inference_server", own)
    for name, batches in OWN_TRAINING.items():
        for batch in batches:
            add(name, batch, 1, "training", own)
    order = {name: place for place, name in enumerate(NETWORKS)}
    key = sorted(found, key=lambda each: (order[each[0]], -each[1], each[2]))
    return [*({"id": _id(*each), **found[each]} for each in key), *network_rows.rows()]


def _id(name: str, batch: int, threads: int) -> str:
    return f"{name}_b{batch}" + (f"_t{threads}" if threads > 1 else "")


def _figure(table: str, name: str, **known: object) -> dict[str, object]:
    """Return one printed figure. Missing facts are ""; seconds are those of one step or batch."""
    empty = dict.fromkeys(("printed", "framework", "machine", "day", "basis", "devices"))
    empty |= dict.fromkeys(("operation", "precision", "layout"))
    line = {"table": table, "network": SPELT.get(name, name), **empty, "batch": "", "threads": 1}
    line |= dict(zip(("day", "basis"), DAYS[table], strict=True))
    line |= dict.fromkeys(("value", "unit", "seconds", "conditions", "efficiency", "platform"))
    line |= dict.fromkeys(("cores", "latency_ms", "loss", "accuracy", "note"))
    line |= {"printed": name} | known
    return {key: "" if value is None else value for key, value in line.items()}


def _mindspore(lines: Iterable[Mapping[str, str]]) -> Iterable[dict[str, object]]:
    for line in lines:
        batch, devices = int(line["batch_size_per_step"].split("*")[0]), line["num_accelerators"]
        hybrid = "hybrid" in line["parallelism"]
        yield _figure(
            MINDSPORE,
            line["network"],
            framework=f"MindSpore {line['mindspore_version']}",
            machine="huawei-ascend-910",
            devices=devices,
            operation="training_step",
            precision=line["precision"],
            batch=batch,
            value=line["throughput"],
            unit=line["unit"],
            seconds=_seconds(batch * int(devices), float(line["throughput"])),
            conditions=SPLIT if hybrid else "",
            efficiency=line["published_speedup"],
            platform=line["platform"],
            cores=line["cpu_cores"],
        )


def _qingcloud(lines: Iterable[Mapping[str, str]]) -> Iterable[dict[str, object]]:
    for line in lines:
        devices = int(line["num_gpus"])
        cores, kind = re.fullmatch(r"(\d+) cores \((\w+)\)", line["cpu"]).groups()
        named = "" if kind == "default" else f"-{kind.lower()}"
        machine = "qingcloud-gpu" if devices else f"qingcloud-cpu-{cores}core{named}"
        yield _figure(
            QINGCLOUD,
            line["model"],
            framework=line["framework"],
            machine=machine,
            devices=devices,
            operation="training_step" if line["mode"] == "training" else "forward",
            precision="float32",
            layout=line["data_format"],
            batch=line["batch_size"],
            value=line["images_per_sec"],
            unit="images/sec",
            seconds=_seconds(
                int(line["batch_size"]) * max(1, devices), float(line["images_per_sec"])
            ),
            conditions=f"{line['environment']}, {line['cpu']}",
        )


def _stcp920(lines: Iterable[Mapping[str, str]]) -> Iterable[dict[str, object]]:
    for line in lines:
        yield _figure(
            STCP920,
            line["model"],
            framework=line["framework"],
            machine="stream-stcp920",
            devices=1,
            operation="forward",
            precision={"FP16": "float16", "INT8": "int8"}[line["precision"]],
            batch=line["batch_size"],
            threads=line["thread_num"],
            value=line["throughput_samples_per_sec"],
            unit="samples/sec",
            seconds=float(line["latency_ms"]) / 1000,
            latency_ms=line["latency_ms"],
        )


def _paper(lines: Iterable[Mapping[str, str]]) -> Iterable[dict[str, object]]:
    for line in lines:
        *devices, batch = line["batch_size"].split("*")  # 8*256 is 256 on each of eight
        yield _figure(
            PAPER,
            line["model"],
            framework=line["framework"],
            machine={"NVIDIA V100": "nvidia-v100", "Ascend 910": "huawei-ascend-910"}[
                line["hardware"]
            ],
            devices=devices[0] if devices else 1,
            operation="training_step",
            batch=batch,
            value=line["value"],
            unit=line["unit"],
            loss=line["loss"],
            accuracy=line["accuracy_percent"],
            note=VERSION if line["model"] == "ResNet-50" else "",
        )


def _seconds(items: int, per_second: float) -> float:
    return float(f"{items / per_second:.6g}")


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _write(path: Path, lines: list[dict[str, object]]) -> None:
    cells = ([line.get(column) for column in lines[0]] for line in lines)
    atomic_write.write_text(path, csv_text([lines[0], *cells]))
    print(f"{path.name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
