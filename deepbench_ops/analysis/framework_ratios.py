"""Which framework is the fastest at each family on a machine: times over those of the fastest."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from deepbench_ops.analysis.frameworks import Contest
from deepbench_ops.analysis.shared_kernels import levels
from deepbench_ops.problems.tables import TYPES


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


def framework_ratios(contests: Iterable[Contest]) -> list[FrameworkRatios]:
    """Return the ratios of each family and precision, from the contests of one machine.

    Operations that rankings do not count, such as a framework's own layers, are left out.
    """
    times: dict[tuple[str, str], dict[str, dict[object, float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for place, contest in enumerate(contests):
        kernel = contest.kernel
        if kernel.operation in TYPES[kernel.family].totalled and kernel.usual:
            for point in contest.points:
                own = times[kernel.family, kernel.precision][point.release.framework]
                own[place] = point.seconds
    families = list(TYPES)
    found = []
    for (family, precision), by_framework in sorted(
        times.items(), key=lambda item: (families.index(item[0][0]), item[0][1])
    ):
        kernels, known = levels(by_framework)
        if len(known) > 1:
            least = min(level.value for level in known.values())
            ratios = {name: (known[name].value / least, known[name].kernels) for name in known}
            found.append(FrameworkRatios(family, precision, len(kernels), ratios))
    return found
