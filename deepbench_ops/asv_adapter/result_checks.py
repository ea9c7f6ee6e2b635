"""Checks of asv's results: their format, and values that cannot be right."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asv.results import Results, get_filename

from deepbench_ops.asv_adapter import private_result_fields
from deepbench_ops.asv_adapter.private_result_fields import INTERVAL, Fields
from deepbench_ops.storage import seconds_limits

REMEDY = "restore it from git, or remove it"

NAME = re.compile(r"[\w.\- ]*")
"""Of a parameter or a variable: asv's pages write it into HTML as it stands."""

SHOWN = 3
"""Number of values of a file that are named; of more the count is."""

LATEST = 4102444800000
"""Milliseconds of the year 2100, after which no release has appeared."""


def check(path: Path, results: Results) -> None:
    """Take the values that cannot be right out of a result, and name them in its `refused`.

    path: of its file.
    Raises ValueError, with the reason, for a result that is not as asv writes it.
    """
    wrong = _wrong(path, results)
    if wrong:
        raise ValueError(wrong)
    fields = private_result_fields.of(results)
    found = [line for name in fields.values for line in _take_out(fields, name)]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    named = f"{path}: left out, since they cannot be right: {', '.join(found[:SHOWN])}{more}"
    results.refused = f"{named}: {REMEDY}" if found else ""


def _take_out(fields: Fields, name: str) -> Iterator[str]:
    """Yield the parameters and the reason of each value that is taken out of a benchmark."""
    values, samples, stats = (column[name] or [] for column in fields.columns)
    for place, value in enumerate(values):
        if value is None or value != value:
            continue
        stat = stats[place] if stats else None
        several = samples[place] if samples else None
        reason = seconds_limits.why_not(value, stat, several)
        if reason:
            values[place] = math.nan
            for column in filter(None, (stats, samples)):
                column[place] = None
            yield f"{name}({_parameters(fields, name, place)}): {reason}"
        elif stat and seconds_limits.unbounded(stat):
            for bound in INTERVAL:
                stat.pop(bound, None)


def _parameters(fields: Fields, name: str, place: int) -> str:
    """Return the parameters of the value at a place, as asv counts them."""
    found: list[str] = []
    for axis in reversed(fields.axes[name] or ()):
        place, at = divmod(place, len(axis))
        found.insert(0, axis[at])
    return ", ".join(found)


def _wrong(path: Path, results: Results) -> str:
    """Return the difference of a result from asv's format; "" where there is none."""
    texts = {
        "commit_hash": results.commit_hash,
        "env_name": results.env_name,
        "python": private_result_fields.python(results),
    }
    for name, text in texts.items():
        if not isinstance(text, str):
            return f"its {name} is no text"
    if not seconds_limits.is_number(results.date) or not 0 <= results.date < LATEST:
        return "its date is no day"
    own = Path(get_filename("", results.commit_hash, results.env_name)).name
    if own != path.name:
        return f"it is {own}"
    maps = {
        "params": (results.params, (str, int, float, type(None))),
        "requirements": (private_result_fields.libraries(results), (str, type(None))),
        "env_vars": (results.env_vars, (str,)),
    }
    for name, (found, kinds) in maps.items():
        if not is_text_map(found, kinds):
            return f"its {name} are no texts by name"
    names = (*results.params, *results.env_vars)
    odd = next((name for name in names if not NAME.fullmatch(name)), "")
    if odd:
        return f"it has a parameter {odd!r}"
    fields = private_result_fields.of(results)
    return next(filter(None, (_wrong_benchmark(fields, name) for name in fields.values)), "")


def _wrong_benchmark(fields: Fields, name: str) -> str:
    """Return the difference of a benchmark's columns from asv's format; "" where there is none."""
    axes = fields.axes[name]
    if not (axes is None or is_list_of_texts(axes)):
        return f"the parameters of {name} are no lists of texts"
    count = math.prod(map(len, axes or ()))
    for kind, columns in zip(("results", "samples", "stats"), fields.columns, strict=True):
        column = columns[name]
        if column is not None and not (isinstance(column, list) and len(column) == count):
            return f"{name} has {count} parameters and other {kind}"
    for figure in (fields.started_at[name], fields.durations.get(name)):
        if figure is not None and not seconds_limits.is_number(figure):
            return f"{name} has a time of day that is none"
    version = fields.versions[name]
    return "" if version is None or isinstance(version, str) else f"the version of {name} is none"


def is_text_map(found: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is a map of texts, or of other kinds but truth values, by name."""
    return isinstance(found, dict) and all(
        isinstance(text, kinds) and not isinstance(text, bool) for text in found.values()
    )


def is_list_of_texts(axes: Any) -> bool:
    """Whether parameters are as asv writes them: for each a list of values as texts."""
    return isinstance(axes, list) and all(
        isinstance(axis, list) and set(map(type, axis)) == {str} for axis in axes
    )
