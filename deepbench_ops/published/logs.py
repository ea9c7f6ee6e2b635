"""What benchmark programs print, as timings: for hardware that no Python runs on.

Known by their content: DeepBench's own programs for products, convolutions, recurrent layers,
sparse products and all-reduce, nccl-tests, the OSU micro-benchmarks and oneDNN's benchdnn.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import sizes
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.tables import size_names
from deepbench_ops.published.timings import Timing, Unread

FLOAT_BYTES = 4


@dataclass(frozen=True)
class Line:
    """A line of a program's output."""

    number: int
    sheet: str = ""

    def __str__(self) -> str:
        return f"line {self.number}"


Found = Timing | Unread
Reader = Callable[[Sequence[str]], Iterator[Found]]


def read(text: str) -> tuple[list[Timing], list[Unread]]:
    """Return the timings that a program has printed, and what could not be read.

    Raises DeepbenchError for the output of no known program, and for a line that does not fit.
    """
    lines = text.splitlines()
    readers = [reader for sign, reader in _PROGRAMS.items() if re.search(sign, text)]
    if not readers:
        raise DeepbenchError(
            "neither a workbook nor the output of a known program (DeepBench's, nccl-tests, OSU"
            " micro-benchmarks, benchdnn)"
        )
    timings: list[Timing] = []
    unread: list[Unread] = []
    for reader in readers:
        for found in reader(lines):
            (timings if isinstance(found, Timing) else unread).append(found)  # type: ignore[arg-type]
    return timings, unread


_HEADERS = (
    *("sparse time (usec)", "dense time (usec)", "fwd_time (usec)", "bwd_time (usec)"),
    *("bwd_inputs_time (usec)", "bwd_params_time (usec)", "total_time (usec)", "time (usec)"),
    *("stride_w", "stride_h", "pad_w", "pad_h", "f_w", "f_h", "a_t", "b_t", "sparsity", "speedup"),
    *("precision", "pad_kerenels", "fwd_algo", "hidden_size", "batch_size", "time_steps"),
    *("rnn_type", "timesteps", "hidden", "type", "w", "h", "c", "n", "k", "m", "N"),
)
_HEADER = re.compile("|".join(rf"(?<!\S){re.escape(name)}(?!\S)" for name in _HEADERS))

_FIELDS = {
    **{"a_t": "a_transposed", "b_t": "b_transposed", "f_w": "s", "f_h": "r", "N": "batch"},
    **{"type": "cell", "rnn_type": "cell", "hidden_size": "hidden", "batch_size": "batch"},
    "time_steps": "timesteps",
}
_TIMES = {
    "time (usec)": "forward",
    "fwd_time (usec)": "forward",
    "bwd_time (usec)": "backward_data",
    "bwd_inputs_time (usec)": "backward_data",
    "bwd_params_time (usec)": "backward_weights",
    "sparse time (usec)": "forward",
    "dense time (usec)": "dense_forward",
}
_NCCL_ROW = re.compile(r"(?:^|\s)(\d+)\s+(\d+)\s+(\w+)\s+(\w+)\s+-?\d+\s+([\d.]+)(?:\s+[\d.]+){2}")
_PRECISIONS = {"float": "float32", "half": "float16", "int8": "int8"}
_DIRECTIONS = {
    **dict.fromkeys(("FWD_B", "FWD_D", "FWD_I"), "forward"),
    "BWD_D": "backward_data",
    **dict.fromkeys(("BWD_W", "BWD_WB"), "backward_weights"),
}
_TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "s8": "int8", "u8": "int8"}


def _deepbench(lines: Sequence[str]) -> Iterator[Found]:
    """DeepBench's programs but for all-reduce: a row of headers, then a row for each kernel."""
    headers: list[str] = []
    for number, line in enumerate(lines, 1):
        named = _HEADER.findall(line)
        if len(named) > 4:
            headers = named
            continue
        cells = line.replace("Not Supported", "N/A").split()
        if headers and len(cells) == len(headers) and cells[0].strip("-"):
            yield from _kernel(Line(number), dict(zip(headers, cells, strict=True)))
        elif headers and _is_row(cells) and cells[0] != "Totals":
            yield Unread(Line(number), line.strip(), f"has {len(cells)} cells, not {len(headers)}")


def _is_row(cells: Sequence[str]) -> bool:
    """Whether most cells are numbers, as in a row of a table."""
    numbers = sum(cell.lstrip("-")[:1].isdigit() for cell in cells)
    return 2 * numbers > len(cells)


