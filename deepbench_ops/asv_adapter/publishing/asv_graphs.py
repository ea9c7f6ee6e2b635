"""asv's graphs, with the same results in a fraction of the time.

asv averages and fits each line of a graph several times, lines without a point included; a suite
with many parameters consists mostly of these. Here everything is computed once, empty lines cost
nothing, and fits of an earlier publishing are read from a file. The fit is asv's (`step_fit`).
tests/asv_adapter/test_asv_graphs.py compares every file with plain asv's.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import asv
import numpy as np
import orjson
from asv import graph as asv_graph
from asv import results, util
from asv.graph import Graph, GraphSet
from asv.plugins.regressions import _GraphDataFilter
from asv.step_detect import detect_steps as detect

from deepbench_ops.asv_adapter.patch_installation import PUBLISH, Patch, instead
from deepbench_ops.asv_adapter.publishing import step_fit
from deepbench_ops.storage import atomic_write, json_cache

ENCODED = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
"""asv's lists hold numpy's numbers, and numbers as names."""

CHUNK = 64
"""Lines whose steps are looked for in one go by a process of the pool."""

GraphRow = tuple[int, list[Any], list[Any]]
GraphLine = list[tuple[int, Any, Any]]
Piece = tuple[int, int, float, float, float]
"""Begin, end, level, least value and mean deviation of a step, as asv has them."""


def get_data(self: Graph) -> list[Any]:
    """Stand in for Graph.get_data: averaged values and weights by revision, sorted.

    They are kept until another point is added.
    """
    counted = sum(map(len, self.data_points.values())), len(self.data_points)
    kept = getattr(self, "_deepbench_data", None)
    if kept is None or kept[0] != counted:
        kept = self._deepbench_data = counted, _data(self)
    data: list[Any] = kept[1]
    return data


def _data(graph: Graph) -> list[Any]:
    graph.n_series = graph.n_series or 1
    rows: list[GraphRow] = [
        (revision, _means(graph, points), _means(graph, graph.data_weights[revision]))
        for revision, points in sorted(graph.data_points.items())
    ]
    filled = [place for place, row in enumerate(rows) if any(v is not None for v in row[1])]
    kept = rows[filled[0] : filled[-1] + 1] if filled else []
    if graph.scalar_series:
        return [(revision, values[0], weights[0]) for revision, values, weights in kept]
    return kept


def _means(graph: Graph, several: Sequence[Sequence[Any]]) -> list[Any]:
    if not several:
        return [None] * graph.n_series
    if len(several) == 1:
        return [None if value is None or value != value else value / 1 for value in several[0]]
    return [util.mean_na(each) for each in zip(*several, strict=True)]


def _lines(graph: Graph) -> dict[int, GraphLine]:
    """Return each line that has a point, by its place among the parameters."""
    data = get_data(graph)
    if graph.scalar_series:
        return {0: data}
    return {
        place: [(revision, values[place], weights[place]) for revision, values, weights in data]
        for place in _filled([values for _, values, _ in data])
    }


def _filled(rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the columns that hold a number."""
    if not rows:
        return []
    return np.flatnonzero(~np.isnan(np.array(rows, dtype=float)).all(axis=0)).tolist()


def detect_steps(self: Graph, pool: Any = None) -> None:
    """Stand in for Graph.detect_steps, of one graph."""
    if self._steps is None:
        _steps(self, {place: steps_of(line) for place, line in _lines(self).items()})


def get_steps(self: Graph) -> Any:
    """Stand in for Graph.get_steps: the fitted pieces of the line, or of each line."""
    if self._steps is None:
        self.detect_steps()
    return self._steps[0] if self.scalar_series else self._steps


def _steps(graph: Graph, found: dict[int, list[Piece]]) -> None:
    get_data(graph)  # which tells how many lines there are
    graph._steps = [found.get(place, []) for place in range(graph.n_series)]


