"""Versions that were sent of a point, run or round: which say more, and which one is shown.

Merging keeps the versions that no other one contains; a signed one gives way to signed ones alone.
So it gives the same in any order, however often and in whatever parts versions come; it looks at
numbers and signers alone, never at a clock.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from deepbench_ops.storage.conflict_files import PointVersion


class Version(Protocol):
    """Numbers that were sent, and who signed them, "" for no one."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def text(self) -> str:
        """The numbers as text, equal exactly when they are."""

    @property
    def id(self) -> str:
        """The name of the version on the command line."""

    @property
    def rejected(self) -> bool:
        """Whether the user chose another version."""

    @property
    def signer(self) -> str:
        """The allowed signers of submissions with it."""


V = TypeVar("V", bound=Version)


@dataclass(frozen=True)
class Rules(Generic[V]):
    """Comparisons of versions.

    contains: whether a version has all numbers of another one. weight: more for the version to
    show, equal only for versions of equal text.
    """

    contains: Callable[[V, V], bool]
    weight: Callable[[V], Any]

    def merged(self, versions: Iterable[V]) -> list[V]:
        """Return the versions that no other one contains, each once, by their text.

        One is rejected where any of its copies is.
        """
        each_once: dict[str, V] = {}
        for one in versions:
            known = each_once.get(one.text)
            rejected = one.rejected or (known is not None and known.rejected)
            each_once[one.text] = replace(known or one, rejected=rejected)
        found = sorted(each_once.values(), key=lambda one: one.text)
        return [one for one in found if not any(self._supersedes(other, one) for other in found)]

    def shown(self, versions: Sequence[V]) -> V | None:
        """Return the version to show among those that were not rejected: a signed one where there
        is one, then the one with the most weight; None where all were rejected."""
        left = [one for one in versions if not one.rejected]
        return max(left, key=lambda one: (bool(one.signer), self.weight(one)), default=None)

    def _supersedes(self, other: V, one: V) -> bool:
        """Whether another version goes for one.

        Of two that replace each other, which differ in more than numbers, the heavier one.
        """
        if one is other or not self._replaces(other, one):
            return False
        return not self._replaces(one, other) or self.weight(one) < self.weight(other)

    def _replaces(self, more: V, less: V) -> bool:
        """Whether a version has all numbers of another one, and is signed where that is."""
        return bool(more.signer) >= bool(less.signer) and self.contains(more, less)


def is_of_history(one: PointVersion) -> bool:
    """Whether a version is derived from the rounds of a history."""
    return bool(_ensemble(one))


def _contains(more: PointVersion, less: PointVersion) -> bool:
    """Whether a version has all numbers of another one.

    Values of ensembles are derived from rounds, which `entry_merging` merges and keeps: the value
    of more rounds contains that of fewer.
    """
    of_more, of_less = _ensemble(more), _ensemble(less)
    if of_more or of_less:
        return of_more[:1] == of_less[:1] and of_more[1:] >= of_less[1:]
    samples, fewer = _samples(more), _samples(less)
    same = samples == fewer and more.seconds == less.seconds
    return (same or fewer < samples) and raw_seconds(less) <= raw_seconds(more)


def _ensemble(one: PointVersion) -> tuple[object, ...]:
    """Return file and number of the rounds that a version comes from, () for none."""
    origins = (record["ensemble"] for record in one.measurements if "ensemble" in record)
    return max(((each["file"], each["rounds"]) for each in origins), default=())


def _samples(one: PointVersion) -> Counter[float]:
    return Counter(one.point.get("samples") or [one.seconds])


def raw_seconds(one: PointVersion) -> Counter[float]:
    """Return how often a version has each of its raw seconds."""
    return Counter(seconds for record in one.measurements for seconds in record["seconds"])


def _weight(one: PointVersion) -> tuple[int, float, str, int, str]:
    samples, text = len(one.point.get("samples", [])), json.dumps(one.point, sort_keys=True)
    return samples, one.seconds, text, len(one.measurements), one.text


POINTS = Rules(_contains, _weight)
"""Points: the one with most samples is shown, of several such times the longest."""