def _kernel(place: Line, row: Mapping[str, str]) -> Iterator[Found]:
    sizes = {_FIELDS.get(name, name): text for name, text in row.items() if name not in _TIMES}
    problem = _problem(place, sizes)
    stated = sizes.get("precision", "float")
    if stated not in _PRECISIONS:
        raise DeepbenchError(f"{place}: precision is {stated!r}: one of {', '.join(_PRECISIONS)}")
    for name, operation in _TIMES.items():
        if name not in row:
            continue
        text = row[name]
        if text == "N/A":
            yield Unread(place, text, "says that there is none")
        elif text == "0":
            # The programs print whole microseconds, and 0 for a pass that they left out.
            yield Unread(place, text, "is 0 us: not timed, or too short for the program")
        else:
            seconds = _seconds(place, text, "1e-6")
            yield _timing(place, problem, operation, _PRECISIONS[stated], seconds)


def _problem(place: Line, given: Mapping[str, str]) -> Problem:
    """Return the problem that a row names; the family is the one whose sizes are all there."""
    for family in ("conv", "sparse_gemm", "gemm", "rnn"):
        names = size_names(family)
        if all(name in given for name in names):
            return _made(place, family, {name: given[name] for name in names})
    raise DeepbenchError(f"{place}: its columns name no kernel of a known family")


def _made(place: Line, family: str, given: Mapping[str, str | bool]) -> Problem:
    try:
        return sizes.problem(family, {name: _size(name, text) for name, text in given.items()})
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{place}: {wrong}") from None


def _size(name: str, text: str | bool) -> Any:
    if name == "cell" or isinstance(text, bool):
        return text
    if not name.endswith("_transposed"):
        return sizes.size(name, text)
    turned = {"0": False, "n": False, "N": False, "1": True, "t": True, "T": True}
    if text not in turned:
        raise DeepbenchError(f"{name} is {text!r}")
    return turned[text]


def _nccl_of_deepbench(lines: Sequence[str]) -> Iterator[Found]:
    """DeepBench's all-reduce: floats, bytes and milliseconds below the number of ranks."""
    ranks = 0
    for number, line in enumerate(lines, 1):
        stated = re.search(r"Num Ranks:\s*(\d+)", line)
        if stated:
            ranks = int(_digits(stated[1]))
        cells = line.split()
        if not ranks or not _is_row(cells):
            continue
        if len(cells) == 3 and cells[1] == str(FLOAT_BYTES * int(_digits(cells[0]))):
            yield _reduced(Line(number), cells[0], ranks, cells[2], "1e-3")
        else:
            yield Unread(Line(number), line.strip(), "is no row of floats, their bytes and a time")


def _nccl_tests(lines: Sequence[str]) -> Iterator[Found]:
    """nccl-tests' all_reduce_perf: out-of-place times of float sums, in microseconds."""
    ranks = len({m[1] for line in lines if (m := re.search(r"#\s+Rank\s+(\d+)\s", line))})
    for number, line in enumerate(lines, 1):
        if not line.lstrip()[:1].isdigit():
            continue
        place, row = Line(number), _NCCL_ROW.search(line)
        if row is None:
            yield Unread(place, line.strip(), "is no row of bytes, elements, type, operation, time")
            continue
        if not ranks:
            raise DeepbenchError(f"{place}: no '#  Rank' lines above say how many ranks there are")
        if (row[3], row[4]) != ("float", "sum"):
            yield Unread(place, row[0].strip(), f"is a {row[4]} of {row[3]}, not a sum of float")
        else:
            yield _reduced(place, row[2], ranks, row[5], "1e-6")


def _osu(lines: Sequence[str]) -> Iterator[Found]:
    """osu_allreduce: average latency by bytes; it prints no number of ranks of its own."""
    ranks, floats = 0, True
    for number, line in enumerate(lines, 1):
        started = re.search(r"(?:-np?|--ntasks|--np)[ =](\d+)", line)
        if started and "osu_allreduce" in line:
            ranks = int(_digits(started[1]))
        typed = re.search(r"#\s*Datatype:\s*(\w+)", line)
        if typed:
            floats = typed[1] == "MPI_FLOAT"
        cells = line.split()
        if not cells or not cells[0].isdigit():
            continue
        place = Line(number)
        if not ranks:
            raise DeepbenchError(
                f"{place}: OSU's output names no number of ranks: put the command, such as"
                " 'mpirun -np 4 osu_allreduce', on a line above"
            )
        whole, rest = divmod(int(_digits(cells[0])), FLOAT_BYTES)
        if len(cells) < 2:
            yield Unread(place, line.strip(), "has no time")
        elif not floats or rest:
            yield Unread(place, line.strip(), "is no sum of floats")
        else:
            yield _reduced(place, str(whole), ranks, cells[1], "1e-6")


