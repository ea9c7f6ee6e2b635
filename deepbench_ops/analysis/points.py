"""Points: a time of each kernel, release and machine in results/, measured or published.

Only seconds are stored; rates are derived from the problem's FLOPs and bytes.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from deepbench_ops.measure import library_variables
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.measure.library_variables import Settings
from deepbench_ops.problems.precision import TABLE, stored
from deepbench_ops.problems.problem import Problem, compared
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS, DEVICE
from deepbench_ops.statistics.median_interval import FEWEST_SAMPLES
from deepbench_ops.storage.measurement_files import Record

USUAL = tuple(condition.usual for condition in CONDITIONS)

IMPLEMENTATION, PRIMITIVE, STATE = "implementation", "primitive", "state of the machine"
"""Notes of a point: which library code computed, the same in older records of convolutions in
torch, and `Point.state`."""

WIDEST = 2.0
"""An interval that reaches beyond so many times the time, or below that part of it, is none."""

TOO_FEW = "too few samples"
TOO_FAR = "samples too far apart"
NOT_STORED = "no interval stored"

KernelKey = tuple[str, str, str, str, str, int | None, str, str, str]
"""The kernel of a point: see `Point.kernel`."""


class Origin(NamedTuple):
    """The rounds of an ensemble that a point comes from.

    file: their file, in the machine's folder `ensembles`. anchor: the release that all are compared
    with. rounds: their number. ratio: to the anchor, with low and high, its interval of 99 %.
    interval: the same around the point's seconds. states: of the machine, where they are known.
    """

    file: str
    anchor: str
    rounds: int
    ratio: float
    low: float
    high: float
    interval: tuple[float, float]
    states: tuple[str, ...] = ()

    @classmethod
    def of(cls, records: Sequence[Record]) -> "Origin | None":
        """Return the ensemble of a point by its records; None where it has none."""
        found = records[-1].get("ensemble") if records else None
        if found is None:
            return None
        low, high = found["interval"]
        plain = {name: found[name] for name in cls._fields[:6]}
        return cls(**plain, interval=(low, high), states=tuple(found.get("states", ())))


class Point(NamedTuple):
    """One time: seconds of one call of a kernel, with low and high, the interval of 99 % of its
    samples, where there are enough of them.

    set, operation, precision and ranks (of an all-reduce) are the axes of the benchmark; device,
    cache, layout and execution the conditions of the run. samples: how many times it stands for.
    """

    machine: str
    release: Release
    family: str
    set: str
    operation: str
    problem_id: str
    precision: str
    ranks: int | None
    device: str
    cache: str
    layout: str
    execution: str
    seconds: float
    low: float | None
    high: float | None
    samples: int
    rounds: tuple[float, ...] = ()
    """The level of every process that measured it, in seconds; none for published figures, and
    where they were not asked for."""
    notes: tuple[tuple[str, str], ...] = ()
    """The notes of its newest process on how the kernel runs, by name: route, primitive, layout
    ...; loaded with the rounds."""
    settings: Settings | None = None
    """External environment variables that steer libraries; None where that is not known."""
    unsteady: str = ""
    """Why it is not to be trusted, in a few words; "" where it is steady (see
    `machine.steadiness`)."""
    sample_seconds: tuple[float, ...] = ()
    """Its samples, where they were asked for."""
    state: str = ""
    """The state of the machine meanwhile (see `measure.machine_states`); "" where that is not
    known, as of kernels on one thread."""
    ensemble: "Origin | None" = None
    """The ensemble in which it was measured together with other releases; None where it was
    measured on its own."""
    conflict: tuple[float, ...] = ()
    """Seconds of all versions of it that were sent and differ, its own included, while no one has
    chosen; () where there is no conflict."""
    threads: str = ""
    """The number of threads of its processes; "" where that is not known, as of published
    figures."""

    @property
    def problem(self) -> Problem:
        """The problem, with its FLOPs and bytes."""
        return _problem(self.family, self.problem_id)

    @property
    def flops(self) -> float:
        """The problem's FLOPs in this operation."""
        return _flops(self.family, self.problem_id, self.operation)

    @property
    def benchmark(self) -> str:
        """Name of its asv benchmark, such as gemm.Training.kernel_forward."""
        return f"{self.family}.{CLASSES.get(self.set, self.set)}.kernel_{self.operation}"

    @property
    def compared(self) -> bool:
        """Whether it takes part in comparisons; see `problem.compared`."""
        return compared(self.operation)

    @property
    def kernel(self) -> KernelKey:
        """The timed kernel, the same on every machine and release."""
        return (
            self.family,
            self.set,
            self.operation,
            self.problem_id,
            self.precision,
            self.ranks,
            self.cache,
            self.layout,
            self.execution,
        )

    @property
    def name(self) -> str:
        """Its problem, with the ranks and the unusual conditions that distinguish it from
        others."""
        ranks = [f"{self.ranks} ranks"] if self.ranks is not None else []
        others = [value for name, value in self.unusual.items() if name != DEVICE.name]
        return ", ".join([self.problem_id, *ranks, *others])

    @property
    def description(self) -> str:
        """Its kernel: "gemm training forward m1760_n128_k1760_NN, float32", and odd conditions."""
        ranks = f", {self.ranks} ranks" if self.ranks else ""
        kernel = f"{self.family} {self.set} {self.operation} {self.problem_id}{ranks}"
        return ", ".join([kernel, self.precision, *self.unusual.values()])

    @property
    def conditions(self) -> dict[str, str]:
        """Conditions of the run, by name."""
        return {condition.name: getattr(self, condition.name) for condition in CONDITIONS}

    @property
    def unusual(self) -> dict[str, str]:
        """Conditions that are not the usual ones, and external settings where there are any.

        A dictionary of several points, not to be changed.
        """
        return _unusual((self.device, self.cache, self.layout, self.execution), self.settings)

    @property
    def other_device(self) -> str:
        """The device; "" where it is the usual one."""
        return self.unusual.get(DEVICE.name, "")

    @property
    def usual(self) -> bool:
        """Whether all conditions but the device are the usual ones, without external
        settings."""
        return self.usual_run and not self.settings

    @property
    def usual_run(self) -> bool:
        """Whether all conditions but the device are the usual ones, under any settings."""
        return _usual_run((self.device, self.cache, self.layout, self.execution))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of 99 % in seconds; None where `without_interval` gives a reason. Pages,
        commands and exports show this one."""
        if self.low is None or self.high is None or self.without_interval:
            return None
        return self.low, self.high

    @property
    def without_interval(self) -> str:
        """Reason why it has no interval, in a few words; "" where it has one."""
        if self.low is None or self.high is None:
            return TOO_FEW if self.samples < FEWEST_SAMPLES else NOT_STORED
        if self.samples < FEWEST_SAMPLES and self.ensemble is None:
            return TOO_FEW
        near = self.seconds / WIDEST <= self.low and self.high <= self.seconds * WIDEST
        return "" if near else TOO_FAR

    @property
    def implementation(self) -> str:
        """Library code that computed, as its record names it; "" where it does not, and where notes
        were not asked for."""
        notes = dict(self.notes)
        return notes.get(IMPLEMENTATION) or notes.get(PRIMITIVE, "")

    @property
    def launch_bound(self) -> bool:
        """Whether the host needs longer to start its calls than the device to compute them; False
        where notes were not asked for."""
        return dict(self.notes).get("launches", "").endswith(": launch-bound")

    @property
    def rate(self) -> float:
        """FLOP/s, bytes/s where it has no FLOPs, from the problem's own counts."""
        return (self.flops or self.bytes) / self.seconds

    @property
    def bytes(self) -> float:
        """Bytes that the problem cannot avoid moving in this operation and precision."""
        weight = stored(self.precision)
        known = weight if weight in TABLE else "float32"
        return self.problem.bytes_of(known, self.operation)


def devices_of_machines(points: Iterable[Point]) -> dict[str, set[str]]:
    """Return the devices that each machine has times on."""
    found: dict[str, set[str]] = defaultdict(set)
    for point in points:
        found[point.machine].add(point.device)
    return found


@cache
def _unusual(conditions: tuple[str, ...], settings: Settings | None) -> dict[str, str]:
    found = {
        condition.name: value
        for condition, value in zip(CONDITIONS, conditions, strict=True)
        if value != condition.usual
    }
    return {**found, SETTINGS: library_variables.text(settings)} if settings else found


@cache
def _usual_run(conditions: tuple[str, ...]) -> bool:
    return not _unusual(conditions, None).keys() - {DEVICE.name}


_problem = cache(problem_of)


@cache
def _flops(family: str, problem_id: str, operation: str) -> float:
    return _problem(family, problem_id).flops_of(operation)
