"""Points as tables of Arrow: one of times, and one of the samples behind them, far larger.

Seconds are stored, never what follows from a problem's FLOPs and bytes: these are a table of their
own, by problem, precision and operation. `times` and `points` are inverse to each other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from deepbench_ops.analysis.points import Origin, Point
from deepbench_ops.conditions import CONDITIONS
from deepbench_ops.releases.release_table import Release

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


def times(points: Sequence[Point]) -> pa.Table:
    """Return the table of a machine's points, whose numbers are their places."""
    rows = [_row(number, point) for number, point in enumerate(points)]
    return pa.Table.from_pylist(rows, TIMES).sort_by([(name, "ascending") for name in ORDER])


def samples(points: Sequence[Point]) -> pa.Table:
    """Return the samples of a machine's points that have any."""
    rows = [
        {"machine": point.machine, "number": number, "seconds": list(point.sample_seconds)}
        for number, point in enumerate(points)
        if point.sample_seconds
    ]
    return pa.Table.from_pylist(rows, SAMPLES)


def counts(points: Sequence[Point]) -> pa.Table:
    """Return what the kernels of points compute, each once."""
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


def points(
    rows: pa.Table, releases: Mapping[str, Release], seconds: pa.Table | None = None
) -> list[Point]:
    """Return the points of a table of times, in the order of their numbers.

    releases: the release table by hash. seconds: the table of samples, if they are wanted.
    """
    rows = rows.sort_by("number")
    several = {}
    if seconds is not None:
        several = dict(
            zip(*(seconds[name].to_pylist() for name in ("number", "seconds")), strict=True)
        )
    return [
        _point(row, releases, tuple(several.get(row["number"], ()))) for row in rows.to_pylist()
    ]


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


def _point(
    row: Mapping[str, Any], releases: Mapping[str, Release], own: tuple[float, ...]
) -> Point:
    listed = releases.get(row["commit"])
    settings, origin = row["settings"], row["ensemble"]
    fields = {name: row[name] for name in Point._fields if name in row}
    return Point(
        **{
            **fields,
            "release": listed or Release(row["framework"], row["version"], row["date"]),
            "problem_id": row["problem"],
            "low": row["sample_low"],
            "high": row["sample_high"],
            "rounds": tuple(row.get("rounds") or ()),
            "notes": tuple(row.get("notes") or ()),
            "settings": None if settings is None else tuple(settings),
            "sample_seconds": own,
            "ensemble": origin and _origin(origin),
        }
    )


def _origin(stored_origin: Mapping[str, Any]) -> Origin:
    pair, states = tuple(stored_origin["interval"]), tuple(stored_origin["states"])
    return Origin(**{**stored_origin, "interval": pair, "states": states})
