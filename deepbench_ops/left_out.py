"""Input that an answer leaves out because it is damaged: reported on stderr, once each.

A command that reported any ends with `STATUS`: its answer is not about all of the input.
"""

import sys

STATUS = 1

lines: list[str] = []


def report(line: str) -> None:
    """Print a line about input that is left out, unless that was done before."""
    if line not in lines:
        lines.append(line)
        print(f"deepbench: warning: {line}", file=sys.stderr)
