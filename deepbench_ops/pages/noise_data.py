"""noise.json: how far processes of one release lie apart, for every line of every graph.

A graph's file holds the lines of all parameters, in the order in which asv counts them through.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepbench_ops.conditions import CONDITIONS

if TYPE_CHECKING:
    from deepbench_ops.analysis.history import Line

FILE = "noise.json"

Noises = Mapping[tuple[str, ...], float]
"""By what tells a line from others, in asv's words, its noise."""


def known(lines: Iterable[Line]) -> Noises:
    """The noise of every line that has one."""
    return {_key(line): line.noise for line in lines if not math.isnan(line.noise)}


def write(html_dir: Path, noises: Noises, benchmarks: Mapping[str, Any], graphs: Any) -> None:
    """Write html_dir/noise.json: by graph file and place in it the noise of the line there."""
    found = {}
    for name, benchmark in benchmarks.items():
        places = list(product(*benchmark.get("params", ())))
        for graph in graphs.get_graph_group(name):
            own = _of_graph(name, graph.params, places, noises)
            if own:
                found[f"{Path(graph.path).as_posix()}.json"] = own
    (html_dir / FILE).write_text(json.dumps(found, separators=(",", ":")), "utf-8")


def _of_graph(
    name: str,
    params: Mapping[str, Any],
    places: Sequence[tuple[str, ...]],
    noises: Noises,
) -> dict[str, float]:
    variables = {axis.removeprefix("env-"): value for axis, value in params.items()}
    run = (
        name,
        str(params.get("machine")),
        str(params.get("branch")),
        *(condition.of(variables) for condition in CONDITIONS),
    )
    own = ((place, noises.get((*run, *texts))) for place, texts in enumerate(places))
    return {str(place): float(f"{noise:.2g}") for place, noise in own if noise is not None}


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
