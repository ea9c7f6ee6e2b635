"""Verdicts as JSON and as JUnit's XML."""

import math
import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deepbench_ops.statistics.ratio_texts import interval_text, ratio_texts

if TYPE_CHECKING:
    from deepbench_ops.analysis.change_causes import Cause
    from deepbench_ops.analysis.change_confirmation import Confirmed
    from deepbench_ops.analysis.implementation_changes import Switch
    from deepbench_ops.analysis.kernel_lines import Line, Shift

Between = tuple[str, str, str]
"""A machine, and the names of two releases."""
News = Mapping[Between, Mapping[str, tuple[str, str]]]
"""Differences of the second release to the first, besides the release itself."""


def between_releases(cause: "Cause") -> Between:
    """Return the machine of a cause and its releases before and after."""
    return cause.machine, cause.before.name, cause.after.name


def all_as_data(
    lines: "Sequence[Line]",
    found: "Sequence[Cause]",
    confirmed: "Confirmed | None",
    news: News,
    suspects: "Sequence[Cause]",
    switched: "Sequence[Switch]" = (),
) -> dict[str, Any]:
    """Return changes, for JSON; with --confirm also those that did not repeat or stayed open.

    found: the changes to list. suspects: those before --confirm dropped any.
    """
    dropped = {}
    if confirmed is not None:
        still_open = [cause for cause in suspects if confirmed.is_open(cause)]
        gone = [cause for cause in suspects if cause not in found and cause not in still_open]
        groups = {"did_not_repeat": gone, "stayed_open": still_open}
        dropped = {key: _each_as_data(each, confirmed, news) for key, each in groups.items()}
    return {
        "lines": len(lines),
        "judged": sum(line.judgeable for line in lines),
        "changes": _each_as_data(found, confirmed, news),
        "implementations": [switch.as_data() for switch in switched],
        **dropped,
    }


def _each_as_data(
    causes: "Sequence[Cause]", confirmed: "Confirmed | None", news: News
) -> list[dict[str, Any]]:
    return [_as_data(cause, confirmed, news) for cause in causes]


def _as_data(cause: "Cause", confirmed: "Confirmed | None", news: News) -> dict[str, Any]:
    return {
        "machine": cause.machine,
        "before": cause.before.name,
        "after": cause.after.name,
        "verdict": cause.kind,
        "scope": cause.scope,
        "what": cause.name,
        "watched": cause.watched,
        "ratio": cause.ratio,
        "mean": _mean(cause),
        "measured_in": cause.origin,
        "elsewhere": list(cause.elsewhere),
        "new": {name: list(pair) for name, pair in news.get(between_releases(cause), {}).items()},
        "kernels": [
            {
                "family": shift.after.family,
                "set": shift.after.set,
                "operation": shift.after.operation,
                "problem": shift.after.problem_id,
                "precision": shift.after.precision,
                "ranks": shift.after.ranks,
                "ratio": shift.change.ratio,
                "low": shift.change.low,
                "high": shift.change.high,
                "confidence": shift.change.confidence,
                "noise": None if math.isnan(shift.noise) else shift.noise,
                "measured_in": shift.origin,
                **_again(shift, confirmed),
            }
            for shift in cause.shifts
        ],
        **({} if confirmed is None else {"in_pairs": confirmed.summaries(cause)}),
    }


def _again(shift: "Shift", confirmed: "Confirmed | None") -> dict[str, Any]:
    """Return the verdict on a kernel that was measured again, None for one that was not."""
    if confirmed is None:
        return {}
    again = confirmed.again(shift)
    if again is None:
        return {"measured_again": None}
    fields = {"verdict": again.kind, "ratio": again.ratio, "low": again.low, "high": again.high}
    return {"measured_again": fields}


def _mean(cause: "Cause") -> dict[str, Any] | None:
    """Return the ratio of the kernels of a cause as one, with its interval of 99 %, and how many
    kernels count in it."""
    if cause.pooled is None:
        return None
    mean, count = cause.pooled
    return {"ratio": mean.ratio, "low": mean.low, "high": mean.high, "kernels": count}


def as_junit(lines: "Sequence[Line]", found: "Sequence[Cause]") -> str:
    """Return a suite for each machine: a case for each line judged, failed where it is slower."""
    root = xml.Element("testsuites")
    judged = [line for line in lines if line.judgeable]
    slower = {
        shift.after: (cause, shift) for cause in found if cause.slower for shift in cause.shifts
    }
    for name in dict.fromkeys(line.points[0].machine for line in judged):
        mine = [line for line in judged if line.points[0].machine == name]
        suite = xml.SubElement(root, "testsuite", name=name, tests=str(len(mine)))
        failures = 0
        for line in mine:
            case = xml.SubElement(suite, "testcase", _names(line))
            slower_ones = [slower[point] for point in line.points if point in slower]
            if slower_ones:
                failures += 1
                cause, shift = slower_ones[-1]
                change = shift.change
                (ratio,) = ratio_texts(change.ratio)
                interval = interval_text(change.low, change.high)
                message = f"{ratio} times as slow since {cause.after.name} ({interval})"
                xml.SubElement(case, "failure", message=message)
        suite.set("failures", str(failures))
    xml.indent(root)
    return xml.tostring(root, encoding="unicode")


def _names(line: "Line") -> dict[str, str]:
    """Return the names of a line's case, which no other line of its machine has."""
    point = line.points[-1]
    name = [point.name, point.precision, point.other_device, line.state, point.release.framework]
    return {
        "classname": f"{point.family}.{point.set}.{point.operation}",
        "name": ", ".join(filter(None, name)),
    }
