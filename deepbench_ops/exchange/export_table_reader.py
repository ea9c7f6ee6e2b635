"""The tables that `deepbench export` writes, read back: CSV, JSON, Parquet, and workbooks that hold
one.

A table is imported like a submission, machine by machine; it has no raw seconds and no profile.
"""

import csv
import io
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from deepbench_ops.asv_adapter import result_files
from deepbench_ops.asv_adapter.published_results import ENVIRONMENT
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange import readable_json
from deepbench_ops.exchange.export_table_writer import (
    COLUMNS,
    NO_SETTINGS,
    SAMPLES,
    SETTINGS,
    UNSTEADY,
    Row,
)
from deepbench_ops.exchange.published import published_machines
from deepbench_ops.exchange.published.published_result_filing import entry_of
from deepbench_ops.exchange.spreadsheet_text import bare
from deepbench_ops.exchange.submissions import submission
from deepbench_ops.exchange.submissions.submission import CheckedSubmission
from deepbench_ops.exchange.workbooks import workbook_timings, xlsx_reader
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.releases.release_table import PUBLISHED, Release
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import bounded_read, seconds_limits

LARGEST = bounded_read.RESULT
RELEASE_ENVIRONMENT = "release-py3"
"""Beginning of the name of an environment that asv has made for a release."""

ADDED: Row = {UNSTEADY: "", SAMPLES: [], SETTINGS: ""}
"""Columns that older exports lack, in the order in which they were added, and their values there.
The first two came together."""

HEADERS = [
    list(COLUMNS),
    [name for name in COLUMNS if name != SETTINGS],
    [name for name in COLUMNS if name not in ADDED],
]
"""The columns of exports, newest first."""


def read(path: Path, content: bytes | None = None) -> list[Row] | None:
    """Return the rows of an exported table, None for a file that is none.

    content: the file's, where it was read before. Raises DeepbenchError, naming the row, for a
    table whose cells are damaged.
    """
    if content is None:
        content = bounded_read.read_input(path, LARGEST)
    start = content[:64]
    try:
        if start.startswith(b"PAR1"):
            return _checked(_parquet(path, content))
        if start.startswith(b"PK"):
            return _workbook(path, content)
        if start.startswith(",".join(HEADERS[-1][:5]).encode()):
            return _checked(_csv(bounded_read.decoded(path, content)))
        if start.lstrip().startswith(b"["):
            return _checked(json.loads(bounded_read.decoded(path, content)))
    except (ValueError, RecursionError, csv.Error) as wrong:
        raise DeepbenchError(f"{path} is damaged: {' '.join(str(wrong).split())[:200]}") from None
    return None


def _csv(text: str) -> list[Row]:
    if not text.endswith("\n"):
        raise ValueError("its last line is cut")
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    if rows.fieldnames not in HEADERS:
        raise ValueError(f"its columns are not {','.join(COLUMNS)}")
    return [
        {name: _cell(name, text) if isinstance(text, str) else text for name, text in row.items()}
        for row in rows
    ]


def _cell(name: str, text: str) -> Any:
    """Return the value of a cell of CSV or of a sheet."""
    kind = COLUMNS[name]
    if kind == "string":
        return bare(text)
    if kind == "list":
        return [float(each) for each in text.split()]
    if not text:
        return None
    return float(text) if kind == "float64" else int(text)


def _parquet(path: Path, content: bytes) -> list[Row]:
    try:
        from pyarrow import ArrowException, BufferReader, parquet
    except ModuleNotFoundError:
        raise DeepbenchError(
            f"{path}: parquet needs pyarrow, which is missing here: pip install pyarrow"
        ) from None
    try:
        file = parquet.ParquetFile(BufferReader(content), page_checksum_verification=True)
        groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
        if sum(group.total_byte_size for group in groups) > LARGEST:
            raise DeepbenchError(f"{path}: it unpacks to more than {LARGEST / 1e6:.0f} MB")
        rows: list[Row] = file.read().to_pylist()
    except (ArrowException, OSError, OverflowError) as wrong:
        raise ValueError(str(wrong)) from None
    return rows


