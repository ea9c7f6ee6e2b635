"""Input that an answer leaves out because it is damaged: reported on stderr, once each.

A command that reported any ends with `STATUS`: its answer is not about all of the input.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

STATUS = 1

lines: list[str] = []


_printed: set[str] = set()
_held_back: list[list[tuple[str, bool]]] = []


def report(line: str, damaged: bool = True) -> None:
    """Print a line about input that is left out, unless that was done before.

    damaged: whether the answer lacks something for it.
    """
    if _held_back:
        _held_back[-1].append((line, damaged))
        return
    if damaged and line not in lines:
        lines.append(line)
    if line not in _printed:
        _printed.add(line)
        print(f"deepbench: warning: {line}", file=sys.stderr)


@contextmanager
def held_back() -> Iterator[list[tuple[str, bool]]]:
    """Yield a list of the reports made meanwhile, the arguments of `report`; none is printed.

    For a process that works for another, which reports them.
    """
    reports: list[tuple[str, bool]] = []
    _held_back.append(reports)
    try:
        yield reports
    finally:
        _held_back.remove(reports)


def forget() -> None:
    """Start again, for another command in the same process."""
    lines.clear()
    _printed.clear()
