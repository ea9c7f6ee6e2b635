"""Runs of whole models on a machine, by `deepbench latency` and `deepbench scaling`.

results/MACHINE/model_runs.jsonl holds one JSON object a line.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deepbench_ops.run_conditions import LAYOUT
from deepbench_ops.storage import atomic_write, bounded_read, json_lines, locks, seconds_limits

FILE = "model_runs.jsonl"
ASKED = {
    "latency": (
        *("model", "batch", "threads", "precision", "by", "layout", "inter_op"),
        *("device", "release"),
    ),
    "scaling": ("model", "batch", "ranks", "precision", "split", "device", "release"),
}
"""Fields that identify a run, by its kind; a new run of this project replaces one with the same
values, unless another launcher started its ranks."""

LAUNCHER = "launcher"
"""Condition of a run over several nodes: the program that started its ranks."""

TIMES = ("median_seconds", "p90_seconds", "p99_seconds", "step_seconds", "low", "high")
"""Fields in seconds."""

ASCENDING = (("median_seconds", "p90_seconds", "p99_seconds"), ("low", "step_seconds", "high"))
"""Times of a run; none is less than the one before."""

COUNTS = (
    *("batch", "batches", "threads", "ranks", "steps"),
    *("inter_op", "inter_op_threads", "intra_op_threads"),
)
SAMPLES = ("batches", "steps")
"""Counts of the times that a run is made of."""

MOST = 10**9
"""Largest count."""

FIELDS = {
    *("kind", *TIMES, *COUNTS, *ASKED["latency"], *ASKED["scaling"]),
    *("framework", "day", "conditions", "off", "drift"),
}

NEEDED = {"latency": "median_seconds", "scaling": "step_seconds"}
"""By kind of run, its time."""

FORMERLY = {"layout": LAYOUT.usual, "inter_op": None}
"""Values of fields that earlier runs lack: the usual layout, torch's own threads."""

ModelRun = dict[str, Any]


def load(machine: Path) -> list[ModelRun]:
    """Return the runs in a machine's folder, none where it has none; of runs that answer the same
    question the last.

    Raises DeepbenchError naming file and line for text that is not such a run.
    """
    path = machine / FILE
    runs: dict[tuple[Any, ...], ModelRun] = {}
    text = bounded_read.read_text(path, bounded_read.RESULT) if path.exists() else ""

    def take(run: ModelRun, line: str) -> None:
        if wrong := why_not(run):
            raise json_lines.DamagedLine(wrong)
        runs[key(run)] = run

    json_lines.take_each(text, str(path), "a run of a model", take)
    return list(runs.values())


def add(machine: Path, runs: Iterable[ModelRun]) -> Path:
    """File runs of a machine, the newest of each kind of question, and return where."""
    path = machine / FILE
    with locks.results(machine.parent, doing=f"writing {path}"):
        kept = {key(run): run for run in [*load(machine), *runs]}
        atomic_write.write_text(path, json_lines.as_text(kept.values()))
    return path


def key(run: ModelRun) -> tuple[Any, ...]:
    """Return kind and conditions of a run, by which it is known from others."""
    asked = FORMERLY | run
    launcher = dict(run.get("conditions") or {}).get(LAUNCHER)
    return run["kind"], *(asked[name] for name in ASKED[run["kind"]]), launcher


def order(run: ModelRun) -> list[tuple[str, Any]]:
    """Return the place of a run among others: by kind, model and numbers; any values compare."""
    return [(type(value).__name__, value) for value in key(run)]


def why_not(run: ModelRun) -> str:
    """Return the field of a run that cannot be right; "" where all can. Raises KeyError and
    TypeError for an entry that is no run."""
    hash(key(run))
    if unknown := sorted(run.keys() - FIELDS):
        return f"its field {unknown[0][:40]!r} is damaged, or of a newer version"
    for name, value in run.items():
        if name in TIMES:
            right = value is None or seconds_limits.is_time(value)
        elif name in COUNTS:
            right = type(value) is int and 1 <= value <= MOST
            right |= value is None and name == "inter_op"
        elif name == "conditions":
            right = all(isinstance(text, str) for text in dict(value).values())
        else:
            right = isinstance(value, str | bool | None) or seconds_limits.is_number(value)
        if not right:
            return f"its {name} is {value!r}"
    needed = NEEDED[run["kind"]]
    if run.get(needed) is None:
        return f"it lacks {needed}"
    for names in ASCENDING:
        times = [run[name] for name in names if run.get(name) is not None]
        if times != sorted(times):
            return f"its {', '.join(names)} do not ascend"
    return ""
