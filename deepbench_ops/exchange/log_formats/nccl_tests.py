"""All-reduce by nccl-tests (all_reduce_perf)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.log_formats.log_lines import (
    FLOAT_BYTES,
    OutputLine,
    TimingOrUnread,
    all_reduce_timing,
    is_row,
    number,
)
from deepbench_ops.exchange.workbooks.workbook_timings import Unread

SIGN = r"(?:redop|\bop)\s+(?:root\s+)?(?:cpu)?time\s+algbw"

_NAMES = {"bytes": "size", "N": "count", "op": "redop"}


def read(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of nccl-tests' all_reduce_perf: out-of-place float sums.

    Raises DeepbenchError naming the line for numbers that no sum has.
    """
    ranks = len(set(_ranks(lines)))
    headers: list[str] = []
    for at, line in enumerate(lines, 1):
        cells = line.lstrip("# ").split()  # early releases print # before rows as well
        if re.search(SIGN, line):
            headers = cells
        elif headers and is_row(cells[:1]):
            # Of two columns of a name the first is out of place.
            row = dict(reversed(list(zip(headers, cells, strict=False))))
            if not ranks:
                raise DeepbenchError(
                    f"line {at}: no '#  Rank' lines above say how many ranks there are"
                )
            unit = "1e-3" if "bytes" in headers else "1e-6"
            named = {_NAMES.get(name, name): text for name, text in row.items()}
            yield _row(OutputLine(at), line.strip(), named, ranks, unit)


def _ranks(lines: Sequence[str]) -> Iterator[str]:
    """Yield the ranks of the first group, which the times are of where ranks are split."""
    for line in lines:
        found = re.search(r"#\s+Rank\s+(\d+)\s(?:\s*Group\s+(\d+)\s)?", line)
        if found and found[2] in (None, "0"):
            yield found[1]


def _row(
    place: OutputLine, line: str, row: Mapping[str, str], ranks: int, unit: str
) -> TimingOrUnread:
    if "cputime" in row:
        return Unread(place, line, "has the time to issue the sum (-C 1), not that of the sum")
    if not {"size", "count", "type", "redop", "time", "busbw"} <= set(row):
        return Unread(place, line, "is no row of bytes, elements, type, operation, time")
    if (row["type"], row["redop"]) != ("float", "sum"):
        return Unread(place, line, f"is a {row['redop']} of {row['type']}, not a sum of float")
    elements = number(row["count"])
    if row.get("root", "-1") != "-1" or number(row["size"]) != FLOAT_BYTES * elements:
        return Unread(place, line, "is of another collective: no rank gets the sum of all bytes")
    if not elements:
        return Unread(place, line, "sums nothing")
    return all_reduce_timing(place, elements, ranks, row["time"], unit)
