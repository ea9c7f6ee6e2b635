"""The fields of asv's results that asv keeps to itself; no other module reads or sets them.

A result is of one release, environment and machine. It holds a column of values for each benchmark,
in the order of all combinations of the benchmark's parameters, and columns of samples and
statistics next to it.
"""

import copy
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from asv._stats import get_weight
from asv.results import Results
from asv.util import truncate_float_list

from deepbench_ops.storage.result_key import ResultKey, unquoted

Column = list[Any] | None

INTERVAL = ("ci_99_a", "ci_99_b")
"""Names of the bounds of an interval in asv's statistics."""

SKIPPED = (math.nan, None, None)
"""Value, samples and statistics of a point that was not measured; asv takes None for a failure."""


class Fields(NamedTuple):
    """Columns and facts of a result, each by benchmark; changing one changes the result.

    axes: the values of each parameter, as texts. started_at: milliseconds. durations: seconds.
    """

    values: dict[str, Column]
    samples: dict[str, Column]
    stats: dict[str, Column]
    axes: dict[str, list[list[str]]]
    started_at: dict[str, Any]
    durations: dict[str, Any]
    profiles: dict[str, Any]
    versions: dict[str, str | None]

    @property
    def columns(self) -> tuple[dict[str, Column], ...]:
        """Values, samples and statistics: the fields with an entry for each combination."""
        return self.values, self.samples, self.stats

    def keys(self, name: str) -> list[tuple[str, ...]]:
        """Return the combinations of a benchmark's parameters, in the order of its columns."""
        return list(product(*(self.axes.get(name) or ())))


class StoredValue(NamedTuple):
    """A value of a result, with its parameters as asv writes them, its statistics and samples."""

    name: str
    key: tuple[str, ...]
    value: Any
    stat: dict[str, Any] | None
    samples: list[float] | None


def new(
    machine: Mapping[str, str],
    libraries: Mapping[str, str],
    commit: str,
    milliseconds: int,
    python: str,
    environment: str,
    variables: Mapping[str, str],
) -> Results:
    """Return a result without values.

    machine: asv's description of it. libraries: stored in place of an environment's requirements.
    milliseconds: of the release's day, since 1970.
    """
    params = {**machine, "python": python}
    own = dict(libraries), commit, milliseconds, python, environment, dict(variables)
    return Results(params, *own)


def of(results: Results) -> Fields:
    """Return the fields of a result."""
    return Fields(
        results._results,
        results._samples,
        results._stats,
        results._benchmark_params,
        results._started_at,
        results._duration,
        results._profiles,
        results._benchmark_version,
    )


def path_of(results: Results) -> Path:
    """Return the path of a result's file, below the folder of all results."""
    return Path(results._filename)


def python(results: Results) -> str:
    """Return the version of Python that a result was measured with."""
    found: str = results._python
    return found


def libraries(results: Results) -> dict[str, str]:
    """Return the libraries that a result holds in place of an environment's requirements."""
    found: dict[str, str] = results._requirements
    return found


def set_libraries(results: Results, new: Mapping[str, str]) -> None:
    """Put libraries in the place of those of a result, in the order of their names."""
    results._requirements = dict(sorted(new.items()))


def each(results: Results) -> Iterator[StoredValue]:
    """Yield the values that a result holds; asv itself looks each up by its parameters."""
    fields = of(results)
    for name, values in fields.values.items():
        stats, samples = fields.stats.get(name) or (), fields.samples.get(name) or ()
        rows = zip_longest(fields.keys(name), values or (), stats, samples)
        for key, value, stat, several in rows:
            if key is None:
                break
            if value is not None and value == value:
                yield StoredValue(name, key, value, stat, several)


