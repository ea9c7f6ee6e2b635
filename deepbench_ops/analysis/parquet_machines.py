"""A machine, its runs of whole models and the libraries of its releases as tables of Arrow.

Values of a damaged file are left out, and a line names it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pyarrow as pa

from deepbench_ops import damage_reports
from deepbench_ops.analysis import software_versions
from deepbench_ops.analysis.parquet_columns import NAMES
from deepbench_ops.asv_adapter import result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.releases.release_table import Release, framework_and_version
from deepbench_ops.storage import model_run_fields, model_runs
from deepbench_ops.storage.model_run_fields import ModelRun

TEXTS = pa.map_(pa.string(), pa.string())

VALUE = (("value", pa.float64()), ("unit", NAMES), ("how", pa.string()))
PEAKS = pa.list_(pa.struct([("device", NAMES), ("precision", NAMES), *VALUE]))
BANDWIDTHS = pa.list_(pa.struct([("device", NAMES), *VALUE]))
YARDSTICKS = pa.list_(pa.struct([("threads", NAMES), ("kind", NAMES), *VALUE]))
LEVELS = pa.list_(pa.struct([("nanoseconds", pa.float64()), ("yardsticks", YARDSTICKS)]))

DESCRIBED = ("cpu", "accelerator", "arch", "os", "ram")
"""Fields of a machine.json with a column of the same name."""

MACHINES = pa.schema(
    [
        *((name, NAMES) for name in ("machine", *DESCRIBED)),
        ("cores", pa.int64()),
        ("description", TEXTS),
        ("day", NAMES),
        ("facts", TEXTS),
        ("peaks", PEAKS),
        ("bandwidths", BANDWIDTHS),
        ("yardstick_version", NAMES),
        ("yardsticks", YARDSTICKS),
        ("levels", LEVELS),
        ("yardstick_levels", pa.map_(pa.string(), pa.float64())),
        ("factor_by_chance", pa.float64()),
    ]
)
"""One row. description: all fields of the machine.json. The columns from `day` on are those of
`Profile`, null without one."""

RUN_TEXTS = ("kind", "device", "model", "precision", "execution", "layout")
MODEL_RUNS = pa.schema(
    [
        *((name, NAMES) for name in ("machine", "framework", "version", *RUN_TEXTS)),
        ("split", pa.bool_()),
        *((name, pa.int64()) for name in model_run_fields.COUNTS),
        *((name, pa.float64()) for name in (*model_run_fields.TIMES, "off", "drift")),
        *((name, NAMES) for name in ("day", "software")),
        ("conditions", TEXTS),
    ]
)
"""A row for each run. software: its field `framework`, such as "torch 2.13.0+cpu"; framework,
version: of its release; execution: its field `by`. The others are fields of the run, null where it
lacks them."""

LIBRARIES = pa.schema(
    [(name, NAMES) for name in ("machine", "framework", "version", "name", "value")]
)
"""A row for each fact about the software of a release (`software_versions`)."""

NOTHING: Mapping[str, str] = MappingProxyType({})

Read = TypeVar("Read")


def machine(folder: Path) -> pa.Table:
    """Return the row of the machine of a folder in results/."""
    described = _read_or(NOTHING, lambda: result_files.entry(folder / "machine.json"))
    known = _read_or(None, lambda: machine_profile.read(folder.parent, folder.name))
    cores = described.get("num_cpu", "")
    row = {
        **{name: described.get(name) for name in DESCRIBED},
        **({} if known is None else _profile(known)),
        "machine": folder.name,
        "cores": int(cores) if cores.isdecimal() else None,
        "description": list(described.items()),
    }
    return _table([row], MACHINES, folder / "machine.json")


def runs(folder: Path) -> pa.Table:
    """Return the runs of whole models in a machine's folder."""
    path = folder / model_run_fields.FILE
    found: Sequence[ModelRun] = _read_or([], lambda: model_runs.load(folder))
    return _table([_run(folder.name, run) for run in found], MODEL_RUNS, path)


def libraries(folder: Path, releases: Iterable[Release]) -> pa.Table:
    """Return the software of these releases in a machine's folder."""
    files = software_versions.by_commit(folder)
    rows = []
    for release in releases:
        own = files.get(release.hash[:8], ())
        facts = _read_or(NOTHING, partial(software_versions.facts_of, release, own))
        about = (folder.name, release.framework, release.version)
        rows += [dict(zip(LIBRARIES.names, (*about, *fact), strict=True)) for fact in facts.items()]
    return _table(rows, LIBRARIES, folder)


def _profile(known: Profile) -> dict[str, Any]:
    """Return the columns of a profile."""
    return {
        **vars(known),
        "day": known.date,
        "facts": list(known.facts.items()),
        "peaks": [
            {"device": device, "precision": precision, **vars(figure)}
            for device, group in known.peaks.items()
            for precision, figure in group.items()
        ],
        "bandwidths": [
            {"device": device, **vars(figure)} for device, figure in known.bandwidth.items()
        ],
        "yardsticks": _yardsticks(known.yardsticks),
        "levels": [
            {"nanoseconds": each.nanoseconds, "yardsticks": _yardsticks(each.yardsticks)}
            for each in known.levels
        ],
        "yardstick_levels": list(known.yardstick_levels.items()),
    }


def _yardsticks(groups: Mapping[str, Mapping[str, Figure]]) -> list[dict[str, Any]]:
    return [
        {"threads": threads, "kind": kind, **vars(figure)}
        for threads, group in groups.items()
        for kind, figure in group.items()
    ]


def _run(machine: str, run: ModelRun) -> dict[str, Any]:
    framework, version = framework_and_version(run["release"])
    conditions = run.get("conditions")
    return {
        **run,
        "machine": machine,
        "framework": framework,
        "version": version,
        "execution": run.get("by"),
        "software": run.get("framework"),
        "conditions": None if conditions is None else list(conditions.items()),
    }


def _table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema, path: Path) -> pa.Table:
    """Return a table of rows; one with a value of another kind than its column is left out and
    reported."""
    try:
        return pa.Table.from_pylist(rows, schema)
    except (ValueError, TypeError, OverflowError) as wrong:
        if len(rows) > 1:
            return pa.concat_tables([_table([row], schema, path) for row in rows])
        reason = " ".join(str(wrong).split())
        name = next(filter(partial(_cannot_hold, schema, rows[0]), schema.names))
        damage_reports.report(f"{path}: the store cannot hold its {name}: {reason}: mend it")
        return schema.empty_table()


def _cannot_hold(schema: pa.Schema, row: Mapping[str, Any], name: str) -> bool:
    """Whether a value of a row is of another kind than its column."""
    try:
        pa.array([row.get(name)], schema.field(name).type)
    except (ValueError, TypeError, OverflowError):
        return True
    return False


def _read_or(default: Read, reading: Callable[[], Read]) -> Read:
    """Return the result of `reading`; for a damaged file `default`, after a report."""
    try:
        return reading()
    except DeepbenchError as wrong:
        damage_reports.report(str(wrong))
        return default
