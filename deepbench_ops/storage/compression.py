"""Compressed files: equal content makes equal bytes, and no small file fills the memory."""

import gzip
import zlib
from io import BytesIO
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import bounded_read

ENDING = ".gz"
"""End of the name of a compressed file."""

WITH_HEADER = 31
"""zlib's `wbits` for gzip's format. The header that zlib writes holds no time, no name, and the
same mark of the system on every version of Python."""


def pack(content: bytes) -> bytes:
    """Return content in gzip's format."""
    return zlib.compress(content, zlib.Z_BEST_COMPRESSION, WITH_HEADER)


def unpack(path: Path, largest: int) -> bytes:
    """Return the content of a compressed file.

    Raises DeepbenchError for a damaged file, and for one of more than `largest` bytes, packed or
    unpacked; OSError where it cannot be opened.
    """
    packed = bounded_read.read_bytes(path, largest)
    try:
        with gzip.GzipFile(fileobj=BytesIO(packed)) as stream:
            content = stream.read(largest + 1)
    except (OSError, EOFError, zlib.error) as wrong:
        raise DeepbenchError(
            f"{path} is not whole ({' '.join(str(wrong).split())}): restore it, or move it away"
        ) from None
    if len(content) > largest:
        raise DeepbenchError(
            f"{path}: larger than {largest / 1e6:.0f} MB unpacked, the most that is read"
        )
    return content


def read_bytes(path: Path, largest: int) -> bytes:
    """Return the content of a file, unpacked where its name ends in `ENDING`.

    Raises as `unpack` does.
    """
    if path.name.endswith(ENDING):
        return unpack(path, largest)
    return bounded_read.read_bytes(path, largest)
