"""Detection of the changes along many lines at once, in a process for each core.

It takes much of the time of verdicts on a large store, nearly all of it for lines with changes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from deepbench_ops import work_on_cores
from deepbench_ops.analysis import kernel_lines
from deepbench_ops.analysis.change_screening import detect_each
from deepbench_ops.analysis.kernel_lines import Line

FEWEST_LINES = 4000
"""Number of lines from which processes save more than the second that each takes to start, if some
hundred of them have changes."""

TOGETHER = 256
"""Lines that a process is sent at once."""


def detect(groups: Iterable[Sequence[Line]]) -> list[Line]:
    """Return the lines of all groups; those that are long enough keep the changes along them.

    If there are many lines, the changes are computed while further groups are read.
    """
    lines: list[Line] = []

    def long_enough() -> Iterator[Line]:
        for group in groups:
            lines.extend(group)
            yield from (line for line in group if line.long_enough)

    waiting = long_enough()
    first = list(islice(waiting, FEWEST_LINES))
    if work_on_cores.cores() < 2 or len(first) < FEWEST_LINES:
        kernel_lines.detect(chain(first, waiting))
        return lines
    waiting = chain(first, waiting)
    sent: list[Sequence[Line]] = []

    def levels() -> Iterator[list[Sequence[float]]]:
        while part := list(islice(waiting, TOGETHER)):
            sent.append(part)
            yield [line.levels for line in part]

    for number, found in enumerate(work_on_cores.results(detect_each, levels())):
        for line, changes in zip(sent[number], found, strict=True):
            vars(line)["detected"] = changes
    return lines
