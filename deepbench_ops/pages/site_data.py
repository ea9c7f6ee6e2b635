"""All data files of this project's pages, in html/data.

- catalogue: machines with their profiles, releases with their days, families, conditions.
- lines/MACHINE/FAMILY, kernels/MACHINE/FRAMEWORK, changes/MACHINE/FRAMEWORK, newest/MACHINE,
  stacks/MACHINE: see `machine_data`. MACHINE is a key from the catalogue, since a machine's name
  may hold characters that an address may not.
- changes/index: the releases of each machine and framework, with counts of changes.
- index: summaries of all machines for the start page.
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
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.frameworks_by_family import Row
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.speed_index import speeds
from deepbench_ops.pages import (
    catalogue_data,
    change_data,
    index_page_data,
    machine_data,
    model_data,
    operation_data,
    search_data,
)
from deepbench_ops.pages.data_files import FOLDER, write_data, write_script
from deepbench_ops.pages.forked_writing import divided
from deepbench_ops.pages.machine_cache import MachineCache
from deepbench_ops.pages.machine_record import MachineRecord

DATA_FILES = "data-files"
"""Folder of the data files of machines in the folder of the cache."""


def write(
    html_dir: Path,
    project: str,
    machines: Sequence[MachineRecord],
    lines: Sequence[Line],
    once: Sequence[Line],
    causes: Sequence[Cause],
    matrices: Mapping[str, Sequence[Row]],
    problems: Sequence[str],
    cache: MachineCache[Any] | None = None,
) -> None:
    """Write html_dir/data from the lines of all machines and the changes found on them.

    once: the lines, each kernel that several sets list once (`lines_with_rounds.distinct`).
    matrices: by machine, the comparison of its frameworks for each family.
    problems: messages about results that cannot be read.
    cache: of the machines, which also stores their data files from then on.
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
    courses = speeds(once)
    own_lines, own_once = _by_machine(lines), _by_machine(once)
    everywhere = change_data.changes_by_machine(once)
    stored = None
    if cache is not None:
        releases = " ".join(release.hash for release in ordered)

        def others(machine: str) -> str:
            return f"{releases} {change_data.elsewhere(own_once[machine], everywhere)}"

        stored = cache.derived(DATA_FILES, others, machine_data.decode)

    def write_those_of(machine: MachineRecord) -> None:
        name = machine.name
        own = [speed for speed in courses if speed.machine == name]
        compute = partial(
            machine_data.scripts, machine, own_lines[name], own_once[name], own, places, everywhere
        )
        found = compute() if stored is None else stored.value(name, compute)
        for path, script in found.items():
            write_script(folder / path, script)

    largest_first = sorted(machines, key=lambda each: len(own_lines[each.name]), reverse=True)
    with divided(largest_first, write_those_of) as ours:
        change_data.write_index(html_dir, once, places)
        catalogue = catalogue_data.content(project, machines, places, grouped, problems)
        write_data(folder / "catalogue", catalogue)
        index = index_page_data.content(machines, once, causes, courses, matrices, places)
        write_data(folder / "index", index)
        longest = search_data.longest_lines(lines)
        write_data(folder / "search", search_data.content(machines, longest, ordered))
        write_data(folder / "operations", operation_data.content(longest))
        write_data(folder / "models", model_data.content(machines, lines))
        for machine in ours:
            write_those_of(machine)
    if stored is not None:
        with suppress(OSError):  # then the next publishing computes them
            stored.write()


def _by_machine(lines: Iterable[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        found[line.points[0].machine].append(line)
    return found
