"""Times of a machine that count in rankings of a family, by framework."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from deepbench_ops.analysis.frameworks_by_kernel import Contest
from deepbench_ops.analysis.points import Point
from deepbench_ops.problems.problem_lists import TYPES


def ranked_times(
    contests: Iterable[Contest],
) -> dict[tuple[str, str, str], dict[str, dict[int, Point]]]:
    """Return the times that count in rankings of a family, from the contests of one machine.

    By family, precision and `Point.other_device`, by framework, and by the place of the kernel in
    `contests`.

    Operations that rankings do not count, such as a framework's own layers, are left out.
    """
    found: dict[tuple[str, str, str], dict[str, dict[int, Point]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for place, contest in enumerate(contests):
        kernel = contest.kernel
        if kernel.operation in TYPES[kernel.family].totalled and kernel.usual:
            for point in contest.points:
                own = found[kernel.family, kernel.precision, kernel.other_device]
                own[point.release.framework][place] = point
    families = list(TYPES)
    order = sorted(found, key=lambda key: (families.index(key[0]), key[1:]))
    return {key: dict(found[key]) for key in order}


def seconds(by_framework: Mapping[str, Mapping[int, Point]]) -> dict[str, dict[int, float]]:
    """Return the seconds of each framework's points."""
    return {
        name: {place: point.seconds for place, point in own.items()}
        for name, own in by_framework.items()
    }
