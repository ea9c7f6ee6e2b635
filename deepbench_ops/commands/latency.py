"""`deepbench latency`: a whole model in inference, on one thread or several at once."""

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.backends import DEVICES
from deepbench_ops.commands.options import results_folder
from deepbench_ops.commands.whole_model import demand, keeper, ready
from deepbench_ops.conditions import EXECUTION
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import PRECISIONS

if TYPE_CHECKING:
    from deepbench_ops.backends.torch_backend.model import Serving

WARM_UP = 0.2
"""Of the time measured, before it."""

FEWEST = 20
"""Batches below which a 99th percentile is only the longest."""


@click.command()
@click.argument("name", metavar="MODEL")
@click.option("--batch", metavar="B", default=1, show_default=True, help="Items at once.")
@click.option("--threads", metavar="T", default=1, show_default=True, help="Batches at once.")
@click.option("--precision", type=click.Choice(PRECISIONS), default="float32", show_default=True)
@click.option(
    "--by",
    "execution",
    type=click.Choice(EXECUTION.values),
    default=EXECUTION.usual,
    show_default=True,
    help="What runs it.",
)
@click.option("--device", type=click.Choice(DEVICES), default="cpu", show_default=True)
@click.option("--seconds", metavar="S", default=10.0, show_default=True, help="How long.")
@click.option("--save", is_flag=True, help="Keep it in results/, for the page of whole models.")
@results_folder
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
def latency(
    name: str,
    batch: int,
    threads: int,
    precision: str,
    execution: str,
    device: str,
    seconds: float,
    save: bool,
    results: Path,
    form: str,
) -> None:
    """Run MODEL on T batches of B items at once, again and again, each on a thread of its own.

    Prints how long a batch takes (median, 90th and 99th percentile) and how many items are done in
    a second, which is B x T / the median. Outputs are compared with float64 beforehand.
    """
    demand("--batch", batch)
    demand("--threads", threads)
    if not seconds > 0:
        raise DeepbenchError(f"--seconds is {seconds:g}: give more than 0")
    backend, problem = ready(name, batch, precision, "forward", device, threads)
    from deepbench_ops.backends.torch_backend import TorchBackend
    from deepbench_ops.backends.torch_backend.model import Crew, Serving

    assert isinstance(backend, TorchBackend)
    count = backend.threads()
    if device == "cpu" and threads > count:
        click.echo(
            f"warning: {threads} batches at once on {count} threads wait for each other", err=True
        )
    backend.execution = execution
    keep = keeper(results, backend.versions(), count) if save else None
    serving = Serving(backend, problem, precision)
    crew = Crew(threads, count, serving.served)
    crew.latencies(WARM_UP * seconds)
    off, drift = _off(serving, precision)
    taken = sorted(crew.latencies(seconds))
    found = {
        "model": name,
        "batch": batch,
        "threads": threads,
        "precision": precision,
        "framework": backend.versions()["framework"],
        "by": execution,
        "off": off,
        "drift": drift,
        "batches": len(taken),
        "median_seconds": statistics.median(taken),
        "p90_seconds": _percentile(taken, 0.90),
        "p99_seconds": _percentile(taken, 0.99),
        "items_per_second": problem.items / statistics.median(taken),
    }
    if keep is not None:
        kept = {key: value for key, value in found.items() if key != "items_per_second"}
        keep([{"kind": "latency", "device": device, **kept}])
    click.echo(json.dumps(found, indent=1) if form == "json" else _as_text(found))


def _off(serving: "Serving", precision: str) -> tuple[float, float]:
    """Return how far the outputs are from float64; see Serving.off.

    DeepbenchError where one is further than the precision explains.
    """
    judge = serving.judge(precision)
    errors, (_, allowed) = serving.errors(judge), judge.everywhere()
    if not (errors <= allowed).all():
        raise DeepbenchError(
            f"the outputs are off by {errors.max():.3g} where {allowed.max():.3g} is allowed, and"
            " are not timed"
        )
    return serving.off(judge)


def _percentile(ordered: list[float], part: float) -> float:
    """Return the smallest value that so large a part of all does not exceed."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def _as_text(found: dict[str, object]) -> str:
    times = [f"{float(str(found[key])) * 1e3:.4g}" for key in TIMES]
    few = "" if int(str(found["batches"])) >= FEWEST else ", too few for percentiles"
    return (
        f"{found['model']}, {found['precision']}, batch {found['batch']}, {found['threads']} at"
        f" once, {found['framework']}, {found['by']}\n"
        f"outputs off by {float(str(found['off'])):.1e} of the typical one at most,"
        f" {float(str(found['drift'])):.1e} in root mean square, beside float64\n"
        f"latency ms: median {times[0]}, 90 % {times[1]}, 99 % {times[2]}"
        f" ({found['batches']} batches{few})\n"
        f"throughput: {float(str(found['items_per_second'])):.4g} a second"
    )


TIMES = ("median_seconds", "p90_seconds", "p99_seconds")
