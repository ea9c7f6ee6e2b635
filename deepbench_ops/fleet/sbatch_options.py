"""The options of sbatch among those of ReFrame, which writes them into job scripts."""

import argparse
import re
from collections.abc import Sequence

CHOOSES_NODES = re.compile(
    r"(^|\s)(-[CFwx]|--(constraint|nodefile|nodelist|exclude|reservation)(?![\w-]))"
)
"""Options that choose among the nodes of a partition."""

NAMES_PARTITION = re.compile(r"(^|\s)(-p|--partition(?![\w-]))")


def of(options: Sequence[str]) -> list[str]:
    """Return the options of sbatch that ReFrame makes of the values of its -J and --job-option,
    such as --reservation=x of -J reservation=x, and -w n1 of -J w=n1; none where it refuses them.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("-J", "--job-option", action="append", default=[])
    try:
        values: list[str] = parser.parse_known_args([*options])[0].job_option
    except argparse.ArgumentError:
        return []
    return [_written(*value.partition("=")) for value in values]


def _written(name: str, equals: str, value: str) -> str:
    """Return a value of -J as ReFrame writes it."""
    if name.startswith(("-", "#")):
        return name + equals + value
    return f"-{name} {value}" if len(name) == 1 else f"--{name}={value}"
