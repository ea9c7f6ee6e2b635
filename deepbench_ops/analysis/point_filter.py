"""The points that a question is about, for readers that need not read the others."""

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter

from deepbench_ops.analysis.points import Point
from deepbench_ops.releases.release_table import Release

Only = Mapping[str, Collection[str]]
"""By the name of a column of the store the values that are wanted: all columns have to match."""

EVERYTHING: Only = {}

FIELDS: Mapping[str, Callable[[Point], str]] = {
    "commit": attrgetter("release.hash"),
    "problem": attrgetter("problem_id"),
    **{name: attrgetter(name) for name in ("family", "set", "precision", "device")},
}
"""The columns that can be chosen by, and the value of a point in each."""


def chosen(points: Iterable[Point], only: Only) -> list[Point]:
    """Return the points that have a wanted value in each column, in their order."""
    wanted = [(FIELDS[name], frozenset(values)) for name, values in only.items()]
    return [point for point in points if all(of(point) in values for of, values in wanted)]


def of_release(name: str, releases: Mapping[str, Release]) -> Only:
    """Return the choice of the release of that name; of no point where the table, by hash, lacks
    it."""
    return {"commit": [commit for commit, each in releases.items() if each.name == name]}
