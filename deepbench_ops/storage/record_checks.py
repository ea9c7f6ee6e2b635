"""Check of the fields of a record of a measurement."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from deepbench_ops.storage.json_lines import DamagedLine
from deepbench_ops.storage.seconds_limits import LONGEST, MOST_CALLS, SHORTEST, is_number


class NoRecord(DamagedLine):
    """A field of a record cannot be right; the text says which."""


def check(record: Any) -> None:
    """Raise NoRecord for an entry that is no record of a measurement or of a skip."""
    if not isinstance(record, dict):
        raise NoRecord(f"it is {str(record)[:40]!r}")
    for name, right in _checks(tuple(record)):
        if not right(record[name]):
            raise NoRecord(f"its {name} is {str(record[name])[:40]}")
    readings = record.get("yardstick")
    if readings and len(readings) != len(record["seconds"]):
        raise NoRecord(
            f"{len(record['seconds'])} seconds and {len(readings)} readings of the yardstick"
        )
    if "ensemble" in record:
        _check_ensemble(record["ensemble"])
    if "seconds" in record:
        _refuse_longer_than_spent(record)


@lru_cache(maxsize=100)
def _checks(names: tuple[str, ...]) -> list[tuple[str, Callable[[Any], bool]]]:
    """Return the checks of a record's fields, given their names, which many records share.

    Raises NoRecord for the name of no field, and where a field is missing.
    """
    if odd := next((name for name in names if not name.isidentifier()), ""):
        raise NoRecord(f"it has a field {odd[:40]!r}")
    for name in ("benchmark", "params", *(() if "skipped" in names else MEASURED_FIELDS)):
        if name not in names:
            raise NoRecord(f"it lacks {name}")
    return [(name, FIELDS[name]) for name in names if name in FIELDS]


def _check_ensemble(found: Any) -> None:
    """Raise NoRecord for a value that does not say from which rounds a record comes."""
    if not isinstance(found, dict):
        raise NoRecord(f"its ensemble is {str(found)[:40]}")
    given = {"states": [], **found}
    for name, right in ENSEMBLE_FIELDS.items():
        if not right(given.get(name)):
            raise NoRecord(f"its ensemble.{name} is {str(given.get(name))[:40]}")


def _refuse_longer_than_spent(record: Mapping[str, Any]) -> None:
    """Raise NoRecord where the calls took longer than their process spent in the kernel."""
    total = record.get("number", 1) * sum(record["seconds"])
    spent = record.get("spent", {}).get("kernel", total)
    if total > spent * LARGEST_SPENT_RATIO:
        raise NoRecord(
            f"its raw seconds add up to {total:.4g} s, and its process spent {spent:.4g} s in the"
            " kernel: another unit?"
        )


MEASURED_FIELDS = ("seconds", "yardstick", "started_at", "fingerprint")
"""Fields that every record has but those of skips."""

LARGEST_SPENT_RATIO = 1.01
"""Largest ratio of the sum of raw seconds to the time of the process in the kernel with warm-up.

Both are rounded to four digits. In results/ the sum is 0.05 % longer at most.
"""

MOST_ROUNDS = 10**6
"""Largest number of rounds of an ensemble: a hundred a day for 27 years."""

LONGEST_SPENT = 1000 * LONGEST
"""Largest number of seconds that a process may have spent."""


def _times(least: float) -> Callable[[Any], bool]:
    """Return a check that a value is a list of seconds, none below `least`."""

    def right(found: Any) -> bool:
        return (
            isinstance(found, list)
            and set(map(type, found)) <= {int, float}
            and (not found or least <= min(found) <= max(found) <= LONGEST)
        )

    return right


_seconds = _times(SHORTEST)


def _text(found: Any) -> bool:
    return isinstance(found, str)


def _named(params: list[Any]) -> bool:
    """Whether parameters are a problem's id, and texts or numbers of ranks."""
    return set(map(type, params)) <= {str, int} and all(map(_text, params[:1]))


def _figures(found: Any) -> bool:
    return isinstance(found, dict) and all(map(is_number, found.values()))


def _columns(found: Any) -> bool:
    return isinstance(found, dict) and all(
        isinstance(values, list) and all(map(is_number, values)) for values in found.values()
    )


def _nanoseconds(found: Any) -> bool:
    return is_number(found) and 1 <= found < 1e9


def _spent(found: Any) -> bool:
    return _figures(found) and all(0 <= seconds <= LONGEST_SPENT for seconds in found.values())


FIELDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("benchmark", "release", "fingerprint", "skipped", "yardstick_kind"), _text),
    "implementation": _text,
    "params": lambda found: isinstance(found, list) and _named(found),
    "seconds": lambda found: bool(found) and _seconds(found),
    "yardstick": _seconds,
    "put_aside": lambda found: isinstance(found, list) and all(map(_seconds, found)),
    "nominal": lambda found: found is None or _seconds([found]),
    "noise": lambda found: found is None or is_number(found),
    "started_at": lambda found: is_number(found) and 0 <= found < 4102444800,
    "core_latencies": lambda found: isinstance(found, list) and all(map(_nanoseconds, found)),
    "number": lambda found: type(found) is int and 1 <= found <= MOST_CALLS,
    "device_readings": _columns,
    "notes": lambda found: isinstance(found, dict),
    "readings": _figures,
    "spent": _spent,
}
"""Checks by name of a field: whether a value can be right."""

ENSEMBLE_FIELDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("file", "anchor"), _text),
    **dict.fromkeys(("ratio", "low", "high"), is_number),
    "rounds": lambda found: type(found) is int and 1 <= found <= MOST_ROUNDS,
    "seconds": lambda found: _seconds([found]),
    "interval": lambda found: _seconds(found) and len(found) == 2,
    "states": lambda found: isinstance(found, list) and all(map(_text, found)),
}
"""The same for the fields of a record's `ensemble`, which needs all but `states`."""
