"""Rounds of histories as a table of Arrow: a row for each kernel, round and release.

A line of a file of rounds (`storage.ensemble_round_files`) becomes a row for each release that it
names, and for its anchor. All of its fields are in these rows, the facts in place of their digests.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from deepbench_ops import damage_reports
from deepbench_ops.analysis.parquet_columns import NAMES, SECONDS
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases.release_table import framework_and_version
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import ensemble_round_files
from deepbench_ops.storage.ensemble_round_files import Entry, RoundsFile

TEXTS = pa.map_(pa.string(), pa.string())

YARDSTICK = pa.struct(
    [
        ("kind", NAMES),
        ("nominal", pa.float64()),
        ("remark", pa.string()),
        *((name, SECONDS) for name in ("seconds", "nominals")),
        ("remarks", pa.list_(pa.string())),
    ]
)

SHARED = pa.schema(
    [
        *((name, NAMES) for name in ("family", "operation", "problem", "precision")),
        *((condition.name, NAMES) for condition in CONDITIONS),
        ("round", NAMES),
        ("day", pa.date32()),
        *((name, pa.float64()) for name in ("started_at", "ended_at")),
        *((name, NAMES) for name in ("anchor", "state", "method", "benchmark_version")),
        ("latencies", SECONDS),
        ("sweep_latencies", pa.list_(SECONDS)),
        ("yardstick", YARDSTICK),
        ("conditions", TEXTS),
    ]
)
"""Columns that all releases of a round share."""

OWN = pa.schema(
    [
        *((name, NAMES) for name in ("framework", "version")),
        ("seconds", SECONDS),
        ("calls", pa.int64()),
        *((name, pa.string()) for name in ("reason", "implementation")),
    ]
)
"""Columns of a release's own."""

ROUNDS = pa.schema(
    [
        *((name, NAMES) for name in ("machine", "file")),
        *(OWN.field(name) for name in ("framework", "version")),
        *SHARED,
        *(OWN.field(name) for name in ("seconds", "calls", "reason", "implementation")),
        *((name, TEXTS) for name in ("facts", "notes")),
    ]
)
"""Columns of the table. file: the name of the file of rounds, as in `Point.ensemble`. method: the
version of the way of measuring. benchmark_version: null where the round lacks it. seconds: of a
call in each sweep, null where the release has none."""

PER_RELEASE = {
    "seconds": "seconds",
    "calls": "calls",
    "reasons": "reason",
    "implementations": "implementation",
    "fingerprints": "facts",
    "notes": "notes",
}
"""Fields of a line that hold a value for each release, and the columns of these."""

ORDER = (
    *("family", "problem", "operation", "precision"),
    *("framework", "version", "started_at", "round", "file"),
)
"""The order of rows in a file, so that a reader of one kernel or framework skips the rest."""


def table(machine: Path) -> pa.Table:
    """Return the rounds in a machine's folder of results; damaged files are reported and left
    out."""
    found = [ROUNDS.empty_table()]
    for path in ensemble_round_files.paths(machine):
        try:
            content = ensemble_round_files.load(path)
        except DeepbenchError as wrong:
            damage_reports.report(str(wrong))
            continue
        found.append(_rows(machine.name, ensemble_round_files.name_of(path), content))
    return pa.concat_tables(found).sort_by([(name, "ascending") for name in ORDER])


def _rows(machine: str, file: str, content: RoundsFile) -> pa.Table:
    """Return the rows of a file; values that releases share, and facts, are converted once."""
    places: list[int] = []
    own: list[dict[str, Any]] = []
    for place, entry in enumerate(content.entries):
        rows = list(_own(entry))
        places += [place] * len(rows)
        own += rows
    shared = pa.Table.from_pylist([_shared(entry) for entry in content.entries], SHARED)
    digests = {digest: place for place, digest in enumerate(content.facts)}
    facts = pa.array([list(each.items()) for each in content.facts.values()], TEXTS)
    columns = dict(
        zip(SHARED.names, shared.take(pa.array(places, pa.int64())).columns, strict=True)
    )
    columns |= dict(zip(OWN.names, pa.Table.from_pylist(own, OWN).columns, strict=True))
    for name in ("facts", "notes"):
        taken = [digests.get(row[name]) for row in own]
        columns[name] = facts.take(pa.array(taken, pa.int64()))
    columns |= {"machine": [machine] * len(own), "file": [file] * len(own)}
    return pa.table({name: columns[name] for name in ROUNDS.names}, ROUNDS)


def _shared(entry: Entry) -> Mapping[str, Any]:
    conditions = entry.get("conditions", {})
    return {
        **entry,
        **{each.name: conditions.get(each.name, each.usual) for each in CONDITIONS},
        "day": datetime.fromtimestamp(entry["started_at"], UTC).date(),
        "method": entry["version"],
        "conditions": list(conditions.items()) if "conditions" in entry else None,
    }


def _own(entry: Entry) -> Iterable[dict[str, Any]]:
    """Yield the values of each release of a line, by column."""
    values = {column: entry.get(field) or {} for field, column in PER_RELEASE.items()}
    for release in dict.fromkeys(chain([entry["anchor"]], *values.values())):
        framework, version = framework_and_version(release)
        own = {column: each.get(release) for column, each in values.items()}
        yield {"framework": framework, "version": version, **own}
