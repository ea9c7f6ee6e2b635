"""All pages of this project and their data, made from the lines of all results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deepbench_ops.analysis import lines_with_rounds, shared_rounds
from deepbench_ops.analysis.change_causes import causes
from deepbench_ops.analysis.frameworks_by_family import matrix
from deepbench_ops.analysis.machine_ranking_by_family import rankings
from deepbench_ops.analysis.shared_rounds import Shared
from deepbench_ops.asv_adapter import damaged_file_search
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.pages import (
    cached_line_encoding,
    change_feed,
    data_pages,
    framework_page,
    machine_lines,
    node_data,
    noise_data,
    preview_image,
    site_data,
    verdict_page,
)
from deepbench_ops.pages.cached_line_encoding import MachineLines
from deepbench_ops.pages.machine_cache import MachineCache
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.pages.noise_data import NoiseByLine
from deepbench_ops.problems.benchmark_names import EARLIER, FOREIGN
from deepbench_ops.releases.release_table import Release


class BuiltPages(NamedTuple):
    """Results of writing the pages.

    noise: the noise of every line. problems: messages about results that cannot be read.
    damaged_files: the problems that make publishing fail. cache: values to store; writing it may
    wait.
    """

    noise: NoiseByLine
    problems: list[str]
    damaged_files: list[str]
    cache: MachineCache[MachineLines]


def build(
    folder: Path,
    project: str,
    results: Path,
    timeline: Sequence[Release],
    cache_folder: Path,
    site_url: str = "",
) -> BuiltPages:
    """Write all pages made from lines, and their data, into `folder`.

    cache_folder: values that an earlier publishing computed from each machine's results.
    site_url: address of the published site; "" if it is not configured.
    """
    cache = MachineCache(
        cache_folder,
        f"{timeline!r} {results}",  # lines about damaged files name their path
        cached_line_encoding.encode,
        cached_line_encoding.decode,
    )
    lines, machines, problems = machine_lines.read(results, timeline, cache)
    broken = damaged_file_search.find(
        results, {machine.name: machine.damaged for machine in machines}
    )
    strange = [
        problem
        for problem in problems
        if f" {machine_lines.LEFT_OUT}: " in problem and not problem.endswith((FOREIGN, EARLIER))
    ]
    problems += [line for line in broken if not any(line in problem for problem in problems)]
    measured = [line for line in lines if line.measured]
    once = lines_with_rounds.distinct(lines)
    several = [line for line in once if line.measured and len(line.points) > 1]
    changes = causes(several)
    data_pages.write(folder, project, site_url)
    problems += node_data.write(folder, results.absolute().parent)
    rounds = {machine.name: _rounds_of_several_frameworks(results, machine) for machine in machines}
    contests = framework_page.contests_by_machine(measured, rounds)
    matrices = {name: matrix(some, rounds[name]) for name, some in contests.items()}
    site_data.write(folder, project, machines, lines, once, changes, matrices, problems, cache)
    marks = {machine.name: machine.mark for machine in machines if machine.mark}
    verdict_page.write(folder, project, several, changes, marks, site_url)
    framework_page.write(folder, project, contests, matrices, site_url)
    if site_url:
        change_feed.write(folder, project, site_url, changes, marks)
        profiles = {machine.name: machine.profile for machine in machines}
        preview_image.write(folder, project, rankings(lines, profiles), changes, marks)
    noise = noise_data.noise_by_line(measured)
    return BuiltPages(noise, problems, [*broken, *strange], cache)


def _rounds_of_several_frameworks(results: Path, machine: MachineRecord) -> Shared:
    """The rounds of a machine that measured several frameworks; none if their file is damaged.

    A damaged file is among the problems already.
    """
    try:
        return shared_rounds.load_of_several_frameworks(results, machine.name)
    except DeepbenchError:
        return {}
