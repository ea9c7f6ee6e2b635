"""Which framework is the fastest at each family on a machine: times over those of the fastest."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deepbench_ops.analysis.frameworks import Contest
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.shared_kernels import levels
from deepbench_ops.problems.problem_lists import TYPES


@dataclass(frozen=True)
class FrameworkRatios:
    """Geometric mean of each framework's seconds over the fastest framework's, for a family.

    kernels: how many all frameworks of the common set share. ratios: by framework, with the number
    of kernels that it rests on; 1 for the fastest.
    """

    family: str
    precision: str
    kernels: int
    ratios: dict[str, tuple[float, int]]


def counted_points(
    contests: Iterable[Contest],
) -> dict[tuple[str, str], dict[str, dict[int, Point]]]:
    """Return the times that a family's level counts, from the contests of one machine: by family
    and precision, by framework, by the place of the kernel in `contests`.

    Operations that rankings do not count, such as a framework's own layers, are left out.
    """
    found: dict[tuple[str, str], dict[str, dict[int, Point]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for place, contest in enumerate(contests):
        kernel = contest.kernel
        if kernel.operation in TYPES[kernel.family].totalled and kernel.usual:
            for point in contest.points:
                own = found[kernel.family, kernel.precision][point.release.framework]
                own[place] = point
    families = list(TYPES)
    order = sorted(found, key=lambda key: (families.index(key[0]), key[1]))
    return {key: dict(found[key]) for key in order}


def framework_ratios(contests: Iterable[Contest]) -> list[FrameworkRatios]:
    """Return the ratios of each family and precision, from the contests of one machine."""
    found = []
    for (family, precision), by_framework in counted_points(contests).items():
        kernels, known = levels(seconds(by_framework))
        if len(known) > 1:
            least = min(level.value for level in known.values())
            ratios = {name: (known[name].value / least, known[name].kernels) for name in known}
            found.append(FrameworkRatios(family, precision, len(kernels), ratios))
    return found


def seconds(by_framework: Mapping[str, Mapping[int, Point]]) -> dict[str, dict[int, float]]:
    """Return the seconds of each framework's points."""
    return {
        name: {place: point.seconds for place, point in own.items()}
        for name, own in by_framework.items()
    }