def _workbook(path: Path, content: bytes) -> list[Row] | None:
    """Return the rows of an exported workbook's table, whose times must be those of its sheets."""
    found = xlsx_reader.read(path, content)
    table = next((sheet for sheet in found if sheet.name == workbook_timings.TABLE), None)
    if table is None:
        return None
    header, *lines = table.rows
    if list(header) not in HEADERS[:2]:
        raise ValueError(
            f"the columns of sheet {workbook_timings.TABLE!r} are not those of an export"
        )
    missing = [None] * len(header)  # spreadsheet programs drop empty cells at the end of a row
    rows = [
        {
            name: _cell(name, "" if value is None else value)
            if isinstance(value, str | None)
            else value
            for name, value in zip(header, [*line, *missing[len(line) :]], strict=True)
        }
        for line in lines
    ]
    rows = _checked(rows)
    printed = {
        (timing.problem.id, timing.operation, timing.precision, timing.ranks): timing.seconds
        for timing in workbook_timings.read(found)[0]
    }
    if printed != {
        (row["problem"], row["pass"], row["precision"], row["ranks"]): row["seconds"]
        for row in rows
    }:
        raise DeepbenchError(
            f"{path}: its sheets and its sheet {workbook_timings.TABLE!r} give different times:"
            " remove that sheet, and import it with --machine and --date"
        )
    return rows


def _checked(rows: Any) -> list[Row]:
    """Return rows with all columns. Raises ValueError, naming the row, for one that is no time."""
    if not isinstance(rows, list):
        raise ValueError("it is no list of rows")
    if wrong := readable_json.why_not(rows):
        raise ValueError(wrong)
    seen = set()
    for number, row in enumerate(rows, 1):
        wrong = _wrong(row)
        if wrong:
            raise ValueError(f"row {number}: {wrong}")
        for name, missing in ADDED.items():
            row.setdefault(name, copy(missing))
        texts = [name for name, kind in COLUMNS.items() if kind == "string" and name not in ADDED]
        key = tuple(row[name] for name in texts)
        if (*key, row["ranks"]) in seen:
            raise ValueError(f"row {number}: its kernel is there twice")
        seen.add((*key, row["ranks"]))
    return rows


def _wrong(row: Any) -> str:
    """Return the reason why a row is impossible, "" for a possible one."""
    if not isinstance(row, dict) or list(row) not in HEADERS:
        return "its columns are not those of an export"
    for name, kind in COLUMNS.items():
        value = row.get(name, ADDED.get(name))
        if kind == "string" and not isinstance(value, str):
            return f"{name} is {value!r}"
        if kind == "int64" and not (type(value) is int or (value is None and name == "ranks")):
            return f"{name} is {value!r}"
    bounds = {"ci_99_a": row["low"], "ci_99_b": row["high"]}
    several = row.get(SAMPLES) or None
    if several is not None and not isinstance(several, list):
        return f"{SAMPLES} is {several!r}"
    if several and len(several) != row["samples"]:
        return f"{row['samples']} samples, and {len(several)} of them are there"
    if (row["low"] is None) != (row["high"] is None):
        return "it has one bound without the other"
    try:
        date.fromisoformat(row["date"])
    except ValueError:
        return f"date is {row['date']!r}: write it as YYYY-MM-DD"
    source = "published" if row["framework"] == PUBLISHED else "measured"
    if row["source"] != source:
        return f"source is {row['source']!r}, of a {source} time"
    if row["set"] not in CLASSES:
        return f"set is {row['set']!r}"
    return seconds_limits.why_not(row["seconds"], bounds, several)


def remarks(rows: Iterable[Row]) -> list[str]:
    """Return a line about the unsteady times of a table, which are left out, and one for each group
    of external settings that an import does not keep: asv's results have no place for them, so that
    these times count as of unknown settings."""
    every = list(rows)
    kept = _steady(every)
    left = len(every) - len(kept)
    found = Counter(row[SETTINGS] for row in kept if row[SETTINGS] not in ("", NO_SETTINGS))
    return [
        *(
            [f"unsteady times, left out: {left}; measure them again before an export"]
            if left
            else []
        ),
        *(
            f"{count} times were measured under {text}: imported they count as of unknown settings"
            for text, count in found.items()
        ),
    ]


