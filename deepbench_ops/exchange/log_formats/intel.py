"""Intel's programs in DeepBench: products, convolutions and sparse products, on MKL and MKL-DNN.

The last two leave sizes out, which the published lists complete: they run nothing else. Where
several listed problems would do, the rate or the nonzeros next to the time decide.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.log_formats.log_lines import (
    OutputLine,
    TimingOrUnread,
    problem_of,
    timing_of,
)
from deepbench_ops.exchange.workbooks.workbook_timings import Unread
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import load
from deepbench_ops.problems.sparse_gemm import SparseGemm

SIGN_PRODUCTS = r"GEMM(?:_S8U8S32)?\([NTnt],[NTnt],\d"
SIGN_CONVOLUTIONS = r"\| *(?:FWD|BWD_[FD]) .*avg\(ms\)|(?m:^(?:FWD|BWD_[FD])(?:,\d+){12},)"
SIGN_SPARSE = r"nnz\s*\|\s*time spmv"

_PRODUCT = re.compile(
    r"\s*([SD]GEMM|GEMM_S8U8S32)\(([NTnt]),([NTnt]),(\d+),(\d+),(\d+)\)\s+(\S+) usec"
)
_PRODUCTS = {"SGEMM": "float32", "GEMM_S8U8S32": "int8"}

_MODES = {"FWD": "forward", "BWD_F": "backward_weights", "BWD_D": "backward_data"}
_PRECISIONS = {
    **dict.fromkeys(("float32", "f32"), "float32"),
    **dict.fromkeys(("int8", "u8s8u8"), "int8"),
    "s16s16s32": "",
}
_STATED = re.compile(
    rf"Convolution\b.*, ({'|'.join(_PRECISIONS)})\)|conv_bench\b.*--({'|'.join(_PRECISIONS)})\b"
)
_SEPARATED = ("n", "w", "h", "c", "k", "s", "r", "stride_w", "stride_h", "pad_w", "pad_h")

NONZEROS = 0.01
"""Largest distance of the share of nonzeros from the listed one: the program draws it at random."""

RATE = 0.1
"""Largest distance of a rate, of times with two digits, from that of the listed size."""


def read_products(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of products: a line for each call, in microseconds."""
    for number, line in enumerate(lines, 1):
        place, found = OutputLine(number), _PRODUCT.match(line)
        if found and found[1] in _PRODUCTS:
            given = dict(zip(("m", "n", "k"), found.group(4, 5, 6), strict=True))
            turned = {"a_transposed": found[2], "b_transposed": found[3]}
            run = problem_of(place, "gemm", {**given, **turned})
            yield timing_of(place, run, "forward", _PRODUCTS[found[1]], found[7], "1e-6")
        elif found:
            yield Unread(place, line.strip(), "multiplies doubles, which is none of our precisions")
        elif re.match(r"\s*\w*GEMM\w*\(", line):
            yield Unread(place, line.strip(), "is no whole row of a product and a time")


@dataclass(frozen=True)
class _Row:
    """A convolution's row: its printed sizes by our names, its average time and its rate."""

    place: OutputLine
    line: str
    mode: str
    given: Mapping[str, str]
    milliseconds: str
    rate: str
    precision: str | None = None


