"""One profile of a machine from two: the later one, with the yardsticks of both."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.machine_profile import Figure, LatencyLevel, Profile
from deepbench_ops.measure.machine_states import LEVEL_RATIO


def merged(known: Profile | None, sent: Profile) -> Profile:
    """Return one profile for `known`, the profile stored here, and `sent`, that of a submission.

    Raises DeepbenchError for yardsticks that differ in a nominal reading, of a state or without
    one, or in their version.
    """
    if known is None:
        return sent
    measured = [one for one in (known, sent) if one.yardsticks]
    both = _same_readings(known.machine, [(one, one.yardsticks) for one in measured])
    for nanoseconds in {*known.latencies, *sent.latencies}:
        of_state = [
            (one, level.yardsticks)
            for one in (known, sent)
            for level in one.levels
            if level.nanoseconds == nanoseconds
        ]
        _same_readings(known.machine, of_state)
    if len({one.yardstick_version for one in measured}) > 1:
        raise DeepbenchError(f"its yardsticks are of another version than {known.machine}'s here")
    yardsticks: dict[str, Any] = {}
    for (count, kind), (_, figure) in sorted(both.items()):
        yardsticks.setdefault(count, {})[kind] = figure
    return replace(
        max(known, sent, key=_rank),
        yardstick_version=max(one.yardstick_version for one in measured or (known, sent)),
        yardsticks=yardsticks,
        levels=_levels(known, sent),
        yardstick_levels={
            count: min(
                one.yardstick_levels[count] for one in measured if count in one.yardstick_levels
            )
            for count in sorted({count for one in measured for count in one.yardstick_levels})
        },
        factor_by_chance=max(known.factor_by_chance, sent.factor_by_chance),
    )


def _same_readings(
    machine: str, several: Iterable[tuple[Profile, Mapping[str, Mapping[str, Figure]]]]
) -> dict[tuple[str, str], tuple[str, Figure]]:
    """Return the nominal readings of profiles by thread count and kind, with their version.

    Raises DeepbenchError where two differ.
    """
    found: dict[tuple[str, str], tuple[str, Figure]] = {}
    for one, by_count in several:
        for count, figures in by_count.items():
            for kind, figure in figures.items():
                own = one.yardstick_version, figure
                if found.setdefault((count, kind), own) != own:
                    raise DeepbenchError(
                        f"its yardsticks have other nominal readings than those of {machine} here:"
                        " times that were divided by them do not compare (deepbench recalibrate"
                        " calculates times again by a renewed profile)"
                    )
    return found


def _levels(known: Profile, sent: Profile) -> list[LatencyLevel]:
    """Return the levels of both; of two that are no two levels the lower one."""
    found: list[LatencyLevel] = []
    for level in sorted({*known.latencies, *sent.latencies}):
        if found and level < LEVEL_RATIO * found[-1].nanoseconds:
            continue
        of_both = [
            each for one in (known, sent) for each in one.levels if each.nanoseconds == level
        ]
        both: dict[str, dict[str, Figure]] = {}
        for each in sorted(of_both, key=lambda each: json.dumps(asdict(each), sort_keys=True)):
            for count, figures in each.yardsticks.items():
                both[count] = {**both.get(count, {}), **figures}
        found.append(LatencyLevel(level, both))
    return found


def _rank(one: Profile) -> tuple[str, str]:
    plain = replace(one, yardstick_version="", yardsticks={}, levels=[], yardstick_levels={})
    plain = replace(plain, factor_by_chance=0.0)
    return one.date, json.dumps(asdict(plain), sort_keys=True)
