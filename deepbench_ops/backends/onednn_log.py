"""The log of oneDNN, which its C code writes to standard output: a line for each of its calls."""

import ctypes
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

STDOUT = 1

_CALL = re.compile(r"(?:onednn|dnnl)_verbose,(?:v\d,)?(?:primitive,)?exec,cpu,(\w+),([^,]*),")
_REORDER = "reorder"


def call(line: str) -> str:
    """Return the call in a line of the log, such as "onednn matmul brg:avx512_core"; "" for headers
    and reorders."""
    found = _CALL.match(line)
    if found is None or found[1] == _REORDER:
        return ""
    return f"onednn {found[1]} {found[2]}".strip()


@contextmanager
def diverted_stdout() -> Iterator[list[str]]:
    """Divert all writes to file descriptor 1, also those of C code, and append their text to the
    list at the end."""
    flush = ctypes.CDLL(None).fflush
    text: list[str] = []
    sys.stdout.flush()
    flush(None)
    kept = os.dup(STDOUT)
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), STDOUT)
            try:
                yield text
            finally:
                flush(None)
                os.dup2(kept, STDOUT)
            file.seek(0)
            text.append(file.read().decode(errors="replace"))
    finally:
        os.close(kept)