def _benchdnn(lines: Sequence[str]) -> Iterator[Found]:
    """benchdnn in mode P: convolutions and products, average times in milliseconds."""
    template: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("perf,") and not template:
            yield Unread(Line(number), line, "stands above its template")
        elif line.startswith("Output template:"):
            template = line.removeprefix("Output template:").strip().split(",")
        elif line.startswith("perf,"):
            cells = line.split(",")
            # Only the problem may hold commas, in its attributes.
            more = len(cells) - len(template)
            at = template.index("%prb%") if "%prb%" in template else -1
            if at < 0 or "%0time%" not in template or more < 0:
                raise DeepbenchError(f"Line {number}: the template needs %prb% and %0time%")
            cells[at : at + more + 1] = [",".join(cells[at : at + more + 1])]
            row = dict(zip(template, cells, strict=True))
            yield _primitive(Line(number), row["%prb%"], row["%0time%"])


def _primitive(place: Line, problem: str, milliseconds: str) -> Found:
    options = dict(re.findall(r"--(\w+)=(\S+)", problem))
    described = problem.split()[-1].split('"')[0] if problem.split() else ""
    operation = _DIRECTIONS.get(options.get("dir", "FWD_B"))
    stated = options.get("dt") or options.get("cfg") or "f32"
    kind = next((name for key, name in _TYPES.items() if stated.startswith(key)), None)
    conv = "--conv" in problem
    given = _convolution(described) if conv else _product(described, options)
    if given is None or operation is None or kind is None:
        return Unread(place, problem, "is no kernel of a known family")
    run = _made(place, "conv" if conv else "gemm", given)
    return _timing(place, run, operation, kind, _seconds(place, milliseconds, "1e-3"))


def _convolution(text: str) -> dict[str, str | bool] | None:
    """Return the sizes of a descriptor such as mb8ic64ih56oc64oh56kh3ph1.

    Widths that are left out are like the heights.
    """
    found = dict(re.findall(r"([a-z]+)(\d+)", text))
    if not {"mb", "ic", "ih", "oc", "kh"} <= set(found) or found.get("g", "1") != "1":
        return None
    if any(found.get(name, "0") != "0" for name in ("dh", "dw", "id", "kd")):
        return None
    sizes: dict[str, str | bool] = {"n": found["mb"], "c": found["ic"], "k": found["oc"]}
    for wide, high, letter, default in (
        *(("w", "h", "i", "0"), ("s", "r", "k", "1")),
        *(("pad_w", "pad_h", "p", "0"), ("stride_w", "stride_h", "s", "1")),
    ):
        sizes[high] = found.get(f"{letter}h", default)
        sizes[wide] = found.get(f"{letter}w", sizes[high])
    return sizes


def _product(text: str, options: Mapping[str, str]) -> dict[str, str | bool] | None:
    """Return the sizes of a descriptor such as 700x2048:2048x5124, which is row-major.

    Column-major, as published, it is the product of the transposes: m and n change places.
    """
    found = re.fullmatch(r"(\d+)x(\d+):(\d+)x(\d+)\w*", text)
    if found is None or found[2] != found[3]:
        return None
    turned = {"ab": False, "any": False, "ba": True}
    a, b = (turned.get(options.get(tag, "any")) for tag in ("wtag", "stag"))
    if a is None or b is None:
        return None
    return {"m": found[4], "n": found[1], "k": found[2], "a_transposed": a, "b_transposed": b}


def _digits(text: str) -> str:
    """Return a whole number's text, "0" for any other and for more digits than a size has."""
    return text if re.fullmatch(r"[0-9]{1,15}", text) else "0"


def _reduced(place: Line, elements: str, ranks: int, text: str, unit: str) -> Timing:
    problem = _made(place, "all_reduce", {"elements": elements})
    return _timing(place, problem, "sum", "float32", _seconds(place, text, unit), ranks)


def _timing(
    place: Line,
    problem: Problem,
    operation: str,
    precision: str,
    seconds: float,
    ranks: int | None = None,
) -> Timing:
    return Timing(place, problem, operation, precision, seconds, ranks)


def _seconds(place: Line, text: str, unit: str) -> float:
    try:
        seconds = float(Decimal(text) * Decimal(unit))
    except ArithmeticError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise DeepbenchError(f"{place}: a time is {text!r}: a finite number above 0 is needed")
    return seconds


_PROGRAMS: dict[str, Reader] = {
    r"time \(usec\)|fwd_time \(usec\)": _deepbench,
    r"Num Ranks:": _nccl_of_deepbench,
    r"redop\s+root\s+time\s+algbw": _nccl_tests,
    r"OSU MPI\S* Allreduce": _osu,
    r"Output template: perf,": _benchdnn,
}
"""How each program's output is known, and what reads it."""
