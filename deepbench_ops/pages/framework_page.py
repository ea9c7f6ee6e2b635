"""frameworks.html: a comparison of the frameworks on each machine, kernel by kernel."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deepbench_ops.analysis.frameworks_by_family import Row
from deepbench_ops.analysis.frameworks_by_kernel import Contest, contests, wins
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.shared_rounds import Shared
from deepbench_ops.pages import framework_comparison_data
from deepbench_ops.pages.data_files import machine_key
from deepbench_ops.pages.framework_comparison_data import section
from deepbench_ops.pages.page_frame import render_page
from deepbench_ops.problems.problem_lists import TYPES, heading
from deepbench_ops.storage import atomic_write

PAGE = "frameworks.html"


def write(
    html_dir: Path,
    project: str,
    by_machine: Mapping[str, Sequence[Contest]],
    matrices: Mapping[str, Sequence[Row]],
    site_url: str = "",
) -> None:
    """Write html_dir/frameworks.html and its data.

    by_machine: the result of `contests_by_machine`. matrices: that of `frameworks_by_family.matrix`
    for each machine.
    """
    framework_comparison_data.write(html_dir, by_machine, matrices)
    atomic_write.write_text(html_dir / PAGE, page(project, by_machine, site_url))


def contests_by_machine(
    lines: Iterable[Line], shared: Mapping[str, Shared] = MappingProxyType({})
) -> dict[str, list[Contest]]:
    """Kernels measured with several frameworks, by machine, that with the newest release first, in
    the order of the page's sections.

    shared: rounds that measured several releases together, by machine.
    """
    points: dict[str, list[Point]] = defaultdict(list)
    for line in lines:
        points[line.points[0].machine] += line.points
    found = {machine: contests(own, shared.get(machine, {})) for machine, own in points.items()}
    families = list(TYPES)

    def place(contest: Contest) -> tuple[int, str, str]:
        family, operation, precision = section(contest)
        return families.index(family), operation, precision

    several = [machine for machine in sorted(found) if found[machine]]
    several.sort(key=lambda machine: _newest(found[machine]), reverse=True)
    return {machine: sorted(found[machine], key=place) for machine in several}


def _newest(found: Iterable[Contest]) -> date:
    """Day of the newest release among kernels."""
    return max(point.release.date for contest in found for point in contest.points)


def page(project: str, by_machine: Mapping[str, Sequence[Contest]], site_url: str = "") -> str:
    """HTML of frameworks.html; a script fills each section when the user opens it."""
    machines = [_machine(machine, some) for machine, some in by_machine.items()]
    return render_page(PAGE, project, site_url=site_url, machines=machines)


def _machine(machine: str, found: Sequence[Contest]) -> dict[str, Any]:
    """Number of kernels at which each framework is fastest, and the sections.

    The numbers are by family, precision and device. There is a section for each family, operation
    and precision.
    """
    frameworks = sorted({point.release.framework for contest in found for point in contest.points})
    groups: dict[tuple[str, str, str], list[Contest]] = defaultdict(list)
    for contest in found:
        kernel = contest.kernel
        groups[kernel.family, kernel.precision, kernel.other_device].append(contest)
    return {
        "name": machine,
        "key": machine_key(machine),
        "exported": json.dumps({"machine": machine}),
        "frameworks": [*frameworks, ""],
        "wins": [
            (
                f"{family} {device}".strip(),
                f"{heading(family)} on {device}" if device else heading(family),
                precision,
                wins(own)[family],
            )
            for (family, precision, device), own in groups.items()
        ],
        "sections": [
            {
                "family": family,
                "heading": heading(family),
                "operation": operation,
                "precision": precision,
                "count": count,
            }
            for (family, operation, precision), count in Counter(map(section, found)).items()
        ],
    }
