"""The outcome of a case of fuzz.py: numbers that are accepted, compared with those of the sound
file."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fuzzed_commands import Exported, Times

from deepbench_ops.storage import seconds_limits

NOT_MEASURED = "replaced by NaN or null"
"""Damage that nothing contradicts: files have these values where there is no time."""


@dataclass
class Outcome:
    """Outcome of the commands on a case."""

    traceback: str = ""
    hang: bool = False
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    plausible: int = 0
    refused: bool = False


def tallied(found: Outcome) -> Counter[str]:
    """Return the counts of one case, by the columns of the table."""
    return Counter(
        cases=1,
        refused=int(found.refused),
        plausible=found.plausible,
        tracebacks=int(bool(found.traceback)),
        hangs=int(found.hang),
        wrong=len(found.wrong),
        lost=len(found.lost),
    )


def compare(found: Outcome, accepted: Times, sound: Times, what: str, named: bool = False) -> None:
    """Count the accepted numbers that differ from the original ones.

    named: whether the damage was named, so that a time may lack an interval, settings or a reason.
    """
    only_derived = False
    for key, value in accepted.items():
        known = sound.get(key)
        if value == known:
            continue
        if is_derived(value, known) and named and _lacks(value, known):
            continue
        uncertain = what.startswith("flipped") or what == NOT_MEASURED
        uncertain |= what == "doubled" and _has_a_sample_twice(value, known)
        if not uncertain or not possible(value):
            found.wrong.append(f"{key}: {str(value)[:300]}, not {str(known)[:300]}")
        elif is_derived(value, known):
            only_derived = True
        else:
            found.plausible += 1
    found.plausible = max(found.plausible, int(only_derived))


def is_derived(value: Any, known: Any) -> bool:
    """Whether a row has its time, and other columns that follow from other numbers."""
    rows = isinstance(value, Exported) and isinstance(known, Exported)
    return rows and value.seconds == known.seconds


def _has_a_sample_twice(value: Any, known: Any) -> bool:
    """Whether a row has one sample more, which may change its interval."""
    return is_derived(value, known) and bool(value.samples == known.samples + 1)


def _lacks(value: Exported, known: Exported) -> bool:
    """Whether a row differs from the original one only in missing values."""
    return all(one == other or not one for one, other in zip(value, known, strict=True))


def possible(value: Any) -> bool:
    """Whether a number, a row of an export or a text may be right, for all that is known."""
    if isinstance(value, Exported):
        bounds = [each for each in (value.low, value.high) if each is not None]
        ordered = value.low is None or value.high is None or value.low <= value.high
        return ordered and all(map(seconds_limits.is_time, (value.seconds, *bounds)))
    if isinstance(value, str | bytes):
        return True
    return seconds_limits.is_time(value) or (type(value) is int and value > 0)
