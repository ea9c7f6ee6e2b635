"""Input that an answer leaves out because it is damaged: reported on stderr, once each.

A command that reported any ends with `STATUS`: its answer is not about all of the input.
"""

import sys

STATUS = 1

lines: list[str] = []


_printed: set[str] = set()


def report(line: str, damaged: bool = True) -> None:
    """Print a line about input that is left out, unless that was done before.

    damaged: whether the answer lacks something for it.
    """
    if damaged and line not in lines:
        lines.append(line)
    if line not in _printed:
        _printed.add(line)
        print(f"deepbench: warning: {line}", file=sys.stderr)


def forget() -> None:
    """Start again, for another command in the same process."""
    lines.clear()
    _printed.clear()
