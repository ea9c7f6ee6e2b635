"""Reuse of freed memory while an output is checked.

References allocate and free arrays of tens of megabytes again and again. glibc gives each back to
the system, and the first touch of new memory may take longer than computing in it.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

TRIM_THRESHOLD, MMAP_MAX = -1, -4
"""glibc's numbers of two settings: bytes of free memory at the end of the heap from which it is
given back, and the number of arrays that may have memory outside of the heap."""

USUAL = {TRIM_THRESHOLD: 128 * 1024, MMAP_MAX: 65536}
KEEPING = {TRIM_THRESHOLD: 2**31 - 1, MMAP_MAX: 0}


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep memory that is freed in the block for arrays that are allocated in it, until its end.

    For code after the last timed call: arrays that a kernel allocates would have other memory. A C
    library without these settings works as usual.
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        yield
        return
    for setting, value in KEEPING.items():
        library.mallopt(setting, value)
    try:
        yield
    finally:
        for setting, value in USUAL.items():
            library.mallopt(setting, value)
        library.malloc_trim(0)
