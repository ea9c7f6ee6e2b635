"""The numbers in the damaged files of fuzz.py, by their meaning."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzzed_commands import Times

from deepbench_ops.asv_adapter import result_files
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.storage import measurement_files, model_run_fields, model_runs


def times_of(rounds: Mapping[KernelIdentity, Iterable[Round]]) -> Times:
    """Return the seconds of each sweep and of the yardstick, by kernel, round and release, with
    calls, nominal readings and latencies in nanoseconds."""
    found: Times = {}
    for task, several in rounds.items():
        for each in several:
            for number, sweep in enumerate(each.sweeps):
                found |= {(task, each.id, number, name): sweep[name] for name in sweep}
            found |= {(task, each.id, n, ""): t for n, t in enumerate(each.yardstick) if t == t}
            found |= {(task, each.id, "calls", name): n for name, n in each.calls.items()}
            several = {"nominal": [each.nominal], "nominals": each.nominals}
            several["latencies"] = each.latencies
            for name, numbers in several.items():
                found |= {
                    (task, each.id, name, n): t for n, t in enumerate(numbers) if t is not None
                }
    return found


def levels_of(path: Path) -> Times:
    """Return the level of every process of a file of measurements, by record; of records that
    are there twice both."""
    found: Times = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for record in measurement_files.load(path)[1]:
        if not measurement_files.is_less(record):
            names = record["benchmark"], *record["params"], record.get("started_at")
            found[(*names, counts[names])] = measurement_files.level(record)
            counts[names] += 1
    return found


def profile_of(path: Path) -> Times:
    """Return the figures of a machine's profile."""
    known = machine_profile.read(path.parent.parent, path.parent.name)
    assert known is not None
    groups = {"bandwidth": known.bandwidth, **known.peaks, **known.yardsticks}
    for level in known.levels:
        groups |= {(level.nanoseconds, count): each for count, each in level.yardsticks.items()}
    found: Times = {
        (group, name): figure.value
        for group, figures in groups.items()
        for name, figure in figures.items()
        if figure.value is not None
    }
    found |= {("level", count): at for count, at in known.yardstick_levels.items()}
    sizes = ("memory_bytes", "last_level_cache_bytes")
    return found | {(name,): int(known.facts[name]) for name in sizes if name in known.facts}


def runs_of(path: Path) -> Times:
    """Return the times and counts of runs of models."""
    return {
        (number, name): run[name]
        for number, run in enumerate(model_runs.load(path.parent))
        for name in (*model_run_fields.TIMES, *model_run_fields.COUNTS)
        if run.get(name) is not None
    }


def entry_of(path: Path) -> Times:
    """Return the texts of the numbers in a machine.json."""
    texts = result_files.entry(path)
    return {(name,): texts[name] for name in ("num_cpu", "ram") if name in texts}


def pages_of(world: Path) -> Times:
    """Return the data of the published pages and of asv's graphs, by path."""
    html = world / "html"
    return {
        (str(path.relative_to(html)),): path.read_bytes()
        for folder in ("data", "graphs")
        for path in sorted((html / folder).rglob("*"))
        if path.is_file()
    }


def graphs_of(world: Path) -> Times:
    """Return the numbers of asv's graphs, whatever their parameters, and the data of pages."""
    found = {key: value for key, value in pages_of(world).items() if key[0].startswith("data")}
    graphs = (world / "html" / "graphs").rglob("*.json")
    values = {value for path in graphs if "summary" not in path.parts for value in numbers(path)}
    return found | {(value,): value for value in values if value is not None}


def numbers(graph: Path) -> Iterator[Any]:
    """Yield the values of one of asv's graphs; each has a revision and one or several values."""
    for row in () if graph.name == "summary.json" else json.loads(graph.read_text()):
        yield from row[1] if isinstance(row[1], list) else [row[1]]


FIGURES = {
    "machine.profile": profile_of,
    "model runs": runs_of,
    "measurements": levels_of,
    "machine.json": entry_of,
}
"""Functions that return the content of a file other than exported times, by its kind."""
