"""Index of a family's speed over the releases of a framework, made like a price index.

The step from one release to the next is the geometric mean of the ratios of time, earlier to later,
over the kernels that both measured; the steps are multiplied. So kernels that come or go change
nothing, and none counts for more because it takes longer.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.machine_summary import SummaryKey, group, selections
from deepbench_ops.analysis.points import KernelKey
from deepbench_ops.analysis.pooled_sets import same_kernel
from deepbench_ops.analysis.settings_and_state_agreement import comparable
from deepbench_ops.releases.release_table import Release, timeline

FEWEST_KERNELS = 3
"""A step over fewer kernels is not a family's."""


@dataclass(frozen=True)
class Speed:
    """A family at a precision on a machine, over a framework's releases, oldest first.

    values: how many times as fast as at the first. kernels: how many each step was taken over,
    for the first release those of the second. selections and unusual: see
    `machine_summary.FamilySummary`.
    """

    machine: str
    framework: str
    family: str
    precision: str
    releases: tuple[Release, ...]
    values: tuple[float, ...]
    kernels: tuple[int, ...]
    selections: tuple[str, ...]
    unusual: Mapping[str, str]


def speeds(lines: Iterable[Line]) -> list[Speed]:
    """Return the families that two releases or more have measured the same kernels of."""
    families: dict[SummaryKey, list[Line]] = defaultdict(list)
    for line in lines:
        point = line.points[0]
        if point.compared and point.usual and len(comparable(line.steady)) > 1:
            families[group(point)].append(line)
    found = (_speed(key, members) for key, members in sorted(families.items()))
    return [one for one in found if one is not None]


def _speed(key: SummaryKey, lines: Sequence[Line]) -> Speed | None:
    """Return the index of a family; each line counts in the steps between its own neighbours.

    A release follows the earlier one on the index with which it shares the most kernels. A kernel
    of several sets or states of the machine is one, with the mean of its lines' steps.
    """
    steps: dict[Release, dict[Release, dict[KernelKey, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for line in lines:
        for before, after in pairwise(comparable(line.steady)):
            gain = math.log(before.seconds / after.seconds)
            steps[after.release][before.release][same_kernel(after)].append(gain)
    logs: dict[Release, float] = {}
    kernels: dict[Release, int] = {}
    for release in timeline(list(steps)):
        indexed = [step for step in steps[release].items() if not logs or step[0] in logs]
        earlier, gains = max(indexed, key=lambda step: len(step[1]), default=(release, {}))
        if len(gains) >= FEWEST_KERNELS:
            if not logs:
                logs[earlier], kernels[earlier] = 0.0, len(gains)
            logs[release] = logs[earlier] + fmean(map(fmean, gains.values()))
            kernels[release] = len(gains)
    if len(logs) < 2:
        return None
    values = tuple(math.exp(log) for log in logs.values())
    points = [line.points[-1] for line in lines]
    return Speed(
        *key[:4],
        releases=tuple(logs),
        values=values,
        kernels=tuple(kernels.values()),
        selections=selections(points),
        unusual=points[-1].unusual,
    )
