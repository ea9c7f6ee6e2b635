"""`deepbench scaling`: a network's training on more and more ranks of this machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import (
    device_option,
    measure_alone,
    precision_option,
    printed_as,
    results_folder_if_any,
    say_settings,
)
from deepbench_ops.commands.output_format import counted, show
from deepbench_ops.commands.whole_model_setup import run_recorder, torch_version
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.model import network_size
from deepbench_ops.run_conditions import CACHE, EXECUTION, LAYOUT, demand_usual


@click.command()
@click.argument("name", metavar="MODEL")
@click.option(
    "--ranks", metavar="N,N", default="1,2", show_default=True, help="How many, fewest first."
)
@click.option("--batch", metavar="B", default=8, show_default=True, help="Inputs of each rank.")
@precision_option
@device_option
@click.option("--split", is_flag=True, help="Tables over the ranks, instead of a copy on each.")
@click.option(
    "--seconds",
    metavar="S",
    default=10.0,
    show_default=True,
    help="For each number of ranks, about: 3 steps at least, and 200 at most.",
)
@click.option("--save", is_flag=True, help="Keep it in results/, for the page of whole models.")
@results_folder_if_any
@printed_as("table", "json")
def scaling(
    name: str,
    ranks: str,
    batch: int,
    precision: str,
    device: str,
    split: bool,
    seconds: float,
    save: bool,
    results: Path | None,
    form: str,
) -> None:
    """Time the training of MODEL on one rank, on two, and so on.

    \b
        deepbench scaling wide_deep --batch 1000 --ranks 1,2

    Training is data-parallel: each rank has a batch of its own and, on the cpu, an equal share of
    the processors, the same for every number of ranks. Items are images, sentences, samples or
    tokens; an input of a language model has several tokens. Efficiency is the throughput of a rank
    over that of a rank in the first line. The memory of all ranks is estimated before any of them
    starts. On several machines deepbench fleet plan --training, or:

    \b
        torchrun --nnodes ... -m deepbench_ops.distributed.training '{"network": ..., ...}'
    """
    usual = "eager networks in the published layout, with warm caches"
    demand_usual([CACHE, LAYOUT, EXECUTION], f"deepbench scaling trains {usual}; unset it")
    counts = _counts(ranks)
    from deepbench_ops.distributed.training import rank_memory, scaling_run, training_launch
    from deepbench_ops.distributed.training.training_request import TrainingRequest
    from deepbench_ops.measure import threads

    each = threads.wanted() // max(counts)
    if device == "cpu" and each < 1:
        raise DeepbenchError(
            f"{max(counts)} ranks on {threads.wanted()} threads would wait for each other"
        )
    request = TrainingRequest(name, batch, precision, device, max(each, 1), split, seconds)
    for count in counts:
        rank_memory.demand(request, count)
    versions = {"framework": f"torch {torch_version()}"}
    keep = run_recorder(results, versions, request.threads) if save else None
    measure_alone()
    say_settings()
    size = network_size(name)
    lines: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    for count in counts:
        step_seconds = training_launch.steps(request, count)["seconds"]
        assert isinstance(step_seconds, list)
        run = scaling_run.of(request, count, step_seconds)
        runs.append(run)
        level = run["step_seconds"]
        one = lines[0] if lines else None
        items = size.items * batch * count
        throughput = items / level
        ideal = one["items_per_second"] * count / counts[0] if one else throughput
        lines.append(
            {
                "ranks": count,
                "batch": batch * count,
                "threads": request.threads,
                "steps": len(step_seconds),
                "step_seconds": level,
                "low": run["low"],
                "high": run["high"],
                "item": size.item,
                "items": items,
                "items_per_second": throughput,
                "efficiency": throughput / ideal,
            }
        )
    if keep is not None:
        keep(runs)
    show(form, lambda: _as_table(lines), lambda: lines)


def _counts(text: str) -> list[int]:
    """Return each number once, the smallest first: the others are held against it."""
    try:
        counts = sorted({int(part) for part in text.split(",")})
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise DeepbenchError(f"--ranks is {text!r}: give numbers from 1 on, like 1,2,4")
    return counts


def _step(line: Mapping[str, Any]) -> str:
    """Return the median time of a step in milliseconds, its interval where it has one, and the
    number of steps."""
    step, low, high = line["step_seconds"], line["low"], line["high"]
    reach = "" if low is None else f"{1e3 * low:.4g} to {1e3 * high:.4g}, "
    return f"{1e3 * step:.4g} ({reach}{line['steps']} steps)"


def _as_table(lines: list[dict[str, Any]]) -> str:
    shown = [
        [
            line["ranks"],
            line["items"],
            line["threads"],
            _step(line),
            f"{line['items_per_second']:.4g}",
            f"{line['efficiency']:.2f}",
        ]
        for line in lines
    ]
    fewest, item = lines[0]["ranks"], lines[0]["item"]
    columns = [
        terminal_tables.Column("ranks", right=True),
        terminal_tables.Column(f"{item} a step", right=True),
        terminal_tables.Column("threads of each", right=True),
        terminal_tables.Column("step ms", wrap=12),
        terminal_tables.Column(f"{item}/s", right=True),
        terminal_tables.Column(f"efficiency against {counted(int(fewest), 'rank')}", right=True),
    ]
    return terminal_tables.table(columns, shown)
