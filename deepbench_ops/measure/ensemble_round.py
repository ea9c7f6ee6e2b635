"""One kernel in one round of an ensemble: seconds of its releases, and figures from them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.statistics import sweep_levels
from deepbench_ops.statistics.spread import median_variance
from deepbench_ops.statistics.sweep_levels import SweepLevels
from deepbench_ops.statistics.yardstick_calibration import on_quiet_machine

NAMES = frozenset(condition.name for condition in CONDITIONS)


@dataclass
class Round:
    """One kernel in one round.

    sweeps: the seconds per call of each release, sweep by sweep; blocks of releases follow each
    other. reasons: why a release has none. sweep_latencies: nanoseconds of a round trip between two
    cores before and after each sweep (`measure.core_latency`), empty where that could not be read.
    latencies: the first and the last of them; of rounds that an earlier release of this project
    measured there is no more.

    id: the same for all kernels that the same processes measured, and for no others. anchor: the
    release that all blocks share. started_at, ended_at: seconds since 1970. yardstick: its seconds
    per unit in each sweep, NaN where there are none; empty without a yardstick. nominal: its
    reading on the quiet machine in the state that the latencies show, None where that is not known;
    calibration: a remark on it, such as the reason. nominals, remarks: the same for each sweep;
    empty where `nominal` holds for all. calls: of each release's slices.
    facts: the fingerprint of each release's process. notes: on how each runs the kernel, such as
    route and layout. implementations: the code that each release ran, where that is known. state:
    the state of the machine that the latencies show, "" where that is not known; by_state: the
    sweeps of each state, as rounds of their own. Neither is stored, since they depend on the levels
    of all rounds (`preferred_state.derive`). conditions: of `ensemble_sweeps.conditions`. too_long:
    seconds that the round would have taken, where that was more than it was given: it then has no
    sweeps, and is not stored; 0 otherwise. spent: seconds of its preparation and sweeps, without
    the start of the processes, which all kernels of the round share; not stored.
    """

    sweeps: list[dict[str, float]] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    sweep_latencies: list[tuple[float, float]] = field(default_factory=list)
    id: str = ""
    anchor: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    yardstick: list[float] = field(default_factory=list)
    yardstick_kind: str = ""
    nominal: float | None = None
    calibration: str = ""
    nominals: list[float | None] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: dict[str, dict[str, str]] = field(default_factory=dict)
    implementations: dict[str, str] = field(default_factory=dict)
    state: str = ""
    by_state: dict[str, "Round"] = field(default_factory=dict, compare=False, repr=False)
    conditions: dict[str, str] = field(default_factory=dict)
    too_long: float = field(default=0.0, compare=False)
    spent: float = field(default=0.0, compare=False)

    @property
    def names(self) -> list[str]:
        """The releases that have values, in the order of their first."""
        return list(dict.fromkeys(name for sweep in self.sweeps for name in sweep))

    @property
    def has_yardstick(self) -> bool:
        """Whether the yardstick was read in any sweep."""
        return any(map(math.isfinite, self.yardstick))

    @cached_property
    def unusual(self) -> dict[str, str]:
        """Those of `conditions` that are conditions of the run, which name the unusual ones."""
        return {name: value for name, value in self.conditions.items() if name in NAMES}

    @cached_property
    def fitted(self) -> SweepLevels:
        """Levels of the releases, in the order of `names`; of a round that is complete."""
        return sweep_levels.fit(self.logs(list(self._columns)))

    @cached_property
    def _columns(self) -> dict[str, int]:
        """Places of the releases in `names`; of a round that is complete."""
        return {name: place for place, name in enumerate(self.names)}

    def difference(self, before: str, after: str) -> tuple[float, float]:
        """Return the logarithm of after / before and its variance.

        NaN where either is missing, and where no sweeps lead from one to the other: their blocks
        have lost the anchor.
        """
        if before not in self._columns or after not in self._columns:
            return math.nan, math.nan
        return self.fitted.difference(self._columns[before], self._columns[after])

    @property
    def is_calibrated(self) -> bool:
        """Whether seconds can be calibrated: the yardstick was read, and its nominal is known."""
        return self.has_yardstick and self.nominal is not None

    def level(self, name: str, calibrated: bool = True) -> tuple[float, float]:
        """Return the logarithm of a release's seconds, and the variance that its sweeps leave it.

        Calibrated by the readings of the same sweeps, or raw. NaN where the release has no times,
        and where calibrated ones are asked for of a round that is not.
        """
        seconds = [sweep.get(name, math.nan) for sweep in self.sweeps]
        if calibrated:
            nominal = math.nan if self.nominal is None else self.nominal
            readings = self.yardstick or [math.nan] * len(seconds)
            pairs = zip(seconds, readings, strict=True)
            seconds = [on_quiet_machine(each, reading, nominal) for each, reading in pairs]
        logs = [math.log(each) for each in seconds if math.isfinite(each)]
        if not logs:
            return math.nan, math.nan
        return float(np.median(logs)), median_variance(logs)

    def logs(self, names: Sequence[str]) -> np.ndarray:
        """Return logarithms of the seconds, of shape (sweeps, names); NaN where there are none."""
        rows = [[sweep.get(name, np.nan) for name in names] for sweep in self.sweeps]
        return np.log(np.array(rows, dtype=float).reshape(len(rows), len(names)))


def fit_together(rounds: Iterable[Round]) -> None:
    """Compute `fitted` of complete rounds, in a fraction of the time of one after the other."""
    missing = {id(each): each for each in rounds if "fitted" not in vars(each)}.values()
    tables = [each.logs(list(each._columns)) for each in missing]
    for each, found in zip(missing, sweep_levels.fit_each(tables), strict=True):
        vars(each)["fitted"] = found
