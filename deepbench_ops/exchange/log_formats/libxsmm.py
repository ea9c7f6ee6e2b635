"""libxsmm's samples of convolutions, which Intel's script of DeepBench runs: PERFDUMP lines.

Samples of other layers and of other types print lines of that name too. The command above says
which sample it was; the rate next to a time shows that the line is of a convolution.
"""

import re
from collections.abc import Iterator, Sequence

from deepbench_ops.exchange.log_formats.log_lines import (
    OutputLine,
    TimingOrUnread,
    problem_of,
    timing_of,
)
from deepbench_ops.exchange.workbooks.workbook_timings import Unread
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.problem import Problem

SIGN = r"(?m:^PERFDUMP)"

_PASSES = {"FP": "forward", "BP": "backward_data", "WU": "backward_weights"}
_NAMES = ("n", "c", "k", "w", "h", "s", "r", "stride")
"""The sizes behind version and threads; one padding follows, or that of the width and the height's.

The sample's own R is the filter's width.
"""
_SECONDS = {20: 13, 23: 14}
"""Index of the cell with the time, by the number of cells: with one padding and with two."""

_COMMAND = re.compile(r"layer_example_(\w+)\s+\d")
_PRECISIONS = {"f32": "float32"}

RATE = 1e-3
"""Largest distance of time x rate, of five digits each, from the FLOPs of the sizes."""


def read(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of convolutions: seconds of a call, the mean over all calls."""
    sample: str | None = None
    for number, line in enumerate(lines, 1):
        command = _COMMAND.search(line)
        if command:
            sample = command[1]
        elif line.startswith("PERFDUMP"):
            yield _layer(OutputLine(number), line.strip(), sample)


def _layer(place: OutputLine, line: str, sample: str | None) -> TimingOrUnread:
    cells = line.split(",")
    layout = cells[0].removeprefix("PERFDUMP").strip("-")
    if layout:
        return Unread(place, line, f"is in the layout {layout}, not the plain one")
    if sample is None:
        return Unread(
            place, line, "names no sample: put the command, such as 'layer_example_f32 10', above"
        )
    if sample not in _PRECISIONS:
        return Unread(place, line, f"is of layer_example_{sample}, not of layer_example_f32")
    at = _SECONDS.get(len(cells), 0)
    if not at or cells[1] not in _PASSES or not all(map(_is_whole, cells[3:at])):
        return Unread(place, line, "is no line of a convolution's sizes, time and rate")
    problem = _convolution(place, cells[4:at])
    done = size_checks.number(cells[at]) * size_checks.number(cells[at + 1]) * 1e9
    if not abs(done - problem.flops) < RATE * problem.flops:
        return Unread(place, line, "has a time and a rate that are not of a convolution so large")
    return timing_of(place, problem, _PASSES[cells[1]], _PRECISIONS[sample], cells[at], "1")


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"[0-9]+", text) is not None


def _convolution(place: OutputLine, cells: Sequence[str]) -> Problem:
    given = dict(zip(_NAMES, cells, strict=False))
    stride = given.pop("stride")
    padding = cells[len(_NAMES) :]
    return problem_of(
        place,
        "conv",
        {
            **given,
            **{"stride_w": stride, "stride_h": stride},
            **{"pad_w": padding[0], "pad_h": padding[-1]},
        },
    )
