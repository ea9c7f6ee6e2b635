"""Input that an answer leaves out because it is damaged: reported on stderr, once each.

A command that reported any ends with `STATUS`: its answer is not about all of the input.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

STATUS = 1

lines: list[str] = []


_printed: set[str] = set()
_records: list[list[tuple[str, bool]]] = []


def report(line: str, damaged: bool = True) -> None:
    """Print a line about input that is left out, unless that was done before.

    damaged: whether the answer lacks something for it.
    """
    for record in _records:
        record.append((line, damaged))
    if damaged and line not in lines:
        lines.append(line)
    if line not in _printed:
        _printed.add(line)
        print(f"deepbench: warning: {line}", file=sys.stderr)


@contextmanager
def recorded() -> Iterator[list[tuple[str, bool]]]:
    """Yield a list of the reports made meanwhile: the arguments of `report`."""
    record: list[tuple[str, bool]] = []
    _records.append(record)
    try:
        yield record
    finally:
        _records.remove(record)


def forget() -> None:
    """Start again, for another command in the same process."""
    lines.clear()
    _printed.clear()
