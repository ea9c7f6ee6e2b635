"""The profile of a machine: measured peaks and the nominal readings of the yardsticks.

It is JSON text in results/<machine>/machine.profile. The suffix is not .json because asv
reads every other .json file of that folder as a result.
"""

import errno
import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.storage import atomic_write, bounded_read, facts_digest
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.seconds_limits import LONGEST, SHORTEST

FILE_NAME = "machine.profile"
VERSION = 1
CONTRARY = {True: "measured:", False: "not measured:"}
"""Beginning of an origin that a figure cannot have, by whether it is without a value."""

PROFILE_CHECKSUM = "checksum"
"""Field of a file: the digest of the others. Files of earlier versions have none."""

MOST = sys.float_info.max

LIMITS = {"FLOP/s": (1e3, 1e21), "bytes/s": (1e3, 1e18), "s": (SHORTEST, LONGEST)}
"""Least and largest value that a figure may have, by its unit."""

NEXT_TO_LOAD = "; next to other load: "
"""Part of a figure's `how` before the load that may have made it too low."""


@dataclass(frozen=True)
class Figure:
    """A number with its unit and origin; without a value, None and the reason.

    unit: "FLOP/s", "bytes/s" or "s".
    how: text that begins with "measured:", "data sheet:" or "not measured:".
    """

    value: float | None
    unit: str
    how: str

    @property
    def disturbed(self) -> bool:
        """Whether it was measured next to other load, so that it may be too low."""
        return NEXT_TO_LOAD in self.how


@dataclass(frozen=True)
class LatencyLevel:
    """A level of the latency between two cores: a state of the machine (`measure.machine_states`).

    yardsticks: nominal readings in this state, as in `Profile.yardsticks`.
    """

    nanoseconds: float
    yardsticks: dict[str, dict[str, Figure]] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """The figures with which results of a machine are compared.

    date: day on which the peaks were measured, ISO.
    facts: memory_bytes, kernel, driver and so on, as text; they may change while the machine keeps
        its name.
    peaks: FLOP/s by device and precision. bandwidth: bytes/s by device.
    yardsticks: nominal readings, in seconds per unit, by thread count and kind of yardstick, with
        the workloads of yardstick_version.
    levels: levels of core latency that were found, ascending. yardstick_levels: levels at which
        `yardsticks` were read, by thread count, where known.
    factor_by_chance: of a machine whose results were submitted without its unsteady times: the
        factor by which two processes may differ by chance, from all of its times (`steadiness`);
        0 otherwise.
    """

    machine: str
    date: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    peaks: dict[str, dict[str, Figure]] = field(default_factory=dict)
    bandwidth: dict[str, Figure] = field(default_factory=dict)
    yardstick_version: str = ""
    yardsticks: dict[str, dict[str, Figure]] = field(default_factory=dict)
    levels: list[LatencyLevel] = field(default_factory=list)
    yardstick_levels: dict[str, float] = field(default_factory=dict)
    factor_by_chance: float = 0.0

    @property
    def latencies(self) -> list[float]:
        """Return the levels of core latency in nanoseconds."""
        return [level.nanoseconds for level in self.levels]

    def has_measurements(self) -> bool:
        """Return whether any figure was measured on the machine and not taken from a data sheet."""
        figures = [self.bandwidth, *self.peaks.values(), *self.yardsticks.values()]
        return any(f.how.startswith("measured") for group in figures for f in group.values())

    def nominal(self, threads: int, version: str) -> dict[str, float]:
        """Return the nominal seconds per unit by kind of yardstick.

        {} if these workloads were never read at this thread count.
        """
        if version != self.yardstick_version:
            return {}
        return _values(self.yardsticks.get(str(threads), {}))

    def for_processes(self, version: str) -> str:
        """Return the nominal readings as text for the environment variable of measuring
        processes."""
        return self.nominal_readings(version).as_text()

    def nominal_readings(self, version: str) -> NominalReadings:
        """Return the nominal readings of this version of the yardsticks, none of another one."""
        if version != self.yardstick_version:
            return NominalReadings()
        return NominalReadings(
            _by_threads(self.yardsticks),
            self.yardstick_levels,
            {level.nanoseconds: _by_threads(level.yardsticks) for level in self.levels},
        )


def path_of(results: Path, machine: str) -> Path:
    """Return the path of a machine's profile."""
    return results / machine / FILE_NAME


def read(results: Path, machine: str) -> Profile | None:
    """Return the profile of a machine, None if it has none; raise DeepbenchError if it is
    broken."""
    path = path_of(results, machine)
    try:
        stored = json.loads(bounded_read.read_text(path, bounded_read.SMALL))
        found = parse(stored)
        _refuse_changed(stored)
        return found
    except FileNotFoundError:
        return None
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:  # no such file can exist
            return None
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise DeepbenchError(
            f"{path} is not a machine profile ({type(problem).__name__}: {problem}); "
            "restore it, or move it away and run 'deepbench machine'"
        ) from None


