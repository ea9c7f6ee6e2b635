"""The values of a result file, one after the other, without those that are missing."""

from collections.abc import Iterator
from itertools import product, zip_longest
from typing import Any, NamedTuple

from asv.results import Results


class Value(NamedTuple):
    """A benchmark, its parameters as asv spells them, and what asv knows of them: the value, its
    statistics and its samples where there are any."""

    name: str
    key: tuple[str, ...]
    value: Any
    stat: dict[str, Any] | None
    samples: list[float] | None


def each(stored: Results) -> Iterator[Value]:
    """Yield what a result file holds; asv itself looks every value up by its parameters."""
    for name in stored.get_all_result_keys():
        keys = product(*(stored.get_result_params(name) or ()))
        found = stored._results[name] or ()
        stats, samples = stored._stats[name] or (), stored._samples[name] or ()
        for key, value, stat, several in zip_longest(keys, found, stats, samples):
            if key is None:
                break
            if value is not None and value == value:
                yield Value(name, key, value, stat, several)
