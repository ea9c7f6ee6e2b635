"""All-reduce by DeepBench's own programs on devices, over NCCL, RCCL and rings."""

import re
from collections.abc import Iterator, Mapping, Sequence

from deepbench_ops.exchange.log_formats.log_lines import (
    FLOAT_BYTES,
    OutputLine,
    TimingOrUnread,
    all_reduce_timing,
    is_row,
    number,
)
from deepbench_ops.exchange.workbooks.workbook_timings import Unread

SIGN = r"Num Ranks:"

_HEADER = re.compile(
    r"# of floats|bytes transferred|(?:Avg |Max )?Time \(msec\)|Bandwidth \(GB/s\)"
)


def read(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of DeepBench's programs: floats, bytes and milliseconds, mean over ranks."""
    ranks: int | None = None
    headers: list[str] = []
    for at, line in enumerate(lines, 1):
        stated = re.search(r"Num Ranks:\s*(\S+)", line)
        if stated:
            ranks, headers = number(stated[1]), []
        headers = _HEADER.findall(line) or headers
        cells = line.split()
        if ranks is not None and is_row(cells):
            row = dict(zip(headers, cells, strict=True)) if len(headers) == len(cells) else {}
            yield _row(OutputLine(at), line.strip(), row, ranks)


def _row(place: OutputLine, line: str, row: Mapping[str, str], ranks: int) -> TimingOrUnread:
    if not ranks:
        return Unread(place, line, "stands below a number of ranks that is none")
    elements = number(row.get("# of floats", ""))
    time = row.get("Time (msec)", row.get("Avg Time (msec)"))
    if time is None or row.get("bytes transferred") != str(FLOAT_BYTES * elements):
        return Unread(place, line, "is no row of floats, their bytes and a time")
    return all_reduce_timing(place, elements, ranks, time, "1e-3")