def write(results: Path, profile: Profile, ready: Ready = Path) -> Path:
    """Write the profile, completely or not at all, and return its path.

    Unknown facts about core latency and processes are left out, as for published machines.
    ready: function from `atomic_write.together`, if other files are replaced together with it.
    """
    path = path_of(results, profile.machine)
    stored = {"version": VERSION, **asdict(profile)}
    for name in ("levels", "yardstick_levels", "factor_by_chance"):
        if not stored[name]:
            del stored[name]
    stored[PROFILE_CHECKSUM] = facts_digest.digest(stored)
    text = json.dumps(stored, indent=1, allow_nan=False)
    atomic_write.write_text(ready(path), text + "\n")
    return path


def _refuse_changed(stored: dict[str, Any]) -> None:
    """Raise ValueError where a file's content is not that of its checksum, if it has one."""
    found = {name: value for name, value in stored.items() if name != PROFILE_CHECKSUM}
    if unknown := sorted(found.keys() - {"version", *Profile.__dataclass_fields__}):
        raise ValueError(f"its field {unknown[0][:40]!r} is damaged, or of a newer version")
    if PROFILE_CHECKSUM in stored and stored[PROFILE_CHECKSUM] != facts_digest.digest(found):
        raise ValueError(
            f"its content is not that of its {PROFILE_CHECKSUM}; if you have changed it, take the"
            f" {PROFILE_CHECKSUM} out"
        )


def refuse_another(known: Profile | None, processor: str) -> None:
    """Raise DeepbenchError where the profile is that of another processor than `processor`.

    Both are texts of `fingerprint.silicon`; an unknown one counts as the same.
    """
    described = known.facts.get("processor", "") if known is not None else ""
    if known is not None and described and processor and described != processor:
        raise DeepbenchError(
            f"{known.machine} has a processor of family/model/stepping {described}, and this one is"
            f" {processor}: give this machine a name with 'deepbench machine --name NAME'"
        )


def parse(stored: dict[str, Any]) -> Profile:
    """Return the profile in a file's content; raise ValueError, KeyError or similar for any other
    content."""
    if stored["version"] != VERSION:
        raise ValueError(f"version {stored['version']}, not {VERSION}")
    return Profile(
        machine=str(stored["machine"]),
        date=str(stored["date"]),
        facts={str(name): str(text) for name, text in stored["facts"].items()},
        peaks={device: _figures(group) for device, group in stored["peaks"].items()},
        bandwidth=_figures(stored["bandwidth"]),
        yardstick_version=str(stored["yardstick_version"]),
        yardsticks=_grouped(stored["yardsticks"]),
        levels=[
            LatencyLevel(_number(level["nanoseconds"]), _grouped(level["yardsticks"]))
            for level in stored.get("levels", ())
        ],
        yardstick_levels={
            str(count): _number(at) for count, at in stored.get("yardstick_levels", {}).items()
        },
        factor_by_chance=_factor(stored.get("factor_by_chance", 0.0)),
    )


def _values(figures: dict[str, Figure]) -> dict[str, float]:
    return {kind: figure.value for kind, figure in figures.items() if figure.value is not None}


def _by_threads(groups: dict[str, dict[str, Figure]]) -> dict[str, dict[str, float]]:
    return {count: _values(group) for count, group in groups.items()}


def _number(value: Any) -> float:
    if not (type(value) in (int, float) and 1 <= value < 1e9):
        raise ValueError(f"a level is {value!r}, no number above 0, of 1 to 1e9 ns")
    return float(value)


def _factor(value: Any) -> float:
    if not (type(value) in (int, float) and (value == 0 or 1 <= value < 1e9)):
        raise ValueError(f"factor_by_chance is {value!r}, neither 0 nor a number of 1 to 1e9")
    return float(value)


def _grouped(stored: dict[str, Any]) -> dict[str, dict[str, Figure]]:
    return {count: _figures(group) for count, group in stored.items()}


def _figures(stored: dict[str, dict[str, Any]]) -> dict[str, Figure]:
    figures = {name: Figure(**figure) for name, figure in stored.items()}
    for name, figure in figures.items():
        value = figure.value
        if value is not None and not (type(value) in (int, float) and 0 < value <= MOST):
            raise ValueError(f"{name} is {value!r:.40}, no possible number above 0")
        if not isinstance(figure.unit, str) or not isinstance(figure.how, str):
            raise ValueError(f"{name} has a unit or a source that is no text")
        least, largest = LIMITS.get(figure.unit, (0.0, MOST))
        if value is not None and not least <= value <= largest:
            raise ValueError(f"{name} is {value:g} {figure.unit}, not {least:g} to {largest:g}")
        if figure.how.startswith(CONTRARY[value is None]):
            raise ValueError(f"{name} is {value!r} and {figure.how[:40]!r}")
    return figures
