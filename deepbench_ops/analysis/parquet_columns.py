"""Points as tables of Arrow: one of times, and one of the samples behind them, far larger.

Seconds are stored, never rates: FLOPs and bytes are a table of their own, by problem, precision and
operation. `times` and `points` are inverse to each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from deepbench_ops.analysis.point_reading import STAND_IN
from deepbench_ops.analysis.points import Origin, Point
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS

NAMES = pa.string()
SECONDS = pa.list_(pa.float64())

ORIGIN = pa.struct(
    [
        ("file", pa.string()),
        ("anchor", pa.string()),
        ("rounds", pa.int32()),
        *((name, pa.float64()) for name in ("ratio", "low", "high")),
        ("interval", SECONDS),
        ("states", pa.list_(pa.string())),
    ]
)

TIMES = pa.schema(
    [
        ("number", pa.int64()),
        *((name, NAMES) for name in ("machine", "framework", "version", "commit")),
        ("date", pa.date32()),
        *((name, NAMES) for name in ("family", "set", "operation", "problem", "precision")),
        ("ranks", pa.int32()),
        *((condition.name, NAMES) for condition in CONDITIONS),
        *((name, pa.float64()) for name in ("seconds", "low", "high")),
        ("samples", pa.int64()),
        ("unsteady", pa.string()),
        ("state", NAMES),
        ("without_interval", NAMES),
        *((name, pa.float64()) for name in ("sample_low", "sample_high")),
        ("rounds", SECONDS),
        ("notes", pa.map_(pa.string(), pa.string())),
        ("settings", pa.map_(pa.string(), pa.string())),
        ("ensemble", ORIGIN),
        ("conflict", SECONDS),
        ("threads", NAMES),
    ]
)
"""A row for each point. number: its place among the machine's points. low, high: the interval of
99 % that may be shown, null where there is none, for the reason `without_interval`; sample_low,
sample_high: before it was looked at. settings: null where they are not known. The others are fields
of `Point`."""

SAMPLES = pa.schema([("machine", NAMES), ("number", pa.int64()), ("seconds", SECONDS)])
"""The samples of a point, by its machine and number."""

COUNTS = pa.schema(
    [
        *((name, NAMES) for name in ("family", "problem", "operation", "precision")),
        ("title", pa.string()),
        *((name, pa.float64()) for name in ("flops", "bytes", "items")),
    ]
)
"""FLOPs, bytes and items of one call of each kernel."""

ORDER = ("family", "problem", "operation", "precision", "framework", "date", "number")
"""The order of rows in a file, so that a reader of one kernel or framework skips the rest."""

DETAILS = ("rounds", "notes")
"""Columns that are read where a point's rounds are asked for."""


def times(points: Sequence[Point], first: int = 0) -> pa.Table:
    """Return the table of a machine's points, whose numbers are their places from `first` on."""
    rows = [_row(number, point) for number, point in enumerate(points, first)]
    return pa.Table.from_pylist(rows, TIMES).sort_by([(name, "ascending") for name in ORDER])


def samples(points: Sequence[Point], first: int = 0) -> pa.Table:
    """Return the samples of a machine's points that have any, numbered as `times` does."""
    rows = [
        {"machine": point.machine, "number": number, "seconds": list(point.sample_seconds)}
        for number, point in enumerate(points, first)
        if point.sample_seconds
    ]
    return pa.Table.from_pylist(rows, SAMPLES)


def counts(points: Sequence[Point], _: int = 0) -> pa.Table:
    """Return the FLOPs, bytes and items of the kernels of points, each once."""
    kernels = {
        (point.family, point.problem_id, point.operation, point.precision): point
        for point in points
    }
    rows = [
        {
            **dict(zip(COUNTS.names, kernel, strict=False)),
            "title": point.problem.title,
            "flops": point.flops,
            "bytes": point.bytes,
            "items": point.problem.items,
        }
        for kernel, point in sorted(kernels.items())
    ]
    return pa.Table.from_pylist(rows, COUNTS)