def _steady(rows: Iterable[Row]) -> list[Row]:
    """Return all rows but unsteady measured ones: a table lacks the raw seconds, which show why.
    The reason of a published time is found again from the machine's peaks."""
    return [row for row in rows if not row[UNSTEADY] or row["framework"] == PUBLISHED]


def checked_tables(
    results: Path,
    rows: Iterable[Row],
    releases: Mapping[str, Release],
    machine: str | None = None,
) -> list[CheckedSubmission]:
    """Return the rows of each machine as a submission that can be stored.

    machine: its name here. Raises DeepbenchError as `submission.checked_all` does, and for a table
    of several machines, which no export is.
    """
    by_machine: dict[str, list[Row]] = defaultdict(list)
    for row in _steady(rows):
        by_machine[row["machine"]].append(row)
    if len(by_machine) > 1:
        names = ", ".join(sorted(by_machine))
        raise DeepbenchError(f"it is of several machines ({names}): import a file of each")
    return [
        submission.checked(results, _content(results, machine or name, own), releases, [])
        for name, own in by_machine.items()
    ]


def _content(results: Path, name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return a machine's rows in the form of a submission's content."""
    known = entry_of(results / name / "machine.json")
    described = published_machines.named(name, {}, rows[0]["device"]) if known is None else None
    newest = max(row["date"] for row in rows)
    own = machine_profile.read(results, name) or (
        described.profile({}, newest) if described else Profile(name, newest)
    )
    grouped: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    axes = ("framework", "release", "date", *(condition.name for condition in CONDITIONS))
    for row in rows:
        grouped[tuple(row[axis] for axis in axes)].append(row)
    content = {
        "machine": known or (described.entry() if described else {}),
        "profile": {"version": machine_profile.VERSION, **asdict(own)},
        "results": [_result(results / name, several) for several in grouped.values()],
    }
    for result in content["results"]:
        submission.check_result(result, Profile(name))
    return content


def _result(folder: Path, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the times of one release under the same conditions."""
    first = rows[0]
    release = Release(first["framework"], first["release"], date.fromisoformat(first["date"]))
    environment, variables = _place(folder, release, first)
    return {
        "framework": release.framework,
        "release": release.version,
        "date": first["date"],
        "environment": environment,
        "variables": variables,
        "libraries": {},
        "points": [_point(row) for row in rows],
    }


def _place(folder: Path, release: Release, row: Row) -> tuple[str, dict[str, str]]:
    """Return environment and variables: those of a result under the same conditions that is here,
    else those that asv gives."""
    for path in sorted(folder.glob(f"{release.hash[:8]}-*.json")):
        here = result_files.read(path)
        if all(each.of(here.env_vars) == row[each.name] for each in CONDITIONS):
            return str(here.env_name), dict(here.env_vars)
    variables = {
        each.variable: row[each.name]
        for each in CONDITIONS
        if not each.on_request or row[each.name] != each.usual
    }
    if release.measurable:
        return "-".join(
            [RELEASE_ENVIRONMENT, *(f"{k}{v}" for k, v in sorted(variables.items()))]
        ), variables
    layout = variables.get("DEEPBENCH_LAYOUT")
    return f"{ENVIRONMENT}-{layout}" if layout else ENVIRONMENT, variables


def _point(row: Row) -> dict[str, Any]:
    ranks = [] if row["ranks"] is None else [repr(row["ranks"])]
    point: dict[str, Any] = {
        "benchmark": f"{row['family']}.{CLASSES[row['set']]}.kernel_{row['pass']}",
        "params": [repr(row["problem"]), repr(row["precision"]), *ranks],
        "seconds": row["seconds"],
    }
    if row["low"] is not None and math.isfinite(row["low"]):
        point |= {"low": row["low"], "high": row["high"]}
    return point | ({"samples": row[SAMPLES]} if row[SAMPLES] else {})
