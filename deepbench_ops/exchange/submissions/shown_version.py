"""Versions of a point that were sent: which of them say more, and which one is shown.

Merging keeps the versions that no other one contains; a signed one gives way to signed ones alone.
So it gives the same in any order, however often and in whatever parts versions come; it looks at
numbers and signers alone, never at a clock.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from deepbench_ops.storage.conflict_files import PointVersion, sorted_by_text


def merged(versions: Iterable[PointVersion]) -> list[PointVersion]:
    """Return the versions that no other one contains, each once, by their text.

    One is rejected where any of its copies is.
    """
    each_once: dict[str, PointVersion] = {}
    for one in versions:
        known = each_once.get(one.text)
        rejected = one.rejected or (known is not None and known.rejected)
        each_once[one.text] = replace(known or one, rejected=rejected)
    found = sorted_by_text(each_once.values())
    return [one for one in found if not any(_is_superseded(one, other) for other in found)]


def shown(versions: Sequence[PointVersion]) -> PointVersion | None:
    """Return the version to show among those that were not rejected: a signed one where there is
    one, then that with most samples, of as many the longest; None where all were rejected."""
    left = [one for one in versions if not one.rejected]
    return max(left, key=lambda one: (bool(one.signer), _weight(one)), default=None)


def is_of_history(one: PointVersion) -> bool:
    """Whether a version is derived from the rounds of a history."""
    return bool(_ensemble(one))


def _is_superseded(one: PointVersion, other: PointVersion) -> bool:
    """Whether a version may go for another one.

    Of two that replace each other, which differ in more than numbers, the lighter one.
    """
    if one is other or not _replaces(other, one):
        return False
    return not _replaces(one, other) or _weight(one) < _weight(other)


def _replaces(more: PointVersion, less: PointVersion) -> bool:
    """Whether a version has all numbers of another one, and is signed where that is."""
    return bool(more.signer) >= bool(less.signer) and _contains(more, less)


def _contains(more: PointVersion, less: PointVersion) -> bool:
    """Whether a version has all numbers of another one.

    Values of ensembles are derived from rounds, which are merged on their own (`submission_rounds`)
    and lose none: the value of more rounds contains that of fewer.
    """
    of_more, of_less = _ensemble(more), _ensemble(less)
    if of_more or of_less:
        return of_more[:1] == of_less[:1] and of_more[1:] >= of_less[1:]
    samples, fewer = _samples(more), _samples(less)
    same = samples == fewer and more.seconds == less.seconds
    return (same or fewer < samples) and _raw_seconds(less) <= _raw_seconds(more)


def _ensemble(one: PointVersion) -> tuple[object, ...]:
    """Return file and number of the rounds that a version comes from, () for none."""
    origins = (record["ensemble"] for record in one.measurements if "ensemble" in record)
    return max(((each["file"], each["rounds"]) for each in origins), default=())


def _samples(one: PointVersion) -> Counter[float]:
    return Counter(one.point.get("samples") or [one.seconds])


def _raw_seconds(one: PointVersion) -> Counter[float]:
    return Counter(seconds for record in one.measurements for seconds in record["seconds"])


def _weight(one: PointVersion) -> tuple[int, float, str, int, str]:
    samples, text = len(one.point.get("samples", [])), json.dumps(one.point, sort_keys=True)
    return samples, one.seconds, text, len(one.measurements), one.text