def failed(results: Results) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield name and parameters of each point that failed; asv stores NaN for skipped ones.

    A benchmark whose points all failed has no column.
    """
    fields = of(results)
    for name, values in fields.values.items():
        keys = fields.keys(name)
        for key, value in zip(keys, values or [None] * len(keys), strict=False):
            if value is None:
                yield name, key


def put(
    results: Results,
    name: str,
    axes: list[list[str]],
    values: Sequence[float],
    samples: Sequence[Any],
    stats: Sequence[Any] = (),
) -> None:
    """Put columns of a benchmark into a result; one without any entry is left out."""
    fields = of(results)
    fields.axes[name] = axes
    fields.values[name] = list(values)
    fields.samples[name] = list(samples) if any(samples) else None
    fields.stats[name] = list(stats) if any(stats) else None


def take_out(results: Results, key: ResultKey, part: Sequence[float]) -> None:
    """Remove samples that lie next to one another from those of a point, named by a plain key.

    A point without just these samples stays as it is.
    """
    name, fields = key[0], of(results)
    for place, each in enumerate(fields.keys(name)):
        column = fields.samples.get(name)
        if column is None or unquoted(name, each) != key or not column[place]:
            continue
        held, count = list(column[place]), len(part)
        starts = range(len(held) - count + 1)
        found = next((at for at in starts if held[at : at + count] == list(part)), None)
        if found is not None:
            rest = held[:found] + held[found + count :]
            fields.samples[name] = [*column[:place], rest or None, *column[place + 1 :]]


def put_point(
    results: Results,
    benchmark: Mapping[str, Any],
    key: tuple[str, ...],
    value: float,
    samples: list[float] | None = None,
    stats: Mapping[str, Any] | None = None,
    started_at: int | None = None,
) -> None:
    """Put one value into a result; NaN, a skipped value, only where nothing is stored.

    benchmark: asv's description of it. key: parameters as asv writes them. started_at: milliseconds
    since 1970. Values of the benchmark that were stored for other parameters stay, but for those of
    another version of it; parameters without any are skipped values.
    """
    fields, name = of(results), benchmark["name"]
    if fields.versions.get(name) != benchmark["version"]:
        fields.values.pop(name, None)
    axes = [list(axis) for axis in benchmark["params"]]
    keys = list(product(*axes))
    if name not in fields.values or fields.axes.get(name) != axes:
        _set_axes(fields, name, axes, keys)
    place, column = keys.index(key), fields.values[name]
    assert column is not None
    if value != value and column[place] is not None and column[place] == column[place]:
        return
    column[place] = value
    for field, new in ((fields.samples, samples), (fields.stats, stats)):
        own = list(field.get(name) or [None] * len(keys))
        own[place] = None if new is None else new
        field[name] = own if any(each is not None for each in own) else None
    fields.versions[name] = benchmark["version"]
    fields.started_at[name] = started_at or fields.started_at.get(name)
    fields.durations.setdefault(name, None)


def _set_axes(
    fields: Fields, name: str, axes: list[list[str]], keys: list[tuple[str, ...]]
) -> None:
    """Give a benchmark's columns new parameters; values of those that it had before stay."""
    stored = name in fields.values
    old = {key: place for place, key in enumerate(fields.keys(name))} if stored else {}
    for field, missing in zip(fields.columns, SKIPPED, strict=True):
        column = (field.get(name) if stored else None) or []
        field[name] = [
            column[old[key]] if key in old and old[key] < len(column) else missing for key in keys
        ]
    fields.axes[name] = axes


def as_stored(bound: float) -> float:
    """Return a bound of an interval with the digits that asv keeps of it."""
    found: float = truncate_float_list(bound)
    return found


def sort(results: Results) -> None:
    """Put the benchmarks of a result in the order of their names."""
    results._results = dict(sorted(results._results.items()))


def without(results: Results, keys: Collection[ResultKey]) -> Results:
    """Return a copy of a result in which these values are skipped ones, NaN."""
    changed = copy.copy(results)
    changed._results = dict(results._results)
    fields = of(changed)
    for name in {name for name, _ in keys}:
        column = zip(fields.keys(name), fields.values[name] or (), strict=True)
        fields.values[name] = [math.nan if (name, key) in keys else value for key, value in column]
    return changed


def keep_for_graphs(results: Results) -> None:
    """Take out of a result everything that asv's graphs do not need.

    Its samples and profiles go, and each value has asv's weight in place of its statistics.
    """
    fields = of(results)
    for name, stats in fields.stats.items():
        fields.stats[name] = stats and [each and get_weight(each) for each in stats]
    for column in (fields.samples, fields.profiles):
        column.update(dict.fromkeys(column))


@contextmanager
def named(results: Results, name: str) -> Iterator[None]:
    """Let asv write a result to a file of another name, in the block."""
    own, results._filename = results._filename, name
    try:
        yield
    finally:
        results._filename = own
