"""Detection of the changes along many lines at once, in a process for each core.

It takes most of the time of verdicts on a large store: 0.7 ms for a line of forty releases.
"""

from collections.abc import Iterable

from deepbench_ops import work_on_cores
from deepbench_ops.analysis.change_detection import detect_changes
from deepbench_ops.analysis.kernel_lines import Line

FEWEST_LINES = 4000
"""Number of lines from which processes save more than the second that each takes to start."""

TOGETHER = 250
"""Lines that a process is sent at once."""


def detect(lines: Iterable[Line]) -> None:
    """Compute the changes along each line that is long enough; the line keeps them.

    Of a few lines nothing is computed before it is asked for.
    """
    missing = [line for line in lines if line.long_enough and "detected" not in vars(line)]
    if work_on_cores.cores() < 2 or len(missing) < FEWEST_LINES:
        return
    levels = (line.levels for line in missing)
    found = work_on_cores.results(detect_changes, levels, TOGETHER)
    for line, changes in zip(missing, found, strict=True):
        vars(line)["detected"] = changes
