"""Write results/README.md: the committed results by machine, framework and precision.

python scripts/make_results_inventory.py           writes the page
python scripts/make_results_inventory.py --check   exits with 1 if the page is not up to date
"""

import json
import subprocess
import textwrap
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import generated_page
from tabulate import tabulate

from deepbench_ops.analysis import point_reading
from deepbench_ops.analysis.points import Point
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.releases import table_location
from deepbench_ops.releases.release_table import PUBLISHED
from deepbench_ops.storage import model_runs

RESULTS = Path(__file__).parent.parent / "results"
PAGE = RESULTS / "README.md"

INTRODUCTION = """\
# Results

| file | content |
|---|---|
| `<machine>/machine.json` | asv's entry of the machine |
| `<machine>/machine.profile` | peaks, bandwidth, nominal yardstick readings |
| `<machine>/<hash of a release>-....json` | times in asv's own format |
| `<machine>/<hash of a release>-....measurements.jsonl.gz` | raw seconds and conditions |
| `<machine>/model_runs.jsonl` | percentiles and scaling of whole models |

A new run is merged with the stored results; a skip, a failure or a quick run never replaces a time.
`deepbench compare`, `frameworks`, `verdict` and `fastest` ask these results
([how to](../docs/how-to/compare.md)).

This page is written by `scripts/make_results_inventory.py`. Known slips of published tables are not
counted, unsteady times are.
"""

MEASURED = """\
## Measured with this project

Machines with `2core` in their name are virtual machines with two shared cores. An external
setting stands with the framework that was measured under it
([why](../docs/lab-notes/2026-11-24-openblas-core.md)). Histories of numpy on `epyc-9004-2core` and
`epyc-9005-2core` hold the products of all sets. Those of torch, onnxruntime, jax and openvino on
`epyc-9004-2core` hold a part of the headline, with the releases of each measured together
([findings](../docs/lab-notes/2026-11-26-torch-onnxruntime-releases.md)), and so do those of
modern operations in numpy, tensorflow and mindspore on `epyc-7003-2core`
([findings](../docs/lab-notes/2026-11-27-numpy-tensorflow-mindspore-releases.md)) and in jax on
`xeon-amx300-2core` ([findings](../docs/lab-notes/2026-11-30-jax-releases.md)). Times on
`nvidia-h200` come from one process each
([findings](../docs/lab-notes/2026-11-27-first-gpu.md)). The other histories hold the headline,
measured in three interleaved rounds ([findings](../docs/lab-notes/2026-11-23-histories.md)).

They show how releases of a framework differ, and how frameworks differ, on two cores of these
processors. They say little about machines with many cores, and nothing about several GPUs, prices
or power. Of *releases* the number stands first, then the oldest and the newest. *times* counts each
kernel on each release. A list below the table names families where there are many.
"""

OTHERS = """\
## Published by others

A release is a day of publication. [Published results](../docs/reference/published.md) says how each
was read.
"""


MOST_NAMES = 8
"""Families that a row names one by one."""


def committed_machines() -> list[str]:
    """Return the machines whose results are committed to the repository."""
    command = ["git", "ls-files", "--", "*/machine.json"]
    listed = subprocess.run(command, cwd=RESULTS, capture_output=True, text=True, check=True)
    committed = {Path(line).parent.name for line in listed.stdout.splitlines()}
    return [machine for machine in point_reading.machines(RESULTS) if machine in committed]


def page() -> str:
    """Return the page: a table of measured machines, and one of published ones."""
    releases = {release.hash: release for release in table_location.load(RESULTS)}
    measured, published, runs = [], [], []
    for machine in committed_machines():
        found = point_reading.load(RESULTS, machine, releases)
        kept = len(model_runs.load(RESULTS / machine))
        if kept:
            runs.append({"machine": machine, "runs": kept})
        for point in found:
            (published if point.release.framework == PUBLISHED else measured).append(point)
    parts = [INTRODUCTION, MEASURED, _markdown(_measured(measured)), _many_families(measured)]
    parts += ["Runs of whole models with percentiles or scaling:\n", _markdown(runs)]
    parts += [OTHERS, _markdown(_published(published))]
    return "\n".join(parts)


def _measured(found: Iterable[Point]) -> list[dict[str, object]]:
    """Return a row for each machine, framework, precision and external setting."""
    return [
        {
            "machine": machine,
            "framework": f"{framework}, {settings}" if settings else framework,
            "precision": precision,
            "releases": _span([point.release.version for point in group]),
            "families": _families(group),
            "times": f"{len(group):,}",
        }
        for (machine, framework, precision, settings), group in _groups(found, _row)
    ]


def _row(point: Point) -> tuple[str, str, str, str]:
    """Return the values that the points of a row share."""
    settings = point.unusual.get(SETTINGS, "")
    return point.machine, point.release.framework, point.precision, settings


def _published(found: Iterable[Point]) -> list[dict[str, object]]:
    """Return a row for each machine."""
    return [
        {
            "machine": machine,
            "processor or accelerator": _described(machine),
            "days": _span([str(point.release.date) for point in group]),
            "families": _families(group),
            "times": f"{len(group):,}",
        }
        for machine, group in _groups(found, lambda point: point.machine)
    ]


def _groups(found: Iterable[Point], key: Callable[[Point], Any]) -> list[tuple[Any, list[Point]]]:
    """Return the points of each key, in order of the keys."""
    return [(each, list(group)) for each, group in groupby(sorted(found, key=key), key)]


def _span(names: list[str]) -> str:
    """Return the number of different names, with the first and the last in the given order."""
    different = list(dict.fromkeys(names))
    if len(different) == 1:
        return different[0]
    return f"{len(different)}: {different[0]} to {different[-1]}"


def _families(found: list[Point]) -> str:
    """Return the names of few families, and the number of many, which a list below names."""
    names = sorted({point.family for point in found})
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} families"


def _many_families(measured: Iterable[Point]) -> str:
    """Return a line for each row of measured machines whose families the table only counts."""
    lines = []
    for (machine, framework, precision, settings), group in _groups(measured, _row):
        names = sorted({point.family for point in group})
        if len(names) > MOST_NAMES:
            which = ", ".join(filter(None, (machine, framework, settings, precision)))
            lines.append(
                textwrap.fill(f"- {which}: {', '.join(names)}", 150, subsequent_indent="  ")
            )
    return "\n".join(lines) + "\n"


def _described(machine: str) -> str:
    entry = json.loads((RESULTS / machine / "machine.json").read_text())
    accelerator = entry.get("accelerator", "")
    return accelerator if accelerator not in ("", "none") else entry["cpu"]


def _markdown(rows: list[dict[str, object]]) -> str:
    return tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True) + "\n"


if __name__ == "__main__":
    generated_page.write_or_check(PAGE, page, "python scripts/make_results_inventory.py")
