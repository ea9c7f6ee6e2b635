"""Results that others published, as asv's files hold them: values and software stack.

A published time has no interval: asv then weighs it like its neighbours. A machine's kernels that
were not timed are skipped values, asv's NaN. The library stack and the workbooks' names stand where
asv keeps the requirements of a measured environment.
"""

from datetime import UTC, date, datetime
from pathlib import Path

from asv.results import Results

from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage.result_key import ResultKey

ENVIRONMENT = "published"
"""Stands where a measured result has the name of its environment; a layout follows it."""

PATTERN = f"*-{ENVIRONMENT}*.json"
"""Names of published result files."""

WORKBOOK = "workbook"
"""The name in a stack of the files that were taken in; all else in it is of the machine."""

ALTERNATIVES = " / "
"""Between different texts of two workbooks of a day about the same thing."""

PublishedValues = dict[ResultKey, list[float]]
"""Seconds by benchmark and parameters, several where a sheet repeats a row."""

Stack = dict[str, str]
"""Versions of libraries and facts about the machine, by name."""


def paths(folder: Path) -> list[Path]:
    """Return the published result files in a machine's folder."""
    return sorted(folder.glob(PATTERN))


def is_published(path: Path) -> bool:
    """Whether a result file has the name of a published one."""
    return path.match(PATTERN)


def load(path: Path) -> tuple[PublishedValues, Stack]:
    """Return the values of a published result, and the stack that they were measured with.

    Raises DeepbenchError for a file that is damaged, or holds values that cannot be right.
    """
    return values_and_stack(result_files.undamaged(path))


def values_and_stack(published: Results) -> tuple[PublishedValues, Stack]:
    """Return the values of a published result, and the stack that they were measured with."""
    found = {
        (one.name, one.key): one.samples or [one.value]
        for one in private_result_fields.each(published)
    }
    return found, dict(private_result_fields.libraries(published))


def stack_of(folder: Path, release: Release) -> Stack:
    """Return the stack of a machine's results of a release, all files together."""
    stack: Stack = {}
    for path in sorted(folder.glob(f"{release.hash[:8]}-*.json")):
        stack = merged_stack(stack, private_result_fields.libraries(result_files.read(path)))
    return {name: text for name, text in stack.items() if name != WORKBOOK}


def merged_stack(one: Stack, other: Stack) -> Stack:
    """Return two stacks of the same machine and day as one, with alternatives where they differ."""
    both = {**one, **other}
    for name in one.keys() & other.keys():
        texts = {*one[name].split(ALTERNATIVES), *other[name].split(ALTERNATIVES)}
        both[name] = ALTERNATIVES.join(sorted(texts))
    return both


def day_of(published: Results) -> date:
    """Return the day of publication."""
    return datetime.fromtimestamp(published.date / 1000, UTC).date()
