"""Check of the fields of a line of a file of ensemble rounds."""

import re
from collections.abc import Callable
from typing import Any

from deepbench_ops.storage import facts_digest
from deepbench_ops.storage.json_lines import DamagedLine
from deepbench_ops.storage.seconds_limits import MOST_CALLS, all_times, is_number, is_time

KERNEL = ("family", "problem", "precision", "operation")
"""Fields that name the kernel."""

RELEASE_NAME = re.compile(r"\w[\w.+!-]*")
"""Characters of the name of a release."""

NEEDED = (*KERNEL, "round", "version", "started_at", "ended_at", "anchor", "seconds", "reasons")


class NoRound(DamagedLine):
    """A field of a line cannot be right; the text says which."""


def check(entry: Any) -> None:
    """Raise NoRound for an entry that is no round of a kernel."""
    if not isinstance(entry, dict):
        raise NoRound(f"it is {str(entry)[:40]!r}")
    for name in NEEDED:
        if name not in entry:
            raise NoRound(f"it lacks {name}")
    if unknown := sorted(entry.keys() - FIELDS.keys()):
        raise NoRound(f"its field {unknown[0][:40]!r} is damaged, or of a newer version")
    for name, right in FIELDS.items():
        if name in entry and not right(entry[name]):
            raise NoRound(f"its {name} is {str(entry[name])[:40]}")
    seconds = entry["seconds"]
    calls = entry.get("calls") or seconds
    if lacking := sorted(set(seconds) - set(calls)):
        raise NoRound(f"its calls lack {lacking[0][:40]}")
    lengths = {len(column) for column in seconds.values()}
    further = entry.get("yardstick", {})
    columns = (further.get("seconds"), further.get("nominals"), further.get("remarks"))
    lengths |= {len(each) for each in (*columns, entry.get("sweep_latencies")) if each}
    if len(lengths) > 1:
        raise NoRound(f"releases have {min(lengths)} to {max(lengths)} sweeps")


def _text(found: Any) -> bool:
    return isinstance(found, str)


def _instant(found: Any) -> bool:
    return is_number(found) and 0 <= found < 4102444800


def _column(found: Any) -> bool:
    """Whether a value is the seconds of each sweep, null where there are none."""
    if not isinstance(found, list):
        return False
    return all_times([each for each in found if each is not None] if None in found else found)


def _counts(found: Any) -> bool:
    return isinstance(found, dict) and all(
        type(n) is int and 1 <= n <= MOST_CALLS for n in found.values()
    )


def _yardstick(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and isinstance(found.get("kind"), str)
        and _column(found.get("seconds"))
        and isinstance(found.get("remark", ""), str)
        and (found.get("nominal") is None or is_time(found["nominal"]))
        and _column(found.get("nominals", []))
        and isinstance(found.get("remarks", []), list)
        and all(isinstance(text, str) for text in found.get("remarks", []))
    )


def _nanoseconds(found: Any) -> bool:
    return is_number(found) and 1 <= found < 1e9


def _pairs(found: Any) -> bool:
    """Whether a value is the latencies before and after each sweep, null where there are none."""
    return isinstance(found, list) and all(
        isinstance(two, list)
        and len(two) == 2
        and all(each is None or _nanoseconds(each) for each in two)
        for two in found
    )


FIELDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys((*KERNEL, "round", "version", "benchmark_version", "state"), _text),
    "anchor": lambda found: _text(found) and bool(RELEASE_NAME.fullmatch(found)),
    **dict.fromkeys(("started_at", "ended_at"), _instant),
    **dict.fromkeys(
        ("reasons", "fingerprints", "implementations", "notes", "conditions"), facts_digest.is_texts
    ),
    "seconds": lambda found: (
        isinstance(found, dict)
        and all(map(RELEASE_NAME.fullmatch, found))
        and all(map(_column, found.values()))
    ),
    "calls": _counts,
    "yardstick": _yardstick,
    "latencies": lambda found: isinstance(found, list) and all(map(_nanoseconds, found)),
    "sweep_latencies": _pairs,
}
"""Checks by name of a field: whether a value can be right."""
