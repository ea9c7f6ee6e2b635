"""verdicts.html: the changes in speed on each machine, with intervals and noise.

The page replaces asv's list of regressions, and links to it as a second opinion.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.kernel_lines import Line, Shift
from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.pages.addresses import timeline_fragment
from deepbench_ops.pages.page_frame import render_page
from deepbench_ops.problems.problem_lists import heading, title_prefix
from deepbench_ops.releases.release_table import Release
from deepbench_ops.statistics.ratio_texts import ratio_texts
from deepbench_ops.storage import atomic_write

PAGE = "verdicts.html"

MOST_ROWS = 100
"""Changes on the page, shared among its machines. A row has about 2 kB: all changes of ten years on
ten machines would take seconds to open."""

FEWEST_ROWS = 5
"""Changes of each machine at least."""


def write(
    html_dir: Path,
    project: str,
    lines: Sequence[Line],
    causes: Sequence[Cause],
    marks: Mapping[str, str],
    site_url: str = "",
) -> None:
    """Write html_dir/verdicts.html from the lines and the changes of all machines."""
    atomic_write.write_text(html_dir / PAGE, page(project, lines, causes, marks, site_url))


def page(
    project: str,
    lines: Sequence[Line],
    causes: Sequence[Cause],
    marks: Mapping[str, str],
    site_url: str = "",
) -> str:
    """HTML of verdicts.html.

    marks: by name, those of machines whose results came in without the signature of an allowed
    signer.
    """
    judged = [line for line in lines if line.judgeable]
    names = list(dict.fromkeys(line.points[0].machine for line in judged))
    most = max(FEWEST_ROWS, MOST_ROWS // max(1, len(names)))
    machines = [
        _machine(name, [cause for cause in causes if cause.machine == name], most) for name in names
    ]
    return render_page(
        PAGE,
        project,
        site_url=site_url,
        judged=len(judged),
        lines=len(lines),
        machines=machines,
        marks=marks,
        explanations=submission_provenance.MARKS,
    )


def _machine(name: str, causes: Sequence[Cause], most: int) -> dict[str, Any]:
    """The newest changes of a machine, of one day the widest and largest, and how many it has.

    causes: in the order of `change_causes.causes`.
    """
    return {
        "name": name,
        "exported": json.dumps({"machine": name}),
        "causes": [row(cause) for cause in causes[:most]],
        "changes": len(causes),
    }


def row(cause: Cause) -> dict[str, Any]:
    """The values of a change for templates; all are texts, except ratios, noise and lists."""
    ratios = sorted(shift.change.ratio for shift in cause.shifts)
    group = cause.scope != "kernel"
    reach = f"{len(cause.shifts)} of {cause.watched} kernels" if group else ""
    kernels = [_kernel(shift) for shift in _largest_first(cause.shifts)]
    along = ["{benchmark} {name} {precision}: {ratio}".format(**each) for each in kernels]
    return {
        "machine": cause.machine,
        "release_id": cause.after.name,
        "release": _name(cause.after),
        "date": cause.after.date.isoformat(),
        "before": _name(cause.before),
        "verdict": cause.kind,
        "ratio": cause.ratio,
        "ratio_text": factor(cause.ratio),
        "ratio_range": span(ratios[0], ratios[-1]) if len(ratios) > 1 else "",
        "mean_range": _mean(cause),
        "origin": cause.origin,
        "summary": f"{_group(cause)}: {reach}" if group else "",
        "kernels": kernels,
        "exported": "; ".join([": ".join(filter(None, [cause.name, reach])), *along]),
        "noise": None if math.isnan(cause.noise) else cause.noise,
        "noise_text": "" if math.isnan(cause.noise) else f"{100 * cause.noise:.2g} %",
        "elsewhere": cause.elsewhere,
    }


def _mean(cause: Cause) -> str:
    """The interval of the mean of several kernels, with their number if not all count in it."""
    if cause.pooled is None:
        return ""
    mean, count = cause.pooled
    some = f" ({count} of {len(cause.shifts)} kernels)" if cause.interval is None else ""
    return f"{span(mean.low, mean.high)}{some}"


def _group(cause: Cause) -> str:
    """Kernels that changed together, in words."""
    if cause.scope == "framework":
        return cause.name
    first = cause.shifts[0].after
    return f"{heading(first.family)}, {first.precision}"


def _kernel(shift: Shift) -> dict[str, str]:
    """A kernel with its ratio and interval, and the address of its timeline."""
    point, change = shift.after, shift.change
    return {
        "title": f"{title_prefix(point.family)}{point.problem.title} "
        f"{point.operation.replace('_', ' ')}, {point.precision}",
        "name": point.name,
        "set": point.set.replace("_", " "),
        "precision": point.precision,
        "benchmark": f"{point.family} {point.set.replace('_', ' ')} {point.operation}",
        "change": f"{factor(change.ratio)} (99 % interval: {span(change.low, change.high)};"
        f" {shift.origin})",
        "ratio": "{}, {} to {}".format(*ratio_texts(change.ratio, change.low, change.high)),
        "timeline": urlencode(timeline_fragment(point)),
    }


def factor(ratio: float) -> str:
    """A ratio of seconds in words, like "4.3\u00d7 slower"."""
    (size,) = ratio_texts(max(ratio, 1 / ratio))
    if size == "1":
        return "no difference"
    return f"{size}\u00d7 {'slower' if ratio > 1 else 'faster'}"


def span(low: float, high: float) -> str:
    """Two ratios of seconds in words, like "1.2 to 4.3\u00d7 slower"."""
    if "no difference" in (factor(low), factor(high)) or (low > 1) != (high > 1):
        return f"{factor(low)} to {factor(high)}"
    least, most = (low, high) if low > 1 else (high, low)
    (size,) = ratio_texts(max(least, 1 / least))
    return f"{size} to {factor(most)}"


def _largest_first(shifts: Sequence[Shift]) -> list[Shift]:
    return sorted(shifts, key=lambda shift: -abs(math.log(shift.change.ratio)))


def _name(release: Release) -> str:
    return f"{release.framework} {release.version}"
