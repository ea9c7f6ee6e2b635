"""All data files of this project's pages, in html/data.

- catalogue: machines with their profiles, releases with their days, families, conditions.
- lines/MACHINE/FAMILY: the lines of a family on a machine. MACHINE is a key from the catalogue,
  since a machine's name may hold characters that an address may not.
- kernels/MACHINE/FRAMEWORK: every kernel with its newest time, for the page of a machine.
- newest/MACHINE: the newest time of each kernel with each framework, for comparisons.
- changes: the kernels of each machine and framework with their changes, for the page of releases.
- stacks/MACHINE: the software under each release that was measured on a machine.
- start: summaries of all machines for the start page.
- search: machines, releases and problems, for the search box.
- operations: every problem of the lists with its FLOPs and bytes.
- models: published tables of whole models next to measured times.
- nodes, nodes/MACHINE/NUMBER: the nodes of a machine type compared, written by node_data.
- frameworks, contests/MACHINE: comparisons of frameworks, written with frameworks.html.

Files name a release by its index in the catalogue's list. They hold seconds, FLOPs, bytes and
items; the pages compute all other figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.framework_matrix import Row
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.lines_with_rounds import distinct
from deepbench_ops.analysis.speed_index import Speed, speeds
from deepbench_ops.pages import (
    catalogue_data,
    change_data,
    index_page_data,
    kernel_data,
    line_data,
    model_data,
    newest_data,
    operation_data,
    search_data,
    software_data,
)
from deepbench_ops.pages.data_files import FOLDER, write_data
from deepbench_ops.pages.machine_record import MachineRecord


def write(
    html_dir: Path,
    project: str,
    machines: Sequence[MachineRecord],
    lines: Sequence[Line],
    causes: Sequence[Cause],
    matrices: Mapping[str, Sequence[Row]],
    problems: Sequence[str],
) -> None:
    """Write html_dir/data from the lines of all machines and the changes found on them.

    matrices: by machine, the comparison of its frameworks for each family.
    problems: messages about results that cannot be read.
    """
    folder = html_dir / FOLDER
    ordered = sorted(
        {point.release for line in lines for point in line.points},
        key=lambda release: (release.date, release.name),
    )
    places = {release: place for place, release in enumerate(ordered)}
    grouped: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        grouped[line.points[0].machine, line.points[0].family].append(line)
    by_name = {machine.name: machine for machine in machines}
    for (name, family), members in grouped.items():
        machine = by_name[name]
        content = line_data.content(members, machine.profile, places)
        write_data(folder / "lines" / machine.key / family, content)
    once = distinct(lines)
    courses = speeds(once)
    own_lines, own_once = (_by_machine(some) for some in (lines, once))
    own_courses: dict[str, list[Speed]] = defaultdict(list)
    for speed in courses:
        own_courses[speed.machine].append(speed)
    for machine in machines:
        own, counted = own_lines[machine.name], own_once[machine.name]
        kernels = kernel_data.by_framework(
            counted, own_courses[machine.name], machine.profile, places
        )
        for framework, content in kernels.items():
            write_data(folder / "kernels" / machine.key / framework, content)
        newest = newest_data.content(own, machine.profile, places)
        write_data(folder / "newest" / machine.key, newest)
        write_data(folder / "stacks" / machine.key, software_data.content(machine.stacks, places))
    change_data.write(html_dir, machines, once, places)
    catalogue = catalogue_data.content(project, machines, places, grouped, problems)
    write_data(folder / "catalogue", catalogue)
    index = index_page_data.content(machines, once, causes, courses, matrices, places)
    write_data(folder / "index", index)
    longest = search_data.longest_lines(lines)
    write_data(folder / "search", search_data.content(machines, longest, ordered))
    write_data(folder / "operations", operation_data.content(longest))
    write_data(folder / "models", model_data.content(machines, lines))


def _by_machine(lines: Iterable[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        found[line.points[0].machine].append(line)
    return found
