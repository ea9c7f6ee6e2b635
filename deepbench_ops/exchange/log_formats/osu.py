"""osu_allreduce: upstream's, and the two that DeepBench made of it.

Upstream prints bytes and microseconds, DeepBench's of 2016 floats and microseconds, its later one
floats, milliseconds and the number of ranks. The unit does not distinguish them, version and sizes
do: upstream prints its version and doubles sizes, DeepBench's prints no version and the sizes of
its list.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.log_formats.log_lines import (
    FLOAT_BYTES,
    OutputLine,
    TimingOrUnread,
    all_reduce_timing,
    number,
)
from deepbench_ops.exchange.workbooks.workbook_timings import Unread

SIGN = r"OSU MPI\S* Allreduce"

_LISTED = {100000, 3097600, 4194304, 6553600, 16777216, 16777217, 38360000, 64500000}
"""The floats of DeepBench's own, 16777216 in 2016 and 16777217 since."""


def read(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of float sums: average latencies, test by test."""
    starts = [at for at, line in enumerate(lines) if re.search(r"#\s*OSU ", line)]
    for start, end in pairwise([*starts, len(lines)]):
        test = lines[start:end]
        rows = [(OutputLine(at), line) for at, line in enumerate(test, start + 1) if _is_row(line)]
        if not re.search(SIGN, test[0]):
            yield from (Unread(place, line.strip(), "is of another test") for place, line in rows)
        elif rows:
            ranks = _ranks(rows[0][0], lines[:start], test)
            floats, unit = _units(rows[0][0], test)
            of_floats = not re.search(r"#\s*Datatype:\s*(?!MPI_FLOAT\b)", "\n".join(test))
            for place, line in rows:
                yield (
                    _sum(place, line.split(), floats, unit, ranks)
                    if of_floats
                    else Unread(place, line.strip(), "is no sum of floats")
                )


def _is_row(line: str) -> bool:
    return "".join(line.split()[:1]).replace("_", "").isdigit()


def _ranks(place: OutputLine, above: Sequence[str], test: Sequence[str]) -> int:
    """Return the number of ranks that the test prints, else that of the last command above it."""
    for line in test:
        stated = re.search(r"# Number of Ranks\s+(\S+)", line)
        if stated and number(stated[1]):
            return number(stated[1])
    for line in reversed(above):
        started = re.search(r"(?:-np?|--ntasks|--np)[ =](\d+)(?!\S)", line)
        if started and number(started[1]) and "osu_allreduce" in line:
            return number(started[1])
    raise DeepbenchError(
        f"{place}: OSU's output names no number of ranks: put the command, such as"
        " 'mpirun -np 4 osu_allreduce', on a line above"
    )


def _units(place: OutputLine, test: Sequence[str]) -> tuple[bool, str]:
    """Return whether the sizes are floats, not bytes, and the unit of the times."""
    head = "\n".join(line for line in test if "#" in line)
    if "Latency(ms)" in head:
        return True, "1e-3"
    if "# Number of Ranks" in head:
        return True, "1e-6"
    sizes = {number(line.split()[0]) for line in test if _is_row(line) and len(line.split()) > 1}
    doubled = all(size and not size & (size - 1) for size in sizes)
    listed = sizes <= _LISTED
    versioned = re.search(r"Test\s+v\d", head) is not None
    if (listed and not doubled) == (versioned or (doubled and not listed)):
        raise DeepbenchError(
            f"{place}: neither version nor sizes tell whether this osu_allreduce is upstream's,"
            " which prints bytes, or DeepBench's, which prints floats"
        )
    return listed and not doubled, "1e-6"


def _sum(
    place: OutputLine, cells: Sequence[str], floats: bool, unit: str, ranks: int
) -> TimingOrUnread:
    if len(cells) < 2:
        return Unread(place, cells[0], "has no time")
    elements, rest = divmod(number(cells[0]), 1 if floats else FLOAT_BYTES)
    if rest or not elements:
        return Unread(place, " ".join(cells), "is no sum of floats")
    return all_reduce_timing(place, elements, ranks, cells[1], unit)
