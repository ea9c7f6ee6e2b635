"""verdicts.html: the changes in speed on each machine, with intervals and noise.

The page replaces asv's list of regressions, and links to it as a second opinion.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.kernel_lines import Line, Shift
from deepbench_ops.pages.addresses import timeline_fragment
from deepbench_ops.pages.page_frame import render_page
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write

PAGE = "verdicts.html"


def write(
    html_dir: Path,
    project: str,
    lines: Sequence[Line],
    causes: Sequence[Cause],
    problems: Iterable[str],
    site_url: str = "",
) -> None:
    """Write html_dir/verdicts.html from the lines and the changes of all machines."""
    atomic_write.write_text(html_dir / PAGE, page(project, lines, causes, problems, site_url))


def page(
    project: str,
    lines: Sequence[Line],
    causes: Sequence[Cause],
    problems: Iterable[str] = (),
    site_url: str = "",
) -> str:
    """HTML of verdicts.html; `problems` are messages about unreadable results."""
    judged = [line for line in lines if line.judgeable]
    machines = [
        {
            "name": machine,
            "exported": json.dumps({"machine": machine}),
            "causes": [row(cause) for cause in causes if cause.machine == machine],
        }
        for machine in dict.fromkeys(line.points[0].machine for line in judged)
    ]
    return render_page(
        PAGE,
        project,
        site_url=site_url,
        judged=len(judged),
        lines=len(lines),
        problems=list(problems),
        machines=machines,
    )


def row(cause: Cause) -> dict[str, Any]:
    """The values of a change for templates; all are texts, except ratios and noise."""
    ratios = sorted(shift.change.ratio for shift in cause.shifts)
    group = cause.scope != "kernel"
    reach = f"{len(cause.shifts)} of {cause.watched} kernels" if group else ""
    kernels = [_kernel(shift) for shift in _largest_first(cause.shifts)]
    listed = [f"{each['benchmark']} {each['name_only']} {each['precision']}" for each in kernels]
    along = [f"{name}: {each['ratio']}" for name, each in zip(listed, kernels, strict=True)]
    return {
        "machine": cause.machine,
        "release_id": cause.after.name,
        "release": _name(cause.after),
        "date": cause.after.date.isoformat(),
        "before": _name(cause.before),
        "verdict": cause.kind,
        "ratio": cause.ratio,
        "ratio_text": times(cause.ratio),
        "ratio_range": span(ratios[0], ratios[-1]) if len(ratios) > 1 else "",
        "mean_range": span(cause.pooled.low, cause.pooled.high) if cause.pooled else "",
        "origin": cause.origin,
        "summary": f"{cause.name}: {reach}" if group else "",
        "kernels": kernels,
        "exported": "; ".join([": ".join(filter(None, [cause.name, reach])), *along]),
        "noise": None if math.isnan(cause.noise) else cause.noise,
        "noise_text": "" if math.isnan(cause.noise) else f"{cause.noise:.1%}",
        "elsewhere": ", ".join(cause.elsewhere),
    }


def _kernel(shift: Shift) -> dict[str, str]:
    """A kernel with its ratio and interval, and the address of its timeline."""
    point, change = shift.after, shift.change
    return {
        "name": f"{point.name}, {point.precision}",
        "name_only": point.name,
        "precision": point.precision,
        "benchmark": f"{point.family} {point.set.replace('_', ' ')} {point.operation}",
        "change": f"{times(change.ratio)} (99 % interval: {span(change.low, change.high)};"
        f" {shift.origin})",
        "ratio": f"{change.ratio:.3g}, {change.low:.3g} to {change.high:.3g}",
        "timeline": urlencode(timeline_fragment(point)),
    }


def times(ratio: float) -> str:
    """A ratio of seconds in words, like "4.3 times slower"."""
    size = f"{max(ratio, 1 / ratio):.3g}"
    if size == "1":
        return "no difference"
    return f"{size} times {'slower' if ratio > 1 else 'faster'}"


def span(low: float, high: float) -> str:
    """Two ratios of seconds in words, like "1.2 to 4.3 times slower"."""
    if "no difference" in (times(low), times(high)) or (low > 1) != (high > 1):
        return f"{times(low)} to {times(high)}"
    least, most = (low, high) if low > 1 else (high, low)
    return f"{max(least, 1 / least):.3g} to {times(most)}"


def _largest_first(shifts: Sequence[Shift]) -> list[Shift]:
    return sorted(shifts, key=lambda shift: -abs(math.log(shift.change.ratio)))


def _name(release: Release) -> str:
    return f"{release.framework} {release.version}"
