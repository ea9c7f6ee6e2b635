"""noise.json: the noise of every line in asv's graphs.

Noise is the spread between processes of one release, as a share of the time. The file of a graph
holds the lines of all parameters, in the order in which asv enumerates them.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import atomic_write

if TYPE_CHECKING:
    from deepbench_ops.analysis.kernel_lines import Line

FILE = "noise.json"

GRAPH_PART = 3 + len(CONDITIONS)
"""Number of texts at the beginning of a line's key that name its graph."""

NoiseByLine = Mapping[tuple[str, ...], float]
"""The noise of each line, by benchmark, machine, framework, conditions and parameters."""


def noise_by_line(lines: Iterable[Line]) -> NoiseByLine:
    """The noise of every line for which it is known."""
    return {_key(line): line.noise for line in lines if not math.isnan(line.noise)}


def write(html_dir: Path, noise: NoiseByLine, benchmarks: Mapping[str, Any], graphs: Any) -> None:
    """Write html_dir/noise.json: noise by file of a graph and index of the line in it."""
    by_graph: dict[tuple[str, ...], dict[tuple[str, ...], float]] = defaultdict(dict)
    for key, value in noise.items():
        by_graph[key[:GRAPH_PART]][key[GRAPH_PART:]] = value
    found = {}
    for name, benchmark in benchmarks.items():
        places = {texts: i for i, texts in enumerate(product(*benchmark.get("params", ())))}
        for graph in graphs.get_graph_group(name):
            own = by_graph.get(_graph_key(name, graph.params), {})
            placed = sorted((places[texts], n) for texts, n in own.items() if texts in places)
            if placed:
                file = f"{Path(graph.path).as_posix()}.json"
                found[file] = {str(place): float(f"{value:.2g}") for place, value in placed}
    atomic_write.write_text(html_dir / FILE, json.dumps(found, separators=(",", ":")))


def _graph_key(name: str, params: Mapping[str, Any]) -> tuple[str, ...]:
    """The part of the key that all lines of a graph share."""
    variables = {axis.removeprefix("env-"): value for axis, value in params.items()}
    return (
        name,
        str(params.get("machine")),
        str(params.get("branch")),
        *(condition.of(variables) for condition in CONDITIONS),
    )


def _key(line: Line) -> tuple[str, ...]:
    point = line.points[-1]
    return (
        point.benchmark,
        point.machine,
        point.release.framework,
        *point.conditions.values(),
        repr(point.problem_id),
        repr(point.precision),
        *([str(point.ranks)] if point.ranks is not None else []),
    )
