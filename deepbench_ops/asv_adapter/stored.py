"""asv's result files, read without values that cannot be right.

asv takes any JSON for a result: a number that is no time stops its search for steps for ever, and
a file that it cannot take apart is left out with a warning. Here such a file is an error that names
it, and such a value is left out and named.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from asv.benchmarks import Benchmarks
from asv.machine import Machine
from asv.results import Results, get_filename
from asv.util import UserError, load_json

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import limited, times

NAME = re.compile(r"[\w.\- ]*")
"""Of a parameter or a variable: asv's pages write it into HTML as it stands."""

MEND = "restore it from git, or remove it"

PREFIX = re.compile(r"^Error [a-zA-Z ]+ '.*?': ")
"""The part of asv's message before the reason."""

SHOWN = 3
"""Values of a file that are named; of more the number is."""

DAMAGE = (UserError, ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Exceptions that asv raises for files that are not as it writes them."""

LATEST = 4102444800000
"""Milliseconds of the year 2100, after which no release has appeared."""


def read(path: Path) -> Results:
    """Return a result file without the values that cannot be right; its `refused` names those.

    Raises DeepbenchError, with the reason, for a file that asv cannot take apart or that is of
    another machine than its folder.
    """
    try:
        limited.demand_smaller(path, limited.RESULT)
        stored = Results.load(str(path), path.parent.name)
        if not hasattr(stored, "refused"):  # `loaded` has checked it
            check(path, stored)
    except DAMAGE as wrong:
        raise damaged(path, wrong) from None
    return stored


def whole(path: Path) -> Results:
    """Return a result file; DeepbenchError where `read` would leave anything out."""
    stored = read(path)
    if stored.refused:
        raise DeepbenchError(stored.refused)
    return stored


def of_machine(folder: Path, report: Callable[[str], None]) -> Iterator[Results]:
    """Yield the results in a machine's folder; `report` gets a line for each file that is left out,
    or holds values that are."""
    for path in paths(folder):
        try:
            stored = read(path)
        except DeepbenchError as wrong:
            report(str(wrong))
            continue
        if stored.refused:
            report(stored.refused)
        yield stored


def paths(folder: Path) -> list[Path]:
    """Return the result files in a machine's folder."""
    return sorted(path for path in folder.glob("*.json") if path.name != "machine.json")


def entry(path: Path) -> dict[str, str]:
    """Return asv's description of a machine. Raises DeepbenchError for a damaged machine.json."""
    try:
        limited.demand_smaller(path, limited.SMALL)
        found = load_json(str(path), Machine.api_version)
        if not _is_text_map(found, (str, int)) or not isinstance(found.get("machine"), str):
            raise ValueError("it describes no machine")
    except DAMAGE as wrong:
        raise damaged(path, wrong) from None
    return {name: str(text) for name, text in found.items() if name != "version"}


def damaged(path: Path, wrong: Exception) -> DeepbenchError:
    """Return the error about a file of results that cannot be read."""
    reason = PREFIX.sub("", " ".join(str(wrong).split()))
    if isinstance(wrong, RecursionError):
        reason = "it is nested too deeply"
    if "format" in reason and path.name.endswith(".json"):
        found = json.loads(limited.read_bytes(path, limited.RESULT)).get("version")
        known = VERSIONS.get(path.name, Results.api_version)
        return DeepbenchError(f"{path} has format version {found!r}, and asv reads {known}: {MEND}")
    return DeepbenchError(f"{path} is not whole ({reason or type(wrong).__name__}): {MEND}")


VERSIONS = {"machine.json": Machine.api_version, "benchmarks.json": Benchmarks.api_version}
"""Format versions that asv reads, by file; all other files are results."""


def check(path: Path, stored: Results) -> None:
    """Take the values that cannot be right out of a result, and name them in its `refused`.

    Raises ValueError, with the reason, for a result that is not as asv writes it.
    """
    wrong = _wrong(path, stored)
    if wrong:
        raise ValueError(wrong)
    found: list[str] = []
    for name in stored._results:
        found += _check_benchmark(stored, name)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    named = f"{path}: left out, since they cannot be right: {', '.join(found[:SHOWN])}{more}"
    stored.refused = f"{named}: {MEND}" if found else ""


def _check_benchmark(stored: Results, name: str) -> Iterator[str]:
    values, stats, samples = stored._results[name], stored._stats[name], stored._samples[name]
    for place, (value, stat, several) in enumerate(
        zip_longest(values or (), stats or (), samples or ())
    ):
        if value is None or value != value:
            continue
        reason = times.why_not(value, stat, several)
        if reason:
            values[place] = math.nan
            for column in filter(None, (stats, samples)):
                column[place] = None
            yield f"{name}({_params(stored, name, place)}): {reason}"
        elif stat and times.unbounded(stat):
            stat.pop("ci_99_a", None)
            stat.pop("ci_99_b", None)


def _params(stored: Results, name: str, place: int) -> str:
    """Return the parameters of the value at a place, as asv counts them."""
    found: list[str] = []
    for axis in reversed(stored._benchmark_params[name] or ()):
        place, at = divmod(place, len(axis))
        found.insert(0, axis[at])
    return ", ".join(found)


def _wrong(path: Path, stored: Results) -> str:
    """Return the difference of a result from asv's format; "" where there is none."""
    texts = {
        "commit_hash": stored.commit_hash,
        "env_name": stored.env_name,
        "python": stored._python,
    }
    for name, text in texts.items():
        if not isinstance(text, str):
            return f"its {name} is no text"
    if not times.is_number(stored.date) or not 0 <= stored.date < LATEST:
        return "its date is no day"
    own = Path(get_filename("", stored.commit_hash, stored.env_name)).name
    if own != path.name:
        return f"it is {own}"
    maps = {
        "params": (stored.params, (str, int, float, type(None))),
        "requirements": (stored._requirements, (str, type(None))),
        "env_vars": (stored.env_vars, (str,)),
    }
    for name, (found, kinds) in maps.items():
        if not _is_text_map(found, kinds):
            return f"its {name} are no texts by name"
    odd = next(
        (name for name in (*stored.params, *stored.env_vars) if not NAME.fullmatch(name)), ""
    )
    if odd:
        return f"it has a parameter {odd!r}"
    return next(filter(None, (_wrong_benchmark(stored, name) for name in stored._results)), "")


def _wrong_benchmark(stored: Results, name: str) -> str:
    axes = stored._benchmark_params[name]
    if not (axes is None or is_list_of_texts(axes)):
        return f"the parameters of {name} are no lists of texts"
    count = math.prod(map(len, axes or ()))
    for what in ("_results", "_stats", "_samples"):
        column = getattr(stored, what)[name]
        if column is not None and not (isinstance(column, list) and len(column) == count):
            return f"{name} has {count} parameters and other {what[1:]}"
    for figure in (stored._started_at[name], stored._duration.get(name)):
        if figure is not None and not times.is_number(figure):
            return f"{name} has a time of day that is none"
    version = stored._benchmark_version[name]
    return "" if version is None or isinstance(version, str) else f"the version of {name} is none"


def _is_text_map(found: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(found, dict) and all(
        isinstance(text, kinds) and not isinstance(text, bool) for text in found.values()
    )


def is_list_of_texts(axes: Any) -> bool:
    """Whether parameters are as asv writes them: for each a list of values as texts."""
    return isinstance(axes, list) and all(
        isinstance(axis, list) and axis and all(isinstance(text, str) for text in axis)
        for axis in axes
    )