def read_convolutions(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of convolutions: average milliseconds.

    The precision is in the command, in the script's title, or nowhere.

    Where it is nowhere, a run with backward passes is of float32: no other has them.
    """
    run: list[_Row] = []
    precision: str | None = None
    for number, line in enumerate(lines, 1):
        stated = _STATED.search(line)
        row = _convolution(OutputLine(number), line.strip())
        again = row is not None and row.mode == "FWD" and run and run[-1].mode != "FWD"
        if stated or again or line.strip() == "FWD Convolution":
            yield from _run(run)
            run = []
        if stated:
            precision = _PRECISIONS[stated[1] or stated[2]]
        elif row:
            run.append(replace(row, precision=precision))
        elif re.match(r"\s*W=\d+, H=|(?:FWD|BWD_[FD]),\d", line):
            yield Unread(
                OutputLine(number), line.strip(), "is no whole row of a convolution and a time"
            )
    yield from _run(run)


def _convolution(place: OutputLine, line: str) -> _Row | None:
    cells = line.split(",")
    if len(cells) == 17 and cells[0] in _MODES:
        given = dict(zip(_SEPARATED, cells[2:13], strict=True))
        return _Row(place, line, cells[0], given, cells[15], cells[16])
    found = re.match(
        r"((?:[WHCNKRS]=\d+(?:, )?){7}) \| +(FWD|BWD_[FD])\b.*avg\(ms\) ([^;]+);"
        r" avg\(gflop/s\) ([^;]+);",
        line,
    )
    if found is None:
        return None
    given = {name.lower(): size for name, size in re.findall(r"(\w)=(\d+)", found[1])}
    return _Row(place, line, found[2], given, found[3], found[4])


def _run(rows: Sequence[_Row]) -> Iterator[TimingOrUnread]:
    backward = any(row.mode != "FWD" for row in rows)
    for row in rows:
        precision = "float32" if row.precision is None and backward else row.precision
        if backward and precision != "float32":
            raise DeepbenchError(
                f"{row.place}: the command above is not of float32, which alone has the backward"
                " passes below: put each run's command above it"
            )
        if precision is None:
            raise DeepbenchError(
                f"{row.place}: the output names no precision: put the command, such as"
                " 'std_conv_bench --f32', on a line above"
            )
        problem = _listed_convolution(row)
        if not precision:
            yield Unread(row.place, row.line, "multiplies 16-bit integers: none of our precisions")
        elif problem is None:
            yield Unread(row.place, row.line, "leaves out padding and stride: no listed size fits")
        else:
            operation = _MODES[row.mode]
            yield timing_of(row.place, problem, operation, precision, row.milliseconds, "1e-3")


def _listed_convolution(row: _Row) -> Problem | None:
    """Return the convolution of a row; where padding and stride are left out, the listed one."""
    if "pad_w" in row.given:
        return problem_of(row.place, "conv", row.given)
    alike = [
        problem
        for problem in load("conv")
        if all(str(getattr(problem, name)) == size for name, size in row.given.items())
    ]
    if len(alike) > 1:
        work = size_checks.number(row.milliseconds) * 1e-3 * size_checks.number(row.rate) * 1e9
        alike = [one for one in alike if abs(work - one.flops) < RATE * one.flops]
    return alike[0] if len(alike) == 1 else None


def read_sparse(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of sparse products: the fastest of eleven series of ten, in seconds.

    The sparsity follows from the nonzeros.
    """
    for number, line in enumerate(lines, 1):
        found = re.match(r"sparse\s+\[(.*)", line.strip())
        if found is None:
            continue
        cells = [cell.strip() for cell in found[1].split("|")]
        place, problem = OutputLine(number), _listed_sparse(cells)
        if len(cells) < 7:
            yield Unread(place, line.strip(), f"has {len(cells)} cells, not 7")
        elif problem is None:
            yield Unread(place, line.strip(), "prints no sparsity: no listed one fits the nonzeros")
        else:
            yield timing_of(place, problem, "forward", "float32", cells[4], "1")


def _listed_sparse(cells: Sequence[str]) -> Problem | None:
    """Return the listed product of these m, n and k with about so many nonzeros."""
    alike = [
        problem
        for problem in load("sparse_gemm")
        if isinstance(problem, SparseGemm)
        and [str(size) for size in (problem.m, problem.n, problem.k)] == list(cells[:3])
        and abs(1 - problem.sparsity - size_checks.number(cells[3]) / (problem.m * problem.k))
        < NONZEROS
    ]
    return alike[0] if len(alike) == 1 else None
