"""The data files of one machine.

They depend on its own results, on the places of the releases, and on the changes of other machines
that it shares.

- lines/MACHINE/FAMILY: the lines of a family (`line_data`).
- kernels/MACHINE/FRAMEWORK: every kernel with its newest time, for the page of the machine.
- newest/MACHINE: the newest times of each kernel with each framework, for comparisons.
- stacks/MACHINE: the software under each release that was measured.
- changes/MACHINE/FRAMEWORK: the kernels of a framework with their changes (`change_data`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.speed_index import Speed
from deepbench_ops.pages import (
    change_data,
    data_encoding,
    kernel_data,
    line_data,
    newest_data,
    software_data,
)
from deepbench_ops.pages.change_data import Elsewhere
from deepbench_ops.pages.data_files import data_script
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release

PATH = re.compile(r"(lines|kernels|newest|stacks|changes)/[0-9a-f]+(/[\w-]+)?\.js")
"""Path of a data file of a machine."""


def scripts(
    machine: MachineRecord,
    lines: Sequence[Line],
    once: Sequence[Line],
    courses: Sequence[Speed],
    places: Mapping[Release, int],
    everywhere: Elsewhere,
) -> Mapping[str, str]:
    """Return the text of each data file by its path below the folder of data.

    lines, once, courses: those of the machine; `once` has each kernel that several sets list once.
    everywhere: the result of `change_data.changes_by_machine` for all machines.
    """
    found = _contents(machine, lines, once, courses, places, everywhere)
    return {f"{path}.js": data_script(content) for path, content in found}


def _contents(
    machine: MachineRecord,
    lines: Sequence[Line],
    once: Sequence[Line],
    courses: Sequence[Speed],
    places: Mapping[Release, int],
    everywhere: Elsewhere,
) -> Iterator[tuple[str, Any]]:
    """Yield the path and the content of each file."""
    families: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        families[line.points[0].family].append(line)
    profile = machine.profile
    for family, members in families.items():
        name = f"lines/{machine.key}/{family}"
        yield from line_data.files(name, members, profile, places).items()
    kernels = kernel_data.by_framework(once, courses, profile, places)
    for framework, content in kernels.items():
        yield f"kernels/{machine.key}/{framework}", content
    yield f"newest/{machine.key}", newest_data.content(lines, profile, places)
    yield f"stacks/{machine.key}", software_data.content(machine.stacks, places)
    changes = change_data.by_framework(machine, once, places, everywhere)
    for framework, content in changes.items():
        yield f"changes/{machine.key}/{framework}", content


def decode(stored: Mapping[str, str]) -> Mapping[str, str]:
    """Return the scripts of a cache. Raises ValueError, TypeError or AttributeError for others."""
    for path, script in stored.items():
        if not (PATH.fullmatch(path) and data_encoding.SCRIPT.fullmatch(script)):
            raise ValueError(f"{path} is no data file of a machine")
    return stored
