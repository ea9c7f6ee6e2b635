"""Results as one table with a row for each time: CSV, JSON, Parquet and a sheet of a workbook.

`export_table_reader` reads all of them back to the same rows.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.points import Point
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.spreadsheet_text import guarded_csv
from deepbench_ops.measure import library_variables
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import atomic_write

Row = dict[str, Any]

UNSTEADY, SAMPLES, SETTINGS = "unsteady", "sample_seconds", "settings"
NO_SETTINGS = "none"

COLUMNS = {
    **dict.fromkeys(("machine", "framework", "release", "date"), "string"),
    **dict.fromkeys(("family", "set", "problem", "precision", "pass"), "string"),
    "ranks": "int64",
    **dict.fromkeys((condition.name for condition in CONDITIONS), "string"),
    **dict.fromkeys(("seconds", "low", "high"), "float64"),
    "samples": "int64",
    "source": "string",
    UNSTEADY: "string",
    SAMPLES: "list",
    SETTINGS: "string",
}
"""The columns in order, with the type that Parquet calls theirs: the same for every machine. The
last three hold the reason for a time that is not to be trusted, "" for others; the samples in
seconds, in CSV with blanks between them; and the external settings as a shell reads them,
"none" without any, "" where they are unknown."""


def row(point: Point) -> Row:
    """Return a time as the table has it: seconds, never derived figures."""
    low, high = point.interval or (None, None)
    return {
        "machine": point.machine,
        "framework": point.release.framework,
        "release": point.release.version,
        "date": point.release.date.isoformat(),
        "family": point.family,
        "set": point.set,
        "problem": point.problem_id,
        "precision": point.precision,
        "pass": point.operation,
        "ranks": point.ranks,
        **point.conditions,
        "seconds": point.seconds,
        "low": low,
        "high": high,
        "samples": point.samples,
        "source": "measured" if point.release.measurable else "published",
        UNSTEADY: point.unsteady,
        SAMPLES: list(point.sample_seconds),
        SETTINGS: ""
        if point.settings is None
        else library_variables.text(point.settings) or NO_SETTINGS,
    }


def as_csv(rows: Sequence[Row]) -> str:
    """Return a header and the rows, with texts that no spreadsheet program computes."""
    return guarded_csv([COLUMNS, *map(cells, rows)])


def cells(of: Mapping[str, Any]) -> list[Any]:
    """Return a row's cells, the samples as one text."""
    return [" ".join(map(repr, of[name])) if name == SAMPLES else of[name] for name in COLUMNS]


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows as Parquet. Raises DeepbenchError without pyarrow."""
    try:
        from pyarrow import Table, float64, list_, parquet, schema, type_for_alias
    except ModuleNotFoundError:
        raise DeepbenchError(
            "parquet needs pyarrow, which is missing here: pip install pyarrow"
        ) from None
    types = {"list": list_(float64())}
    columns = schema(
        [(name, types.get(kind) or type_for_alias(kind)) for name, kind in COLUMNS.items()]
    )
    with atomic_write.replacing(path) as unfinished:
        parquet.write_table(
            Table.from_pylist(list(rows), columns), unfinished, write_page_checksum=True
        )
