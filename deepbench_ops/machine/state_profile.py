"""States of the machine in its profile, and advice about them.

The latency between two cores shows the state of the machine (`measure.machine_states`). The profile
has the levels that were found, with the nominal readings of the yardsticks at each level.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from deepbench_ops.machine import nominal_measurement
from deepbench_ops.machine.machine_profile import Figure, LatencyLevel, Profile
from deepbench_ops.measure import core_latency, machine_states, yardstick

READINGS = 3
"""Number of latencies that are read at a time, enough for a level."""

SAME_STATE = 1.1
"""Factor within which a first nominal reading of unknown state and today's are from the same state:
states differ by more."""


def latencies(count: int) -> list[float]:
    """Return latencies between two cores of kernels on `count` threads, in nanoseconds.

    [] where kernels have one core or no latency can be read.
    """
    pair = nominal_measurement.core_pair(count)
    found = (core_latency.read(pair) for _ in range(READINGS)) if len(pair) == 2 else ()
    return [round(each, 1) for each in found if each is not None]


def level_now(known: Profile | None, readings: Sequence[float]) -> float | None:
    """Return the level of latency that readings show, among those of a profile and new ones.

    None without a reading, and where they show several.
    """
    found = _only(readings, _levels(known or Profile(""), readings))
    return found.nanoseconds if found else None


def with_state(
    known: Profile,
    count: int,
    before: Sequence[float],
    fresh: bool,
    warn: nominal_measurement.Say,
    renew: bool = False,
) -> Profile:
    """Return the profile with today's level of latency and its nominal readings.

    before: latencies from the start of the measurement. fresh: whether the yardsticks of the
    profile have been read since then, at `level_now`. renew: whether the level's readings are taken
    again. warn: called with a line for each problem. Where a reading could not be taken, because
    the state did not last, the former one stays.
    """
    levels = _levels(known, before)
    level = _only(before, levels)
    known = replace(known, levels=levels)
    if level is None:
        if before and levels:
            warn(
                f"the latency between two cores changes ({_nanoseconds(before)}): no nominal"
                " readings of a state are taken. Run deepbench machine again"
            )
        return known
    own = level.yardsticks.get(str(count), {})
    first = known.yardsticks.get(str(count), {})
    origin = known.yardstick_levels.get(str(count))
    if fresh:
        read, origin = first, level.nanoseconds
    else:
        wanted = [kind for kind in yardstick.KINDS if renew or kind not in own]
        same = first if origin == level.nanoseconds else {}
        read = {
            kind: same.get(kind)
            or nominal_measurement.nominal_figure(kind, count, warn, level.nanoseconds)
            for kind in wanted
        }
        if origin is None and not renew:
            origin = _origin(read, first, level.nanoseconds)
            same = first if origin is not None else {}
            read = {kind: same.get(kind, figure) for kind, figure in read.items()}
    for reason in dict.fromkeys(each.how for each in read.values() if not each.value):
        warn(f"no nominal reading of this state: {reason}. Run deepbench machine again")
    own = own | {kind: figure for kind, figure in read.items() if figure.value}
    levels = [
        replace(each, yardsticks={**each.yardsticks, str(count): own}) if each == level else each
        for each in levels
    ]
    origins = {} if origin is None else {str(count): origin}
    return replace(known, levels=levels, yardstick_levels={**known.yardstick_levels, **origins})


def _nanoseconds(readings: Iterable[float]) -> str:
    return f"{', '.join(f'{each:.0f}' for each in readings)} ns"


def _origin(read: dict[str, Figure], first: dict[str, Figure], nanoseconds: float) -> float | None:
    """Return the latency, in nanoseconds, at which the first nominal readings were taken:
    today's if today's readings are the same, else None."""
    pairs = [(figure.value, first[kind].value) for kind, figure in read.items() if kind in first]
    ratios = [max(one, other) / min(one, other) for one, other in pairs if one and other]
    return nanoseconds if ratios and max(ratios) <= SAME_STATE else None


def _levels(known: Profile, readings: Iterable[float]) -> list[LatencyLevel]:
    found = machine_states.learned(readings, known.latencies)
    former = {level.nanoseconds: level for level in known.levels}
    return [former.get(each) or LatencyLevel(round(each, 1)) for each in found]


def _only(readings: Sequence[float], levels: Sequence[LatencyLevel]) -> LatencyLevel | None:
    """Return the level of most readings if the others belong to no level, else None."""
    values = [level.nanoseconds for level in levels]
    found = [machine_states.level_of(each, values) for each in readings]
    fits = [each for each in found if each is not None]
    if len(set(fits)) != 1 or 2 * len(fits) <= len(found):
        return None
    return next(level for level in levels if level.nanoseconds == fits[0])


def summary(levels: Sequence[float], readings: Sequence[float]) -> list[str]:
    """Return lines on the states of a machine, with advice if it has several.

    levels: latencies of the levels in its profile, in nanoseconds. readings: current latencies.
    """
    if not readings:
        return []
    all_levels = machine_states.learned(readings, levels)
    now = machine_states.state(readings, all_levels)
    names = [f"{machine_states.name(each, all_levels)} ({each:.0f} ns)" for each in all_levels]
    several = f"{min(readings):.0f} to {max(readings):.0f} ns"
    lines = [
        f"A byte passes between two cores and back in {several}:"
        f" state {now or machine_states.UNKNOWN_STATE}; seen here so far:"
        f" {', '.join(names) or 'none'}."
    ]
    if len(all_levels) > 1:
        lines.append(
            "The host moves the cores of this machine: kernels on several threads have other times"
            " in each state, and are compared within one. Remedy: have the host pin the virtual"
            " cores, choose another type of host, or measure with DEEPBENCH_THREADS=1"
        )
    return lines
