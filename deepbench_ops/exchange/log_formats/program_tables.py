"""DeepBench's programs that print tables: a row of headers, then a row for each kernel.

NVIDIA's and AMD's for products, convolutions, recurrent layers and sparse products, ARM's for
convolutions, sparse products and, in columns or comma-separated, products.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.log_formats.log_lines import (
    OutputLine,
    TimingOrUnread,
    is_row,
    problem_of,
    timing_of,
)
from deepbench_ops.exchange.workbooks.workbook_timings import Unread
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES, size_names

SIGN = r"time \([um]sec\)"
SIGN_SEPARATED = r"GEMMOP,TA,TB,M,N,K,USEC"

_HEADERS = (
    *("sparse time (usec)", "dense time (usec)", "fwd_time (usec)", "bwd_time (usec)"),
    *("bwd_inputs_time (usec)", "bwd_params_time (usec)", "total_time (usec)", "time (usec)"),
    *("stride_w", "stride_h", "pad_w", "pad_h", "f_w", "f_h", "a_t", "b_t", "sparsity", "speedup"),
    *("precision", "pad_kerenels", "fwd_algo", "hidden_size", "batch_size", "time_steps"),
    *("rnn_type", "timesteps", "hidden", "type", "w", "h", "c", "n", "k", "m", "N"),
    *("time (msec)", "GOPS"),
)
_HEADER = re.compile("|".join(rf"(?<!\S){re.escape(name)}(?!\S)" for name in _HEADERS))

_FIELDS = {
    **{"a_t": "a_transposed", "b_t": "b_transposed", "f_w": "s", "f_h": "r", "N": "batch"},
    **{"type": "cell", "rnn_type": "cell", "hidden_size": "hidden", "batch_size": "batch"},
    "time_steps": "timesteps",
}
_TIMES = {
    "time (usec)": "forward",
    "time (msec)": "forward",
    "fwd_time (usec)": "forward",
    "bwd_time (usec)": "backward_data",
    "bwd_inputs_time (usec)": "backward_data",
    "bwd_params_time (usec)": "backward_weights",
    "sparse time (usec)": "forward",
    "dense time (usec)": "dense_forward",
}
_PRECISIONS = {"float": "float32", "half": "float16", "int8": "int8"}
_PRODUCTS = {"SGEMM": "float32", "GEMMLOWP": "int8"}


def read(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of tables in columns."""
    headers: list[str] = []
    for number, line in enumerate(lines, 1):
        named = _HEADER.findall(line)
        if len(named) > 4:
            headers = named
            continue
        cells = line.replace("Not Supported", "N/A").split()
        if headers and len(cells) == len(headers) and cells[0].strip("-"):
            yield from _kernel(OutputLine(number), dict(zip(headers, cells, strict=True)))
        elif headers and is_row(cells) and cells[0] != "Totals":
            yield Unread(
                OutputLine(number), line.strip(), f"has {len(cells)} cells, not {len(headers)}"
            )


def read_separated(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of ARM's comma-separated products: gemmlowp, the Compute Library, a BLAS."""
    headers: list[str] = []
    for number, line in enumerate(lines, 1):
        cells = line.strip().split(",")
        if re.search(SIGN_SEPARATED, line):
            headers = cells
        elif headers and len(cells) == len(headers):
            row = dict(zip(headers, cells, strict=True))
            yield _product(OutputLine(number), row["GEMMOP"], row)
        elif headers and len(cells) > 1:
            yield Unread(
                OutputLine(number), line.strip(), f"has {len(cells)} cells, not {len(headers)}"
            )


def _kernel(place: OutputLine, row: Mapping[str, str]) -> Iterator[TimingOrUnread]:
    given = {_FIELDS.get(name, name): text for name, text in row.items() if name not in _TIMES}
    problem = _problem(place, given)
    # The program that prints GOPS is gemmlowp's, which multiplies nothing but 8-bit integers.
    stated = given.get("precision", "int8" if "GOPS" in given else "float")
    if stated not in _PRECISIONS and stated != "uint8_t":
        raise DeepbenchError(f"{place}: precision is {stated!r}: one of {', '.join(_PRECISIONS)}")
    for name, operation in _TIMES.items():
        if name not in row:
            continue
        text = row[name]
        if stated == "uint8_t":
            yield Unread(place, text, "is of uint8_t, added up in 8 bits: int8 is added in 32")
        elif text == "N/A":
            yield Unread(place, text, "says that there is none")
        else:
            unit = "1e-3" if "msec" in name else "1e-6"
            yield timing_of(place, problem, operation, _PRECISIONS[stated], text, unit)


def _problem(place: OutputLine, given: Mapping[str, str]) -> Problem:
    """Return the problem of a row; the family is the one all of whose sizes are there."""
    published = [name for name, kind in TYPES.items() if kind.sheets is not None and not kind.ranks]
    for family in sorted(published, key=lambda name: -len(size_names(name))):
        names = size_names(family)
        if all(name in given for name in names):
            return problem_of(place, family, {name: given[name] for name in names})
    raise DeepbenchError(f"{place}: its columns name no kernel of a known family")


def _product(place: OutputLine, name: str, row: Mapping[str, str]) -> TimingOrUnread:
    if name not in _PRODUCTS:
        return Unread(place, name, f"is no product of {' or '.join(_PRODUCTS)}")
    turned = {"a_transposed": row["TA"], "b_transposed": row["TB"]}
    problem = problem_of(place, "gemm", {**{size: row[size.upper()] for size in "mnk"}, **turned})
    return timing_of(place, problem, "forward", _PRODUCTS[name], row["USEC"], "1e-6")