def detect_all(self: GraphSet, pool: Any = None, dots: Any = None) -> None:
    """Stand in for GraphSet.detect_steps: fit all graphs' lines, in chunks, in the pool.

    Fits of the same values by an earlier publishing are read from its file.
    """
    graphs = [graph for _, graph in self if graph._steps is None]
    lines = [{place: _present(line) for place, line in _lines(g).items()} for g in graphs]
    digests = [
        {place: _digest(line) for place, line in each.items() if len(line) > 1} for each in lines
    ]
    wanted = {
        digest: each[place]
        for of_graph, each in zip(digests, lines, strict=True)
        for place, digest in of_graph.items()
    }
    known = fit_cache.read()
    new = [(digest, line) for digest, line in wanted.items() if digest not in known]
    chunks = [[line for _, line in new[at : at + CHUNK]] for at in range(0, len(new), CHUNK)]
    found = (pool.map if pool is not None else map)(_fit, chunks)
    pieces = [each for chunk in found for each in chunk]
    known |= {digest: each for (digest, _), each in zip(new, pieces, strict=True)}
    fit_cache.write({digest: known[digest] for digest in wanted})
    for graph, of_graph, each in zip(graphs, digests, lines, strict=True):
        _steps(
            graph,
            {
                place: _placed(known[of_graph[place]], line)
                if place in of_graph
                else steps_of(line)
                for place, line in each.items()
            },
        )
        if dots is not None:
            dots()


def get_graph_data(self: Any, graph: Graph, benchmark: dict[str, Any]) -> Iterator[Any]:
    """Stand in for the filter of asv's regressions, without work for lines without steps."""
    several = benchmark.get("params")
    lines = graph.get_steps() if several else [graph.get_steps()]
    for place, (param, steps) in enumerate(zip(product(*several or ()), lines, strict=True)):
        if not steps:
            continue
        name = benchmark["name"] + (f"({', '.join(param)})" if param else "")
        start = self._get_start_revision(graph, benchmark, name)
        if start is not None:
            late = [piece for piece in steps if piece[1] >= start]
            threshold = self._get_threshold(graph, benchmark, name)
            yield place if param else None, name, late, threshold


def steps_of(line: GraphLine) -> list[Piece]:
    """Return the pieces of a line; a single point is its own piece."""
    line = _present(line)
    if len(line) > 1:
        return _placed(_fit([line])[0], line)
    return [(x, x + 1, y, y, 0.0) for x, y, weight in line if weight is None or weight > 0]


def _present(line: GraphLine) -> GraphLine:
    """Return the points that a fit counts; asv leaves out missing ones itself."""
    return [point for point in line if point[1] is not None]


def _fit(lines: Iterable[GraphLine]) -> list[list[Piece]]:
    return [detect([y for _, y, _ in line], [weight for _, _, weight in line]) for line in lines]


def _placed(pieces: Iterable[Piece], line: GraphLine) -> list[Piece]:
    """Return pieces by revision, given pieces by point."""
    return [
        (line[left][0], line[right - 1][0] + 1, level, least, error)
        for left, right, level, least, error in pieces
    ]


def _digest(line: GraphLine) -> str:
    """Return a digest of the values and weights of a line, and of the version of asv."""
    values = repr((asv.__version__, [point[1:] for point in line]))
    return hashlib.blake2b(values.encode(), digest_size=12).hexdigest()


class FitCache:
    """File of fitted pieces by a digest of the values, for the next publishing."""

    def __init__(self) -> None:
        self.path: Path | None = None

    def read(self) -> dict[str, list[Piece]]:
        """Return the pieces by digest; none where there is no such file, or it is damaged."""
        found = json_cache.read(self.path) if self.path else None
        try:
            return {
                digest: [_piece(*each) for each in pieces]
                for digest, pieces in (found or {}).items()
            }
        except (TypeError, ValueError, AttributeError):
            return {}

    def write(self, pieces: dict[str, list[Piece]]) -> None:
        """Store pieces in place of those that the file holds."""
        if self.path is not None:
            json_cache.write(self.path, pieces)


