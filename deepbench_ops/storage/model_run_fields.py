"""Fields of the runs of whole models, by which they are known, compared and checked."""

import re
from collections.abc import Callable
from typing import Any

from deepbench_ops.run_conditions import LAYOUT
from deepbench_ops.storage import seconds_limits

FILE = "model_runs.jsonl"
ASKED = {
    "latency": (
        *("model", "batch", "threads", "precision", "by", "layout", "inter_op"),
        *("device", "release"),
    ),
    "scaling": (
        *("model", "batch", "ranks", "threads", "precision", "split"),
        *("device", "release"),
    ),
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

NUMBERS = (*TIMES, *SAMPLES)
"""Fields in which runs of the same conditions differ if they were measured twice."""

MOST = 10**9
"""Largest count."""

HALF = re.compile("[\ud800-\udfff]")
"""Half a character, as JSON may name it."""

EXACT = 2**53
"""Largest whole number up to which a float holds each."""

NEEDED = {"latency": "median_seconds", "scaling": "step_seconds"}
"""By kind of run, its time."""

FORMERLY = {"layout": LAYOUT.usual, "inter_op": None}
"""Values of fields that earlier runs lack: the usual layout, torch's own threads."""

NULLABLE = {*TIMES, "inter_op", "framework", "day", "off", "drift"}
"""Fields that may be null."""

ModelRun = dict[str, Any]


def key(run: ModelRun) -> tuple[Any, ...]:
    """Return kind and conditions of a run, by which it is known from others."""
    asked = FORMERLY | run
    launcher = dict(run.get("conditions") or {}).get(LAUNCHER)
    return run["kind"], *(asked[name] for name in ASKED[run["kind"]]), launcher


def same_numbers(one: ModelRun, other: ModelRun) -> bool:
    """Whether two runs of the same conditions are one that was measured once."""
    return all(one.get(name) == other.get(name) for name in NUMBERS)


def order(run: ModelRun) -> list[tuple[str, Any]]:
    """Return the place of a run among others: by kind, model and numbers; any values compare."""
    return [(type(value).__name__, value) for value in key(run)]


def why_not(run: ModelRun) -> str:
    """Return the field of a run that cannot be right; "" where all can. Raises KeyError and
    TypeError for an entry that is no run."""
    hash(key(run))
    if unknown := sorted(run.keys() - FIELDS.keys()):
        return f"its field {unknown[0][:40]!r} is damaged, or of a newer version"
    for name, value in run.items():
        if not (FIELDS[name](value) or (value is None and name in NULLABLE)):
            return f"its {name} is {repr(value)[:40]}"
    needed = NEEDED[run["kind"]]
    if run.get(needed) is None:
        return f"it lacks {needed}"
    for names in ASCENDING:
        times = [run[name] for name in names if run.get(name) is not None]
        if times != sorted(times):
            return f"its {', '.join(names)} do not ascend"
    return ""


def _is_text(value: object) -> bool:
    """Whether a value is a text without half a character, which no file in UTF-8 can hold."""
    return isinstance(value, str) and not HALF.search(value)


def _is_count(value: object) -> bool:
    return type(value) is int and 1 <= value <= MOST


def _is_figure(value: object) -> bool:
    return seconds_limits.is_number(value) and (type(value) is float or abs(value) <= EXACT)  # type: ignore[arg-type]


def _are_texts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, (*value, *value.values())))


FIELDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("kind", "model", "precision", "by", "layout", "device", "release"), _is_text),
    **dict.fromkeys(("framework", "day"), _is_text),
    **dict.fromkeys(TIMES, seconds_limits.is_time),
    **dict.fromkeys(COUNTS, _is_count),
    **dict.fromkeys(("off", "drift"), _is_figure),
    "split": lambda value: isinstance(value, bool),
    "conditions": _are_texts,
}
"""Checks by name of a field: whether a value that is not null can be right."""
