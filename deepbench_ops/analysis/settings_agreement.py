"""Comparability of times: only those whose settings from outside agree are compared.

Unknown settings (published figures, and times measured before settings were recorded) agree with
any.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from deepbench_ops.analysis.points import Point
from deepbench_ops.measure import outside_settings
from deepbench_ops.measure.outside_settings import Settings


def agree(one: Point, other: Point) -> bool:
    """Whether two points were taken under the same settings, as far as is known."""
    return one.settings is None or other.settings is None or one.settings == other.settings


def alike(points: Sequence[Point]) -> list[list[Point]]:
    """Return points in groups whose settings agree, each in the given order.

    First comes the group without settings, else the largest: points of unknown settings belong to
    it.
    """
    counted = Counter(point.settings for point in points if point.settings is not None)
    if len(counted) < 2:
        return [list(points)] if points else []
    home: Settings = () if () in counted else counted.most_common(1)[0][0]
    groups: dict[Settings, list[Point]] = {home: []}
    for point in points:
        key = home if point.settings is None else point.settings
        groups.setdefault(key, []).append(point)
    return list(groups.values())


def notes(points: Iterable[Point], apart: Iterable[Point] = ()) -> list[str]:
    """Return remarks on the settings of measured points, a line each.

    apart: points that are left out of a comparison because of theirs.
    """
    lines = []
    for found, count in Counter(point.settings for point in apart).items():
        if found:
            lines.append(
                f"left out: {count} times measured under {outside_settings.text(found)},"
                " which others were not"
            )
    measured = [point for point in points if point.release.measurable]
    for found, count in Counter(point.settings for point in measured).items():
        if found:
            lines.append(
                f"{count} of {len(measured)} times were measured"
                f" under {outside_settings.text(found)}"
            )
    unknown = sum(point.settings is None for point in measured)
    if unknown and unknown < len(measured):
        lines.append(
            f"{unknown} of {len(measured)} times are from before settings from outside were"
            " recorded: theirs are unknown"
        )
    elif unknown:
        lines.append("settings from outside are unknown: they were not yet recorded")
    return lines