def _piece(left: int, right: int, level: float, least: float, error: float) -> Piece:
    return int(left), int(right), float(level), float(least), float(error)


fit_cache = FitCache()


def cached_path(original: Any) -> Any:
    """Wrap Graph.get_file_path: each graph's path is composed once."""
    known: dict[Any, str] = {}

    @functools.wraps(original)
    def wrapped(cls: type[Graph], params: dict[str, Any], benchmark_name: str) -> str:
        key = benchmark_name, *params.items()
        if key not in known:
            known[key] = original(cls, params, benchmark_name)
        return known[key]

    return wrapped


def compatible(original: Any) -> Any:
    """Wrap the look-up of a benchmark's parameters among those of a result.

    The same parameters need no look-up; others are looked up once for all results.
    """

    @functools.cache
    def places(given: tuple[Any, ...], wanted: tuple[Any, ...]) -> list[int | None]:
        known = {params: place for place, params in enumerate(product(*given))}
        return [known.get(params) for params in product(*wanted)]

    @functools.wraps(original)
    def wrapped(result: Any, result_params: Any, params: Any) -> Any:
        if result is None or len(result) != math.prod(map(len, result_params)):
            return original(result, result_params, params)
        if result_params == params:
            return list(result)
        found = places(tuple(map(tuple, result_params)), tuple(map(tuple, params)))
        return [None if place is None else result[place] for place in found]

    return wrapped


def summary_of_filled(original: Any) -> Any:
    """Wrap the average of lines: lines without a point are left out."""

    @functools.wraps(original)
    def wrapped(*ys: Sequence[Any]) -> Any:
        filled = _filled(list(zip(*ys, strict=True)))
        return original(*([ys[place] for place in filled] or ys[:1]))

    return wrapped


def written_at_once(original: Any) -> Any:
    """Wrap asv's writing of JSON: orjson encodes it in one piece, with null for NaN.

    Each file appears whole or not at all, and does not wait for the disk: pages are easily made
    again, and there are hundreds of graphs.
    """

    @functools.wraps(original)
    def wrapped(path: Any, data: Any, api_version: Any = None, compact: bool = False) -> None:
        if not compact or api_version is not None:
            original(path, data, api_version, compact)
            return
        try:
            content = orjson.dumps(data, option=ENCODED)
        except TypeError:  # a whole number of more than 64 bits
            original(path, data, api_version, compact)
        else:
            atomic_write.write_bytes(Path(path), content, durable=False)

    return wrapped


def _speedup(owner: Any, attribute: str, replacement: Any, why: str) -> Patch:
    return Patch(owner, attribute, replacement, why, needed=False, scope=PUBLISH)


PATCHES = (
    *step_fit.PATCHES,
    _speedup(Graph, "get_data", instead(get_data), "asv averages a graph for every question"),
    _speedup(
        Graph, "detect_steps", instead(detect_steps), "asv looks for steps in lines without a time"
    ),
    _speedup(Graph, "get_steps", instead(get_steps), "asv looks for steps in lines without a time"),
    _speedup(
        GraphSet,
        "detect_steps",
        instead(detect_all),
        "asv hands graphs to its processes one by one, and fits all again in each publishing",
    ),
    _speedup(
        _GraphDataFilter,
        "get_graph_data",
        instead(get_graph_data),
        "asv reads its settings of regressions for every line without steps",
    ),
    _speedup(
        asv_graph,
        "_compute_summary_data_series",
        summary_of_filled,
        "asv averages over lines without a time",
    ),
    _speedup(
        results,
        "_compatible_results",
        compatible,
        "asv looks up each value of each result by its parameters",
    ),
    _speedup(
        util,
        "sanitize_filename",
        functools.cache,
        "asv cleans the same few hundred names a million times",
    ),
    _speedup(
        Graph,
        "get_file_path",
        cached_path,
        "asv composes the path of a graph for every point in it",
    ),
    Patch(
        util,
        "write_json",
        written_at_once,
        "asv writes NaN into the JSON of its pages, which browsers refuse",
        scope=PUBLISH,
    ),
)
