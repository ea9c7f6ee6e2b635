"""Merge of a run's results with the stored ones."""

import math
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from asv.results import Results

from deepbench_ops.asv_adapter import private_result_fields
from deepbench_ops.asv_adapter.private_result_fields import INTERVAL, SKIPPED, Fields
from deepbench_ops.statistics.median_interval import log_interval
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey

WIDEST = 1e6
"""Where samples are too few for an interval, the stored one reaches from this part of the value to
this multiple of it, which is beyond any difference between releases.

asv needs one: `asv compare` looks up both bounds of two points with few samples and ends in a
KeyError without them, and `asv publish` gives a point without them the median weight of its line,
as if it were known as well as the others. It weighs a point by the width of its interval, and its
search for steps does not end where the weights of one line lie hundreds of orders of magnitude
apart: so the bounds are no larger.
"""


def merge(new: Results, stored: Results | None, records: Iterable[Record]) -> None:
    """Put every stored value into ``new`` for which that holds less, or the same from before.

    Less is a skip, a failure, or a quick look where there were several samples. The records of the
    run say which values are quick looks. A value without a record, of another type of benchmark, is
    one if it is a single sample; of a kernel of long calls that is a whole measurement. Points that
    the run did not measure are as old as its beginning: the stored result has them, or they have
    been removed from it meanwhile.

    ``new.changed``: the keys of the points that the run measured; those with a stored value leave
    it.
    """
    looks = _quick_looks(records)
    fields = private_result_fields.of(new)
    # A benchmark that the run removed is one that it has not reached.
    ran = {name for name, _ in new.changed} & fields.values.keys()
    new.changed = {key for key in new.changed if key[0] in ran}
    known = private_result_fields.of(stored) if stored else None
    for name in {*fields.values, *(known.values if known else ())} - ran:
        _take_over(fields, known, name)
    for name in ran:
        same = known and name in known.values and known.versions.get(name) == fields.versions[name]
        _restore(fields, known if same else None, name, new.changed, looks)


def _quick_looks(records: Iterable[Record]) -> dict[ResultKey, bool]:
    """Return for each measured kernel whether it was a quick look."""
    return {
        (entry["benchmark"], tuple(map(repr, entry["params"]))): "quick" in entry
        for entry in records
        if "skipped" not in entry
    }


def _take_over(new: Fields, stored: Fields | None, name: str) -> None:
    """Put a stored benchmark in the place of the new one."""
    for kind in Fields._fields:
        column = getattr(new, kind)
        column.pop(name, None)
        if stored and name in getattr(stored, kind):
            column[name] = getattr(stored, kind)[name]


def _restore(
    new: Fields,
    stored: Fields | None,
    name: str,
    changed: set[ResultKey],
    looks: Mapping[ResultKey, bool],
) -> None:
    """Put back stored values of one benchmark; ``stored``: None where it has none of this version.

    changed: keys of the points that the run measured. looks: whether each was a quick look.
    """
    places = {key: place for place, key in enumerate(stored.keys(name) if stored else ())}
    keys = new.keys(name)
    columns = [_filled(column.get(name), len(keys)) for column in new.columns]
    held = [
        _at_keys(column.get(name), places, keys, missing)
        for column, missing in zip(stored.columns if stored else ({},) * 3, SKIPPED, strict=True)
    ]
    restored = False
    for i, key in enumerate(keys):
        value, samples, _ = (column[i] for column in columns)
        old_value, old_samples, _ = (column[i] for column in held)
        if (name, key) in changed:
            if not _is_measured(old_value):
                continue
            quick = looks.get((name, key), len(samples or ()) == 1)
            fewer = quick and len(old_samples or ()) > 1
            if _is_measured(value) and not fewer:
                continue
        for kind, column in enumerate(columns):
            column[i] = held[kind][i]
        restored = True
        changed.discard((name, key))
    if restored:
        for field, column in zip(new.columns, columns, strict=True):
            field[name] = column


def _filled(column: list[Any] | None, count: int) -> list[Any]:
    """Return a copy of a column with None where it lacks entries."""
    found = list(column or ())
    return found + [None] * (count - len(found))


def _at_keys(
    column: list[Any] | None,
    places: Mapping[tuple[str, ...], int],
    keys: list[tuple[str, ...]],
    missing: float | None,
) -> list[Any]:
    """Return the entries of a column at these keys, `missing` where it has none."""
    return [column[places[key]] if column and key in places else missing for key in keys]


def _is_measured(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def set_intervals(results: Results) -> None:
    """Store intervals of log seconds, which are above zero, in place of those that asv made.

    Points that the run did not measure (`changed`) keep theirs, unless they reach to zero or have
    no end: those of ensembles are no intervals of samples.
    """
    fields = private_result_fields.of(results)
    changed = getattr(results, "changed", None)
    for name in fields.stats:
        rows = zip_longest(
            fields.keys(name), *(column.get(name) or () for column in fields.columns)
        )
        for key, value, samples, stat in rows:
            kept = changed is not None and (name, key) not in changed
            if stat and value and not (kept and _has_interval(stat)):
                bounds = log_interval(samples) or (value / WIDEST, value * WIDEST)
                stat.update(zip(INTERVAL, bounds, strict=True))


def _has_interval(stat: Mapping[str, Any]) -> bool:
    """Whether statistics hold finite bounds above zero."""
    return all(0 < (stat.get(name) or 0.0) < math.inf for name in INTERVAL)
