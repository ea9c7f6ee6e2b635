"""What benchmark programs print, as timings: for hardware that no Python runs on.

Known by their content: DeepBench's own programs for products, convolutions, recurrent layers,
sparse products and all-reduce, libxsmm's samples of convolutions, nccl-tests, the OSU
micro-benchmarks and oneDNN's benchdnn. How each writes, `log_formats` knows.
"""

import re

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.published.log_formats import all_reduce, benchdnn, intel, libxsmm, osu, tables
from deepbench_ops.published.log_formats.lines import Reader
from deepbench_ops.published.timings import Timing, Unread


def read(text: str) -> tuple[list[Timing], list[Unread]]:
    """Return the timings that a program has printed, and what could not be read.

    Raises DeepbenchError for the output of no known program, and for a line that does not fit.
    """
    lines = text.splitlines()
    readers = [reader for sign, reader in _PROGRAMS.items() if re.search(sign, text)]
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


_PROGRAMS: dict[str, Reader] = {
    tables.SIGN: tables.read,
    tables.SIGN_SEPARATED: tables.read_separated,
    intel.SIGN_PRODUCTS: intel.read_products,
    intel.SIGN_CONVOLUTIONS: intel.read_convolutions,
    intel.SIGN_SPARSE: intel.read_sparse,
    libxsmm.SIGN: libxsmm.read,
    all_reduce.SIGN: all_reduce.read,
    all_reduce.SIGN_TESTS: all_reduce.read_tests,
    osu.SIGN: osu.read,
    benchdnn.SIGN: benchdnn.read,
}
"""How each program's output is known, and what reads it."""
