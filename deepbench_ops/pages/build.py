"""All our own pages, made of the lines of all results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deepbench_ops.analysis.causes import causes
from deepbench_ops.asv_adapter import intact
from deepbench_ops.pages import (
    framework_page,
    lines,
    noise_data,
    site,
    site_data,
    stored_lines,
    verdict_page,
)
from deepbench_ops.pages.build_report import Written
from deepbench_ops.pages.machine_cache import Kept
from deepbench_ops.pages.stored_lines import Found
from deepbench_ops.problems.benchmark_names import FOREIGN
from deepbench_ops.releases.table import Release


def write(
    folder: Path, project: str, results: Path, timeline: Sequence[Release], keeping: Path
) -> tuple[Written, Kept[Found]]:
    """Write into `folder` all pages that are made of lines, and what they read; what was made on
    the way is returned as well, to be kept.

    `keeping` is the folder of what an earlier publishing has made of each machine's results.
    """
    kept = Kept(keeping, repr(timeline), stored_lines.encoded, stored_lines.decoded)
    found, machines, torn = lines.read(results, timeline, kept)
    broken = intact.broken(results)
    strange = [
        line for line in torn if f" {lines.STRANGE}: " in line and not line.endswith(FOREIGN)
    ]
    torn += [line for line in broken if not any(line in told for told in torn)]
    measured = [line for line in found if line.measured]
    several = [line for line in measured if len(line.points) > 1]
    changed = causes(several)
    site.write(folder, project)
    site_data.write(folder, project, machines, found, changed, torn)
    verdict_page.write(folder, project, several, changed, torn)
    framework_page.write(folder, project, measured)
    return Written(noise_data.known(measured), torn, [*broken, *strange]), kept
