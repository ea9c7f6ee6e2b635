"""Nodes of a machine type compared: which node is slow at which family, and by how much.

Every kernel gives each node a deviation: the logarithm of its time over the median of all nodes.
The deviations of a family's kernels are combined as rounds are in verdicts
(`statistics.robust_interval`), which a few odd kernels do not move. Raw seconds are compared: the
yardstick of a slow node is slow as well, and calibrated seconds would hide it.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet.job_folder import AT_NODE, MEASURED
from deepbench_ops.fleet.plan import Plan
from deepbench_ops.statistics.robust_interval import FEWEST, locate
from deepbench_ops.storage import measurements
from deepbench_ops.storage.result_key import ResultKey, unquoted

ALL = "all"
"""In place of a family: all kernels."""

ERROR = 0.01
"""Probability that any interval of a comparison misses; all intervals share it."""

FEWEST_NODES = 3
"""Of two nodes that differ either may be the slow one."""

SLOW, FAST, USUAL, UNKNOWN = "slow", "fast", "as usual", "too few kernels"

Kernel = tuple[str, ResultKey]
"""A release, and a benchmark with its parameters."""


@dataclass(frozen=True)
class NodeTimes:
    """Raw seconds of a node by kernel, and when the last was taken, in seconds since 1970."""

    seconds: Mapping[Kernel, float]
    measured_at: float


@dataclass(frozen=True)
class NodeLevel:
    """A node against the median of the nodes of its type, in a family or in all.

    ratio: of its times to the median, with an interval. kind: `SLOW` or `FAST` where the interval
    lies beyond the limit, `USUAL`, or `UNKNOWN` without an interval.
    """

    node: str
    family: str
    kernels: int
    ratio: float
    low: float
    high: float
    kind: str
    measured_at: float


def times_of(plan: Plan, path: Path) -> dict[str, dict[str, NodeTimes]]:
    """Return the times of a plan for every node, by machine type and node; path: of the plan.

    Raises DeepbenchError for a damaged file.
    """
    found: dict[str, dict[str, list[measurements.Record]]] = {}
    for folder in job_folder.folders(plan, path):
        if folder.state() == MEASURED:
            node = folder.path.name.partition(AT_NODE)[2]
            own = found.setdefault(folder.job.machine, {}).setdefault(node, [])
            for file in measurements.paths(folder.results / folder.job.machine):
                own += [each for each in measurements.load(file)[1] if "skipped" not in each]
    return {
        machine: {node: _times(records) for node, records in sorted(nodes.items())}
        for machine, nodes in found.items()
    }


def _times(records: Iterable[measurements.Record]) -> NodeTimes:
    levels: dict[Kernel, list[float]] = {}
    last = 0.0
    for each in records:
        kernel = (each["release"], unquoted(each["benchmark"], each["params"]))
        levels.setdefault(kernel, []).append(statistics.median(each["seconds"]))
        last = max(last, float(each["started_at"]))
    return NodeTimes({name: statistics.median(own) for name, own in levels.items()}, last)


def compare(nodes: Mapping[str, NodeTimes], beyond: float) -> list[NodeLevel]:
    """Return the level of each node in each family and in all, by node.

    beyond: share by which a node must differ, with certainty, to be slow or fast. [] for fewer
    nodes than `FEWEST_NODES`. Kernels that not all nodes have measured are left out.
    """
    if len(nodes) < FEWEST_NODES:
        return []
    shared = set.intersection(*(set(each.seconds) for each in nodes.values()))
    kernels = sorted(shared)
    if not kernels:
        return []
    logs = np.log([[each.seconds[kernel] for kernel in kernels] for each in nodes.values()])
    deviations = logs - np.median(logs, axis=0)
    families = np.array([name.partition(".")[0] for _, (name, _) in kernels])
    groups = {family: families == family for family in dict.fromkeys(families.tolist())}
    groups = {ALL: np.ones(len(kernels), dtype=bool), **(groups if len(groups) > 1 else {})}
    error = ERROR / len(groups) / len(nodes)
    return [
        _level(node, family, deviations[place, members], error, beyond, nodes[node].measured_at)
        for place, node in enumerate(nodes)
        for family, members in groups.items()
    ]


def _level(
    node: str, family: str, values: np.ndarray, error: float, beyond: float, measured_at: float
) -> NodeLevel:
    count = len(values)
    if count < FEWEST:
        ratio = float(np.exp(np.median(values)))
        return NodeLevel(node, family, count, ratio, 0.0, np.inf, UNKNOWN, measured_at)
    found = locate(values, np.zeros_like(values))
    ratio, *bounds = (float(np.exp(each)) for each in (found.median, *found.interval(error)))
    low, high = bounds
    slow, fast = low > 1 + beyond, high < 1 / (1 + beyond)
    kind = SLOW if slow else FAST if fast else USUAL
    return NodeLevel(node, family, count, ratio, low, high, kind, measured_at)


def slow_since(surveys: Sequence[Sequence[NodeLevel]]) -> dict[tuple[str, str], float]:
    """Return since when each slow node has been slow in a family, without a break.

    surveys: levels of the same machine type, oldest first. The time is that of the first survey
    that found it slow, in seconds since 1970.
    """
    since: dict[tuple[str, str], float] = {}
    for levels in surveys:
        now = {(each.node, each.family): each for each in levels}
        slow = {place: each for place, each in now.items() if each.kind == SLOW}
        for place in now.keys() - slow.keys():
            since.pop(place, None)
        for place, each in slow.items():
            since.setdefault(place, each.measured_at)
    return since
