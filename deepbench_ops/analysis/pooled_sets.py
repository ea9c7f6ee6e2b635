"""The same kernel in several published sets: one kernel, measured more often.

A set says where a problem was published, not how it is measured: in results/ the times of a kernel
in two sets differ as those of two processes of one set do (docs/explanation/measuring.md).
Published figures are not pooled, since sheets of training and of inference may hold other passes.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import geometric_mean, median

from deepbench_ops.analysis.points import KernelKey, Point
from deepbench_ops.analysis.settings_and_state_agreement import groups_that_agree
from deepbench_ops.measure import machine_states
from deepbench_ops.releases.release_table import Release


def same_kernel(point: Point) -> KernelKey:
    """Return the kernel without its set: `Point.kernel` with an empty set."""
    family, _, *rest = point.kernel
    return (family, "", *rest)  # type: ignore[return-value]


def pooled_times(points: Iterable[Point]) -> dict[KernelKey, list[Point]]:
    """Return the times of each kernel over all of its sets, newest first.

    points: measured ones of one framework on one device. Those of a release whose settings and
    states agree are one time.
    """
    by_kernel: dict[KernelKey, list[Point]] = defaultdict(list)
    newest_first = sorted(points, key=lambda point: point.release.recency, reverse=True)
    for point in newest_first:
        by_kernel[same_kernel(point)].append(point)
    return {
        kernel: [
            pooled_point(group)
            for _, same in itertools.groupby(several, key=lambda point: point.release)
            for group in groups_that_agree(list(same))
        ]
        for kernel, several in by_kernel.items()
    }


def newest_point(points: Sequence[Point]) -> Point:
    """Return the time of a kernel's newest release in one framework, over all of its lines.

    Of several settings or states it is the one that `groups_that_agree` puts first; sets are
    pooled. Of published figures of one day the fastest counts.
    """
    newest = _newest_release(points)
    first, *_ = groups_that_agree([point for point in points if point.release == newest])
    if first[0].release.measurable:
        return pooled_point(first)
    return min(first, key=lambda point: point.seconds)


def pooled_point(points: Sequence[Point]) -> Point:
    """Return the times of a kernel's newest release as one point, under the name of its first set.

    Its seconds are the median of all processes. Its interval holds those of all sets, and is none
    where one of them has none. A point of an ensemble stands for all.
    """
    newest = _newest_release(points)
    several = sorted((p for p in points if p.release == newest), key=lambda point: point.set)
    several = [point for point in several if point.ensemble] or several
    first = several[0]
    if len(several) == 1 or first.ensemble:  # an ensemble files the same rounds in every set
        return first
    rounds = tuple(seconds for point in several for seconds in point.rounds)
    complete = all(point.rounds for point in several)
    intervals = [point.interval for point in several]
    whole = [each for each in intervals if each is not None]
    known = len(whole) == len(intervals)
    return first._replace(
        seconds=median(rounds) if complete else geometric_mean(p.seconds for p in several),
        low=min(low for low, _ in whole) if known else None,
        high=max(high for _, high in whole) if known else None,
        samples=sum(point.samples for point in several),
        rounds=rounds,
        settings=first.settings if len({p.settings for p in several}) == 1 else None,
        threads=first.threads if len({p.threads for p in several}) == 1 else "",
        state=machine_states.together(point.state for point in several),
    )


def _newest_release(points: Iterable[Point]) -> Release:
    return max((point.release for point in points), key=lambda release: release.recency)
