"""Nodes of a machine type compared: which node is slow at which family, and by how much.

Every kernel gives each node that measured it a deviation: the logarithm of its time over the
median of these nodes. Nodes with different kernels are compared by deviations, never by times.
The deviations of a family's kernels are combined as rounds are in verdicts
(`statistics.ruined_rounds`), which a few odd kernels do not move. Raw seconds are compared: the
yardstick of a slow node is slow as well, and calibrated seconds would hide it. A kernel alone has
an interval from its own rounds on the node.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deepbench_ops.asv_adapter import result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet.fleet_plan import Plan
from deepbench_ops.fleet.job_folder import JobFolder
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.statistics.ruined_rounds import FEWEST, locate
from deepbench_ops.storage import measurement_files
from deepbench_ops.storage.result_key import ResultKey, unquoted

ALL = "all"
"""In place of a family: all kernels."""

ERROR = 0.01
"""Probability that any interval of families misses; all intervals of a comparison share it. Each
interval of a single kernel has it for itself."""

FEWEST_NODES = 3
"""Of two nodes that differ either may be the slow one."""

SLOW, FAST, USUAL, TOO_FEW = "slow", "fast", "as usual", "too few kernels"

ReleaseKernel = tuple[str, ResultKey]
"""A release, and a benchmark with its parameters, then the unusual conditions of its run, such as
another device."""

_KernelRecord = tuple[ReleaseKernel, measurement_files.Record]


@dataclass(frozen=True)
class NodeTimes:
    """Raw seconds of a node by kernel, and when the last was taken, in seconds since 1970 (NaN for
    no kernels).

    rounds: the seconds of each process that measured a kernel.
    """

    seconds: Mapping[ReleaseKernel, float]
    measured_at: float
    rounds: Mapping[ReleaseKernel, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Level:
    """A node against the median of the nodes of its type.

    ratio: of its times to the median, with an interval; NaN for no kernels. kind: `SLOW` or `FAST`
    where the interval lies beyond the limit, `USUAL`, or `TOO_FEW` without an interval.
    measured_at: seconds since 1970.
    """

    node: str
    ratio: float
    low: float
    high: float
    kind: str
    measured_at: float


@dataclass(frozen=True, kw_only=True)
class NodeLevel(Level):
    """The level of a node in a family or in all.

    kernels: how many they are. missing: how many more most nodes have measured.
    """

    family: str
    kernels: int
    missing: int

    @property
    def place(self) -> tuple[str, str]:
        """The node and the family."""
        return self.node, self.family


@dataclass(frozen=True, kw_only=True)
class KernelLevel(Level):
    """The level of a node at a kernel; seconds: raw, on this node; median: of the nodes with it."""

    kernel: ReleaseKernel
    seconds: float
    median: float

    @property
    def place(self) -> tuple[str, ReleaseKernel]:
        """The node and the kernel."""
        return self.node, self.kernel


def times_of(plan: Plan, path: Path, problems: list[str]) -> dict[str, dict[str, NodeTimes]]:
    """Return the times of a plan for every node, by machine type and node; path: of the plan.

    A node that began a job and has measured none is there without kernels, next to others.
    problems: gets a line for each job with a damaged file, which is left out.
    """
    found: dict[str, dict[str, list[_KernelRecord]]] = {}
    for folder in job_folder.folders(plan, path):
        records: list[_KernelRecord] = []
        try:
            outcome = folder.outcome()
            records = _records(folder) if outcome and outcome.has_times else []
        except DeepbenchError as wrong:
            problems.append(f"{folder.name}: its times are left out: {wrong}")
        if folder.node:
            found.setdefault(folder.job.machine, {}).setdefault(folder.node, []).extend(records)
    return {
        machine: {node: _times(records) for node, records in sorted(nodes.items())}
        for machine, nodes in found.items()
        if any(nodes.values())
    }


def _records(folder: JobFolder) -> list[_KernelRecord]:
    """Return the records of a job that hold times. Raises DeepbenchError."""
    found = []
    for file in measurement_files.paths(folder.results / folder.job.machine):
        conditions = _unusual_conditions(measurement_files.result_of(file))
        for each in measurement_files.load(file)[1]:
            if "skipped" in each or not each["seconds"]:
                continue
            if "release" not in each:
                raise DeepbenchError(f"{file}: a record has no release: remove the job")
            key = unquoted(each["benchmark"], [*each["params"], *conditions])
            found.append(((each["release"], key), each))
    return found


def _unusual_conditions(result: Path) -> list[str]:
    """Return the unusual conditions of an asv result file; none where the file is missing. Raises
    DeepbenchError for a damaged one."""
    variables = result_files.read(result).env_vars if result.exists() else {}
    return [value for one in CONDITIONS if (value := one.of(variables)) != one.usual]


def _times(records: Sequence[_KernelRecord]) -> NodeTimes:
    levels: dict[ReleaseKernel, list[float]] = {}
    for kernel, each in records:
        levels.setdefault(kernel, []).append(statistics.median(each["seconds"]))
    middle = {name: statistics.median(own) for name, own in levels.items()}
    last = max((float(each["started_at"]) for _, each in records), default=math.nan)
    return NodeTimes(middle, last, levels)


def compare(nodes: Mapping[str, NodeTimes], beyond: float) -> list[NodeLevel]:
    """Return the level of each node in each family and in all, by node.

    beyond: share by which a node must differ, with certainty, to be slow or fast. A kernel counts
    for the nodes that have measured it, if they are as many as `FEWEST_NODES`; [] for no such
    kernel.
    """
    counts = Counter(kernel for each in nodes.values() for kernel in each.seconds)
    measuring = sum(bool(each.seconds) for each in nodes.values())
    most = measuring // 2 + 1
    kernels = sorted(name for name, count in counts.items() if count >= min(FEWEST_NODES, most))
    having = np.array([counts[kernel] for kernel in kernels])
    compared = having >= FEWEST_NODES
    if not compared.any():
        return []
    rows = ([each.seconds.get(kernel, np.nan) for kernel in kernels] for each in nodes.values())
    logs = np.log(list(rows))
    missing = np.isnan(logs) & (having >= most)
    deviations = np.where(compared, logs - np.nanmedian(logs, axis=0), np.nan)
    families = np.array([name.partition(".")[0] for _, (name, _) in kernels])
    groups = {family: families == family for family in dict.fromkeys(families.tolist())}
    groups = {ALL: np.ones(len(kernels), dtype=bool), **(groups if len(groups) > 1 else {})}
    error = ERROR / len(groups) / measuring
    return [
        NodeLevel(
            node=node,
            family=family,
            missing=int(missing[place, members].sum()),
            measured_at=nodes[node].measured_at,
            **_figures(deviations[place, members], error, beyond),
        )
        for place, node in enumerate(nodes)
        for family, members in groups.items()
    ]


def _figures(deviations: np.ndarray, error: float, beyond: float) -> dict[str, Any]:
    """Return the figures of a level from the deviations of its kernels; NaN: not measured."""
    values = deviations[~np.isnan(deviations)]
    ratio, low, high, kind = math.nan, 0.0, math.inf, TOO_FEW
    if len(values) >= FEWEST:
        found = locate(values, np.zeros_like(values))
        ends = (found.median, *found.interval(error))
        ratio, low, high = (float(np.exp(each)) for each in ends)
        kind = _kind(low, high, beyond)
    elif len(values):
        ratio = float(np.exp(np.median(values)))
    return {"kernels": len(values), "ratio": ratio, "low": low, "high": high, "kind": kind}


def _kind(low: float, high: float, beyond: float) -> str:
    return SLOW if low > 1 + beyond else FAST if high < 1 / (1 + beyond) else USUAL


def compare_kernels(nodes: Mapping[str, NodeTimes], beyond: float) -> list[KernelLevel]:
    """Return the level of each node at each kernel that it has measured, by node; without kernels
    that fewer nodes than `FEWEST_NODES` have measured.

    beyond: as for `compare`. The interval is that of 99 % from the kernel's rounds on the node; a
    kernel with fewer than three rounds has none, and is `TOO_FEW`.
    """
    seconds: dict[ReleaseKernel, list[float]] = defaultdict(list)
    for each in nodes.values():
        for kernel, own in each.seconds.items():
            seconds[kernel].append(own)
    medians = {
        kernel: statistics.median(own)
        for kernel, own in sorted(seconds.items())
        if len(own) >= FEWEST_NODES
    }
    return [
        level
        for node, times in nodes.items()
        for level in _kernel_levels(node, times, medians, beyond)
    ]


def _kernel_levels(
    node: str, times: NodeTimes, medians: Mapping[ReleaseKernel, float], beyond: float
) -> list[KernelLevel]:
    """Return the levels of a node, those of kernels with equally many rounds at once."""
    alike: dict[int, list[ReleaseKernel]] = defaultdict(list)
    measured = [kernel for kernel in medians if kernel in times.seconds]
    for kernel in measured:
        alike[len(times.rounds.get(kernel, ()))].append(kernel)
    bounds: dict[ReleaseKernel, tuple[float, float]] = {}
    for count, members in alike.items():
        if count >= FEWEST:
            logs = np.log([times.rounds[kernel] for kernel in members])
            logs -= np.log([[medians[kernel]] for kernel in members])
            ends = np.exp(locate(logs, np.zeros_like(logs)).interval(ERROR))
            bounds |= dict(zip(members, ends.T.tolist(), strict=True))
    found = []
    for kernel in measured:
        seconds, median = times.seconds[kernel], medians[kernel]
        low, high = bounds.get(kernel, (0.0, np.inf))
        found.append(
            KernelLevel(
                node=node,
                kernel=kernel,
                seconds=seconds,
                median=median,
                ratio=seconds / median,
                low=low,
                high=high,
                kind=_kind(low, high, beyond) if kernel in bounds else TOO_FEW,
                measured_at=times.measured_at,
            )
        )
    return found


def slow_since(
    surveys: Sequence[Sequence[NodeLevel | KernelLevel]],
) -> dict[tuple[str, Hashable], float]:
    """Return since when each slow node has been slow at a family or kernel, without a break.

    surveys: levels of the same machine type, oldest first. The time is that of the first survey
    that found it slow, in seconds since 1970. A survey that did not measure it makes no break.
    """
    since: dict[tuple[str, Hashable], float] = {}
    for levels in surveys:
        now = {each.place: each for each in levels if not math.isnan(each.ratio)}
        slow = {place: each for place, each in now.items() if each.kind == SLOW}
        for place in now.keys() - slow.keys():
            since.pop(place, None)
        for place, each in slow.items():
            since.setdefault(place, each.measured_at)
    return since
