"""`deepbench latency`: a whole model in inference, on one thread or several at once."""

import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deepbench_ops.analysis.percentiles import (
    PERCENTILES,
    fewest_batches,
    percentiles,
    with_reasons,
)
from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import (
    device_option,
    precision_option,
    printed_as,
    results_folder_if_any,
)
from deepbench_ops.commands.output_format import show
from deepbench_ops.commands.whole_model_setup import demand, prepared_model, run_recorder
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.run_conditions import CACHE, EXECUTION, LAYOUT, demand_usual

if TYPE_CHECKING:
    from deepbench_ops.backends.torch_backend.device import TorchDevice
    from deepbench_ops.backends.torch_backend.serving import Serving

WARM_UP = 0.2
"""Of the time measured, before it."""

DERIVED = ("item", "items_per_second")
"""Figures that are printed and not stored: they follow from the seconds and the network."""


@click.command()
@click.argument("name", metavar="MODEL")
@click.option("--batch", metavar="B", default=1, show_default=True, help="Inputs in a batch.")
@click.option(
    "--at-once",
    "--threads",
    "at_once",
    metavar="T",
    default=1,
    show_default=True,
    help="Batches that run at the same time; --threads is the older name.",
)
@precision_option
@click.option(
    "--by",
    "execution",
    type=click.Choice(EXECUTION.values),
    default=EXECUTION.usual,
    show_default=True,
    envvar=EXECUTION.variable,
    help="The way it is run.",
)
@device_option
@click.option(
    "--layout",
    type=click.Choice(LAYOUT.values),
    default=LAYOUT.usual,
    show_default=True,
    envvar=LAYOUT.variable,
    help="Pictures' channels outside (as published) or inside.",
)
@click.option("--inter-op", metavar="N", type=int, help="torch's threads between operations.")
@click.option("--seconds", metavar="S", default=10.0, show_default=True, help="How long.")
@click.option(
    "--batches",
    metavar="N",
    default=1,
    show_default=True,
    help="How many at least, however long they take: of 10 there is a 90th percentile, of 100 a"
    " 99th.",
)
@click.option("--save", is_flag=True, help="Keep it in results/, for the page of whole models.")
@results_folder_if_any
@printed_as("table", "json")
def latency(
    name: str,
    batch: int,
    at_once: int,
    precision: str,
    execution: str,
    device: str,
    layout: str,
    inter_op: int | None,
    seconds: float,
    batches: int,
    save: bool,
    results: Path | None,
    form: str,
) -> None:
    """Time a whole model in inference: median, percentiles and throughput.

    \b
        deepbench latency resnet50 --batch 16 --at-once 2

    MODEL runs on T batches of B inputs at once, again and again, each on a thread of its own.
    Printed are the seconds of a batch (median, 90th and 99th percentile) and the throughput, in
    images, sentences, samples or tokens a second: those of T batches, over the median. A percentile
    of too few batches is left out. Outputs are compared with float64 before the timing. Caches are
    warm; DEEPBENCH_EXECUTION and DEEPBENCH_LAYOUT count where --by and --layout are not given.
    """
    demand_usual([CACHE], "deepbench latency measures with warm caches; unset it")
    demand("--batch", batch)
    demand("--at-once", at_once)
    demand("--batches", batches)
    if inter_op is not None:
        demand("--inter-op", inter_op)
    if not 0 < seconds < math.inf:
        raise DeepbenchError(f"--seconds is {seconds:g}: give a number above 0 that has an end")
    backend, problem = prepared_model(name, batch, precision, "forward", device, at_once)
    from deepbench_ops.backends.torch_backend.backend import TorchBackend
    from deepbench_ops.backends.torch_backend.serving import BatchThreads, Serving

    assert isinstance(backend, TorchBackend)
    count = backend.threads()
    if device == "cpu" and at_once > count:
        click.echo(
            f"warning: {at_once} batches at once on {count} threads wait for each other", err=True
        )
    backend.execution, backend.layout = execution, layout
    if inter_op is not None:
        _set_inter_op(backend, inter_op)
    keep = run_recorder(results, backend.versions(), count) if save else None
    serving = Serving(backend, problem, precision)
    crew = BatchThreads(at_once, serving.threads["intra_op"], serving.served)
    crew.latencies(WARM_UP * seconds)
    off, drift = _off(serving)
    batch_seconds = crew.latencies(seconds, math.ceil(batches / at_once))
    found = {
        "model": name,
        "batch": batch,
        "threads": at_once,
        "precision": precision,
        "framework": backend.versions()["framework"],
        "by": execution,
        "layout": layout,
        "inter_op": inter_op,
        **{f"{name}_threads": count for name, count in serving.threads.items()},
        "off": off,
        "drift": drift,
        "batches": len(batch_seconds),
        "median_seconds": statistics.median(batch_seconds),
        **percentiles(batch_seconds),
        "item": problem.network.item,
        "items_per_second": problem.items / statistics.median(batch_seconds),
    }
    if keep is not None:
        kept = {key: value for key, value in found.items() if key not in DERIVED}
        keep([{"kind": "latency", "device": device, **kept}])
    show(form, lambda: _as_text(with_reasons(found)), lambda: with_reasons(found))


def _set_inter_op(backend: "TorchDevice", count: int) -> None:
    """Give torch so many threads between operations. ONNX Runtime has one, and is not asked."""
    from deepbench_ops.backends.torch_backend.execution import ONNX_INTER_OP

    if backend.execution != "onnxruntime":
        backend.set_inter_op(count)
    elif count != ONNX_INTER_OP:
        raise DeepbenchError(
            f"--inter-op is {count}: ONNX Runtime does operations one after the other here, on"
            f" {ONNX_INTER_OP}"
        )


def _off(serving: "Serving") -> tuple[float, float]:
    """Return how far the outputs are from float64; see Serving.off.

    DeepbenchError where one is further than the precision explains.
    """
    errors, (_, allowed) = serving.errors(), serving.reference.everywhere()
    if not (errors <= allowed).all():
        raise DeepbenchError(
            f"the outputs are off by {errors.max():.3g} where {allowed.max():.3g} is allowed, and"
            " are not timed"
        )
    return serving.relative_errors()


def _as_text(found: dict[str, Any]) -> str:
    times = [f"median {found['median_seconds'] * 1e3:.4g}"]
    for name, percent in PERCENTILES.items():
        why = found["why_not"].get(name)
        none = f"none {why} (--batches {fewest_batches(percent)})"
        value = none if why else f"{found[name] * 1e3:.4g}"
        times.append(f"{percent} % {value}")
    text = (
        f"{found['model']}, {found['precision']}, batch {found['batch']}, {found['threads']} at"
        f" once, {found['framework']}, {found['by']}, {found['layout']} layout\n"
        f"threads: {found['intra_op_threads']} within an operation,"
        f" {found['inter_op_threads']} between operations\n"
        f"outputs off by {found['off']:.1e} of the typical one at most,"
        f" {found['drift']:.1e} in root mean square, against float64\n"
        f"latency ms: {', '.join(times)} ({found['batches']} batches)\n"
        f"throughput: {found['items_per_second']:.4g} {found['item']} a second"
    )
    return "\n".join(terminal_tables.prose(line, "  ") for line in text.split("\n"))
