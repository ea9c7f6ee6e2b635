"""noise.json: how far processes of one release lie apart, for every line of every graph.

A graph's file holds the lines of all parameters, in the order in which asv counts them through.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepbench_ops.conditions import CONDITIONS
from deepbench_ops.storage import atomic

if TYPE_CHECKING:
    from deepbench_ops.analysis.history import Line

FILE = "noise.json"

RUN = 3 + len(CONDITIONS)
"""Texts at the beginning of a line's key that its whole graph shares."""

Noises = Mapping[tuple[str, ...], float]
"""By what tells a line from others, in asv's words, its noise."""


def known(lines: Iterable[Line]) -> Noises:
    """The noise of every line that has one."""
    return {_key(line): line.noise for line in lines if not math.isnan(line.noise)}


def write(html_dir: Path, noises: Noises, benchmarks: Mapping[str, Any], graphs: Any) -> None:
    """Write html_dir/noise.json: by graph file and place in it the noise of the line there."""
    by_graph: dict[tuple[str, ...], dict[tuple[str, ...], float]] = defaultdict(dict)
    for key, noise in noises.items():
        by_graph[key[:RUN]][key[RUN:]] = noise
    found = {}
    for name, benchmark in benchmarks.items():
        places = {texts: i for i, texts in enumerate(product(*benchmark.get("params", ())))}
        for graph in graphs.get_graph_group(name):
            own = by_graph.get(_run(name, graph.params), {})
            told = sorted((places[texts], noise) for texts, noise in own.items() if texts in places)
            if told:
                file = f"{Path(graph.path).as_posix()}.json"
                found[file] = {str(place): float(f"{noise:.2g}") for place, noise in told}
    atomic.write_text(html_dir / FILE, json.dumps(found, separators=(",", ":")))


def _run(name: str, params: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a graph's lines from those of others."""
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
