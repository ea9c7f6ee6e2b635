"""Timings from the output of benchmark programs: for hardware that no Python runs on.

Known by their content: DeepBench's own programs for products, convolutions, recurrent layers,
sparse products and all-reduce, libxsmm's samples of convolutions, nccl-tests, the OSU
micro-benchmarks and oneDNN's benchdnn. `log_formats` reads each format.
"""

import re

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.log_formats import (
    benchdnn,
    deepbench_all_reduce,
    intel,
    libxsmm,
    nccl_tests,
    osu,
    program_tables,
)
from deepbench_ops.exchange.log_formats.log_lines import OutputLine, Reader
from deepbench_ops.exchange.workbooks.workbook_timings import Timing, Unread


def read(text: str) -> tuple[list[Timing], list[Unread]]:
    """Return the timings that a program has printed, and the unreadable lines.

    Raises DeepbenchError for the output of no known program, and for a line that does not fit.
    """
    lines = text.splitlines()
    readers = [reader for sign, reader in _PROGRAMS.items() if re.search(sign, text)]
    if not text.strip():
        raise DeepbenchError("it is empty")
    if not readers:
        raise DeepbenchError(
            "neither a workbook nor the output of a known program (DeepBench's, libxsmm's,"
            " nccl-tests, OSU micro-benchmarks, benchdnn)"
        )
    timings: list[Timing] = []
    unread: list[Unread] = []
    for reader in readers:
        for found in reader(lines):
            (timings if isinstance(found, Timing) else unread).append(found)  # type: ignore[arg-type]
    return timings, unread


def read_file(text: str) -> tuple[list[Timing], list[Unread]]:
    """Return the same of a whole file: a last line without its newline is unread, since digits of
    its last number may be missing."""
    timings, unread = read(text)
    lines = text.splitlines()
    if not lines or text.endswith(("\n", "\r")):
        return timings, unread
    last = str(OutputLine(len(lines)))
    cut = {timing.place: timing for timing in timings if str(timing.place) == last}
    why = "ends without a newline, so that it may be cut: end it if it is complete"
    return (
        [timing for timing in timings if timing.place not in cut],
        [*unread, *(Unread(place, lines[-1].strip(), why) for place in cut)],
    )


_PROGRAMS: dict[str, Reader] = {
    program_tables.SIGN: program_tables.read,
    program_tables.SIGN_SEPARATED: program_tables.read_separated,
    intel.SIGN_PRODUCTS: intel.read_products,
    intel.SIGN_CONVOLUTIONS: intel.read_convolutions,
    intel.SIGN_SPARSE: intel.read_sparse,
    libxsmm.SIGN: libxsmm.read,
    deepbench_all_reduce.SIGN: deepbench_all_reduce.read,
    nccl_tests.SIGN: nccl_tests.read,
    osu.SIGN: osu.read,
    benchdnn.SIGN: benchdnn.read,
}
"""Pattern that identifies each program's output, and the function that reads it."""