def tables(parts: Iterable[Sequence[Point]]) -> dict[str, pa.Table]:
    """Return the tables of a machine's points by name; numbers are places in the order of days.

    parts: the points result by result; only their tables stay in memory.
    """
    made = {"times": times, "samples": samples, "counts": counts}
    found = {name: [table([])] for name, table in made.items()}
    first = 0
    for part in parts:
        for name, table in made.items():
            found[name].append(table(part, first))
        first += len(part)
    joined = {name: pa.concat_tables(several) for name, several in found.items()}
    by_day = [(name, "ascending") for name in ("date", "number")]
    places = np.empty(first, dtype=np.int64)
    places[joined["times"].sort_by(by_day)["number"].to_numpy()] = np.arange(first)
    for name in ("times", "samples"):
        numbers = pa.array(places[joined[name]["number"].to_numpy()])
        at = joined[name].schema.get_field_index("number")
        joined[name] = joined[name].set_column(at, "number", numbers)
    each_once = joined["counts"].group_by(COUNTS.names).aggregate([]).select(COUNTS.names)
    return {
        "times": joined["times"].sort_by([(name, "ascending") for name in ORDER]),
        "samples": joined["samples"].sort_by("number"),
        "counts": each_once.sort_by([(name, "ascending") for name in COUNTS.names[:4]]),
    }


def points(
    rows: pa.Table, releases: Mapping[str, Release], seconds: pa.Table | None = None
) -> list[Point]:
    """Return the points of a table of times, in the order of their numbers.

    releases: the release table by hash. seconds: the table of samples, if they are wanted.
    """
    rows = rows.sort_by("number")
    count, texts = rows.num_rows, {name: _texts(rows[name]) for name in _TEXTS}
    known: dict[tuple[Any, ...], Release] = {}
    described = zip(
        *(texts[name] for name in ("commit", "framework", "version")),
        rows["date"].to_pylist(),
        strict=True,
    )
    listed = [
        known.get(each) or known.setdefault(each, _release(each, releases)) for each in described
    ]
    several: dict[int, tuple[float, ...]] = {}
    if seconds is not None:
        own = zip(*(seconds[name].to_pylist() for name in ("number", "seconds")), strict=True)
        several = {number: tuple(each) for number, each in own}
    columns: dict[str, Sequence[Any]] = {
        **{name: rows[name].to_pylist() for name in _NUMBERS},
        **texts,
        "release": listed,
        "problem_id": texts["problem"],
        "low": rows["sample_low"].to_pylist(),
        "high": rows["sample_high"].to_pylist(),
        "sample_seconds": [several.get(number, ()) for number in rows["number"].to_pylist()],
        "ensemble": [each and _origin(each) for each in _nested(rows["ensemble"])],
        **{
            name: _tuples(rows[name]) if name in rows.column_names else [()] * count
            for name in ("rounds", "notes", "settings", "conflict")
        },
    }
    return [
        Point._make(each) for each in zip(*map(columns.__getitem__, Point._fields), strict=True)
    ]


_NUMBERS = ("ranks", "seconds", "samples")
_TEXTS = tuple(
    field.name for field in TIMES if field.type == pa.string() and field.name != "without_interval"
)


def _texts(column: pa.ChunkedArray) -> list[str]:
    """Return the values of a column of texts, equal ones as one object: there are few, and many
    points."""
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    return [values[index] for index in encoded.indices.to_pylist()]


def _nested(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column, quickly where none has any."""
    if column.null_count == len(column):
        return [None] * len(column)
    return list(column.to_pylist())


def _tuples(column: pa.ChunkedArray) -> list[tuple[Any, ...] | None]:
    """Return the values of a column of lists or maps as tuples, equal ones as one object."""
    ends = [(chunk.offsets[0], chunk.offsets[-1]) for chunk in column.chunks if len(chunk)]
    if not column.null_count and all(first == last for first, last in ends):
        return [()] * len(column)
    shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    return [
        None if each is None else shared.setdefault(own := tuple(each), own)
        for each in _nested(column)
    ]


def _release(described: tuple[str, str, str, date], releases: Mapping[str, Release]) -> Release:
    """Return the release of the table, or the stand-in that `point_reading.load` gives for one
    that it does not have."""
    commit, framework, version, day = described
    if framework == STAND_IN:
        return Release(framework, version, day)
    return releases.get(commit) or Release(STAND_IN, commit[:8], day)


def _row(number: int, point: Point) -> dict[str, Any]:
    low, high = point.interval or (None, None)
    return {
        **point._asdict(),
        "number": number,
        "framework": point.release.framework,
        "version": point.release.version,
        "commit": point.release.hash,
        "date": point.release.date,
        "problem": point.problem_id,
        "low": low,
        "high": high,
        "without_interval": point.without_interval,
        "sample_low": point.low,
        "sample_high": point.high,
        "settings": None if point.settings is None else list(point.settings),
        "ensemble": None if point.ensemble is None else point.ensemble._asdict(),
    }


def _origin(stored_origin: Mapping[str, Any]) -> Origin:
    pair, states = tuple(stored_origin["interval"]), tuple(stored_origin["states"])
    return Origin(**{**stored_origin, "interval": pair, "states": states})
