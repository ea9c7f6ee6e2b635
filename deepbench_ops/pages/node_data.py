"""data/nodes and data/nodes/MACHINE/NUMBER: the nodes of each machine type compared.

The first file has the levels of every node by family. The others, one for each node, have its
kernels. Figures are those of `deepbench fleet nodes` for the newest survey of a machine type.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import node_comparison, node_surveys
from deepbench_ops.fleet.node_comparison import KernelLevel, NodeLevel, NodeTimes, ReleaseKernel
from deepbench_ops.pages.data_files import FOLDER, machine_key, rounded, write_data
from deepbench_ops.problems.problem_lists import find

LEAST_DIFFERENCE = 0.03
"""Share by which a node must differ, with certainty: the usual one of `deepbench fleet nodes`."""

Since = Mapping[tuple[str, Hashable], float]


def write(html_dir: Path, project: Path) -> list[str]:
    """Write the files from the plans in a project's folder that every node has run.

    Returns messages about plans and jobs that cannot be read.
    """
    surveys, problems = node_surveys.find(project)
    folder = html_dir / FOLDER / "nodes"
    types = []
    for machine, own in surveys.items():
        key = machine_key(machine)
        types.append({"machine": machine, "key": key, **_summary(own)})
        for number, rows in enumerate(_kernels(own)):
            write_data(folder / key / str(number), rows)
    write_data(
        folder, {"beyond": LEAST_DIFFERENCE, "fewest": node_comparison.FEWEST_NODES, "types": types}
    )
    return list(problems)


def _summary(surveys: Sequence[Mapping[str, NodeTimes]]) -> dict[str, Any]:
    """The nodes of a machine type in the newest of its surveys, oldest first, each with its levels
    by family; no nodes where they cannot be compared."""
    levels = [node_comparison.compare(nodes, LEAST_DIFFERENCE) for nodes in surveys]
    since = node_comparison.slow_since(levels)
    found: dict[str, dict[str, Any]] = {}
    for level in levels[-1]:
        found.setdefault(level.node, {})[level.family] = _figures(level, since)
    return {
        "measured": sum(bool(each.seconds) for each in surveys[-1].values()),
        "surveys": len(surveys),
        "nodes": [
            {
                "node": node,
                "day": node_surveys.day(times.measured_at) if times.seconds else None,
                "levels": found[node],
            }
            for node, times in surveys[-1].items()
            if node in found
        ],
    }


def _kernels(surveys: Sequence[Mapping[str, NodeTimes]]) -> list[list[dict[str, Any]]]:
    """The kernels of each node of the newest survey, in the order of the nodes; [] where they
    cannot be compared."""
    levels = [node_comparison.compare_kernels(nodes, LEAST_DIFFERENCE) for nodes in surveys]
    since = node_comparison.slow_since(levels)
    found: dict[str, list[dict[str, Any]]] = {node: [] for node in surveys[-1]}
    for level in levels[-1]:
        row = {
            **_named(level.kernel),
            **_figures(level, since),
            "seconds": rounded(level.seconds, 5),
            "median": rounded(level.median, 5),
        }
        found[level.node].append(row)
    return list(found.values()) if levels[-1] else []


def _figures(level: NodeLevel | KernelLevel, since: Since) -> dict[str, Any]:
    """Ratio with its interval, each null where there is none, and the first day of the slow run."""
    slow = since.get(level.place)
    figures = {
        "ratio": rounded(level.ratio, 5) if math.isfinite(level.ratio) else None,
        "low": rounded(level.low, 5) if level.low else None,
        "high": rounded(level.high, 5) if math.isfinite(level.high) else None,
        "kind": level.kind,
        "since": node_surveys.day(slow) if slow is not None else None,
    }
    if isinstance(level, NodeLevel):
        figures |= {"kernels": level.kernels, "missing": level.missing}
    return figures


def _named(kernel: ReleaseKernel) -> dict[str, str]:
    """The parts of a kernel's name, and the readable name of its problem."""
    release, (benchmark, params) = kernel
    problem, *further = params or ("",)
    family, chosen, operation = (*benchmark.split("."), "", "")[:3]
    return {
        "family": family,
        "set": chosen,
        "operation": operation.removeprefix("kernel_"),
        "problem": problem,
        "title": _title(family, problem),
        "precision": ", ".join(further),
        "release": release,
    }


def _title(family: str, problem: str) -> str:
    try:
        return find(family, problem).title
    except DeepbenchError:
        return problem
