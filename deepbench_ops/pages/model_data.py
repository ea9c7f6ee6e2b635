"""data/models: published tables of whole models next to measured times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from deepbench_ops.analysis import missing_reasons
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.model_latency_points import with_latency_runs
from deepbench_ops.analysis.model_overhead import overheads
from deepbench_ops.analysis.model_tables import rows
from deepbench_ops.analysis.percentiles import with_reasons
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.published_model_figures import TABLES, load
from deepbench_ops.pages.data_files import rounded
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.storage import model_run_fields

SOURCES = {
    "mindspore": (
        "MindSpore",
        "Training of ResNet-50, BERT-Large and Wide & Deep on Ascend 910.",
    ),
    "qingcloud": ("QingCloud", "ResNet-50, training and inference, on CPU and GPU."),
    "stcp920": ("Stream Computing", "Inference on the STCP920, V1.2.0.RC1."),
    "paper": ("Xia and Zhou", "GoogLeNet, LSTM and BERT in PyTorch and in MindSpore on a V100."),
}
"""Title and description of the source of each published table."""


PLACEMENT = ("nodes", "ranks_per_node", "interconnect", model_run_fields.LAUNCHER)
"""Conditions of a run over several nodes, by which the page names the command that repeats it."""


def content(machines: Sequence[MachineRecord], lines: Sequence[Line]) -> dict[str, Any]:
    """The published tables, the overhead of models over their operations, and the stored runs.

    The tables have a cell for each machine that has measured whole models, or has runs of latency
    of a release that has times on any machine; unsteady times are left out, and counted. The runs
    are those of latency and of scaling.
    """
    measured: dict[str, list[Point]] = defaultdict(list)
    for line in lines:
        for point in line.points:
            if point.family == "model" and point.release.measurable:
                measured[point.machine].append(point)
    releases = {point.release.name: point.release for line in lines for point in line.points}
    runs = {machine.name: machine.runs for machine in machines}
    compared = {
        name: with_latency_runs(
            name,
            [point for point in measured[name] if not point.unsteady],
            runs.get(name, ()),
            releases,
        )
        for name in dict.fromkeys([*measured, *runs])
    }
    compared = {name: found for name, found in compared.items() if found or measured[name]}
    reasons = {
        machine.name: missing_reasons.resources_of(machine.entry, machine.profile)
        for machine in machines
    }
    return {
        "machines": list(compared),
        "unsteady": {
            name: count
            for name, found in measured.items()
            if (count := sum(bool(point.unsteady) for point in found))
        },
        "sources": {
            name: {"title": title, "about": about} for name, (title, about) in SOURCES.items()
        },
        "tables": {name: rows(load(name), compared, reasons) for name in TABLES},
        "apart": [
            {
                "machine": one.whole.machine,
                "release": one.whole.release.name,
                "problem": one.whole.problem_id,
                "title": one.whole.problem.title,
                "operation": one.whole.operation,
                "precision": one.whole.precision,
                "seconds": rounded(one.whole.seconds, 5),
                "operations": rounded(one.operations.seconds, 5),
                "interval": [rounded(end, 4) for end in one.interval or ()],
                **one.whole.unusual,
            }
            for points in measured.values()
            for one in overheads(points)
        ],
        **{
            kind: [
                {**_page_fields(run), "machine": machine.name}
                for machine in machines
                for run in machine.runs
                if run["kind"] == kind
            ]
            for kind in model_run_fields.ASKED
        },
    }


def _page_fields(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a run that the page shows; percentiles only if there are enough batches.

    Of the conditions these are the nodes, ranks of each, interconnect and launcher of a fleet's
    training.
    """
    fields = with_reasons(run) if run["kind"] == "latency" else run
    conditions = run.get("conditions") or {}
    placed = {name: conditions[name] for name in PLACEMENT if name in conditions}
    return {key: value for key, value in fields.items() if key != "conditions"} | placed
