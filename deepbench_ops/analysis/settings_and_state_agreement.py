"""Comparability of times: only those are compared whose settings, threads and states agree.

The state is that of the machine (`measure.machine_states`): the same kernel takes another time in
another one. Unknown settings, threads and states (published figures, and times measured before they
were recorded) agree with any. Threads and states of different machines are different things, and
agree. Lines and other groups of many times do not differ by threads: `notes` counts those.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from deepbench_ops.analysis.points import Point
from deepbench_ops.measure import library_variables
from deepbench_ops.measure.library_variables import Settings
from deepbench_ops.measure.machine_states import INCOMPARABLE, ONE_LEVEL


def agree(one: Point, other: Point) -> bool:
    """Whether two points were taken under the same settings, on a machine also on as many threads
    and in the same state, as far as is known."""
    if one.settings is not None and other.settings is not None and one.settings != other.settings:
        return False
    if one.machine != other.machine:
        return True
    if one.threads and other.threads and one.threads != other.threads:
        return False
    if not one.state or not other.state:
        return True
    return one.state == other.state and one.state not in INCOMPARABLE


def comparable(points: Iterable[Point]) -> list[Point]:
    """Return the points without those of a state in which nothing can be compared."""
    return [point for point in points if point.state not in INCOMPARABLE]


def groups_that_agree(points: Sequence[Point]) -> list[list[Point]]:
    """Return points in groups whose settings and states agree, each in the given order.

    First comes the group without settings, else the largest; among those of the same settings the
    group of the most frequent state; of equally frequent ones the first by name. Points without
    settings or a state belong to these; where all states are such in which nothing can be compared,
    points without one are a group of their own.
    """
    return [group for each in _of_settings(points) for group in _of_states(each)]


def _of_states(points: Sequence[Point]) -> list[list[Point]]:
    if not any(point.state for point in points):
        return [list(points)] if points else []
    counted = Counter(point.state for point in points if point.state)
    home = preferred(counted)
    home = "" if home in INCOMPARABLE else home
    groups: dict[str, list[Point]] = {home: []}
    for point in points:
        groups.setdefault(point.state or home, []).append(point)
    return [group for group in groups.values() if group]


def preferred(states: Mapping[str, int]) -> str:
    """Return the state to compare in: that of most points, "" where none is known.

    states: numbers of points. One in which nothing can be compared comes last. Of equally frequent
    ones it is the first by name.
    """
    return max(
        sorted(states),
        key=lambda state: (state not in INCOMPARABLE, states[state]),
        default="",
    )


def _of_settings(points: Sequence[Point]) -> list[list[Point]]:
    if len({point.settings for point in points} - {None}) < 2:
        return [list(points)] if points else []
    counted = Counter(point.settings for point in points if point.settings is not None)
    home: Settings = () if () in counted else max(sorted(counted), key=counted.__getitem__)
    groups: dict[Settings, list[Point]] = {home: []}
    for point in points:
        key = home if point.settings is None else point.settings
        groups.setdefault(key, []).append(point)
    return list(groups.values())


def notes(points: Iterable[Point], apart: Iterable[Point] = ()) -> list[str]:
    """Return remarks on the settings, threads and states of measured points, a line each.

    apart: points that are left out of a comparison because of theirs.
    """
    lines = _state_notes(points := list(points), apart := list(apart))
    lines += _thread_notes(points, apart)
    for found, count in Counter(point.settings for point in apart).items():
        if found:
            lines.append(
                f"left out: {count} times measured under {library_variables.text(found)},"
                " which others were not"
            )
    measured = [point for point in points if point.release.measurable]
    for found, count in Counter(point.settings for point in measured).items():
        if found:
            lines.append(
                f"{count} of {len(measured)} times were measured"
                f" under {library_variables.text(found)}"
            )
    unknown = sum(point.settings is None for point in measured)
    if unknown and unknown < len(measured):
        lines.append(
            f"{unknown} of {len(measured)} times are from before external settings were"
            " recorded: theirs are unknown"
        )
    elif unknown:
        lines.append("external settings are unknown: they were not yet recorded")
    return lines


def _state_notes(points: Sequence[Point], apart: Sequence[Point]) -> list[str]:
    used = Counter(point.state for point in points)
    left = Counter(point.state for point in apart)
    other = [state for state in left if state and (state in INCOMPARABLE or state not in used)]
    lines = [
        f"left out: {left[state]} times measured in another state of the machine: {state}"
        for state in other
    ]
    return lines + [
        f"{count} of {used.total()} times were measured in this state of the machine: {state}"
        for state, count in used.items()
        if state and state != ONE_LEVEL
    ]


def _thread_notes(points: Sequence[Point], apart: Sequence[Point]) -> Iterable[str]:
    left: Counter[str] = Counter()
    for threads in _threads_of_kernels(apart):
        left += threads
    if left:
        each = _on_threads(left)
        yield f"left out: {left.total()} times measured on unequal numbers of threads: {each}"
    fewer: Counter[str] = Counter()
    for threads in _threads_of_kernels(points):
        most, _ = threads.most_common(1)[0]
        fewer += Counter({name: threads[name] for name in threads if name != most})
    if fewer:
        yield (
            f"{fewer.total()} of {len(points)} times were measured on another number of threads"
            f" than most of their kernel: {_on_threads(fewer)}"
        )


def _threads_of_kernels(points: Iterable[Point]) -> list[Counter[str]]:
    """Return the known numbers of threads of each kernel on a machine, where it has several."""
    found: dict[tuple[object, ...], Counter[str]] = defaultdict(Counter)
    for point in points:
        if point.threads:
            family, _, *kernel = point.kernel  # without the set
            found[point.machine, point.device, family, *kernel][point.threads] += 1
    return [threads for threads in found.values() if len(threads) > 1]


def _on_threads(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{count} on {threads}" for threads, count in sorted(counted.items()))
