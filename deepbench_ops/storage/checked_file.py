"""Files of computed values, below a checksum of their content and of the inputs it was made of.

Such a file may be damaged, or written by anyone: it is data, never code, and one that does not
match its checksum counts as absent.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write, bounded_read


def read(path: Path, largest: int, made_of: str = "") -> bytes | None:
    """Return the content of a file, None where there is none, it was made of something else, it is
    damaged, or it has more than `largest` bytes."""
    with suppress(OSError, DeepbenchError):
        checksum, _, content = bounded_read.read_bytes(path, largest).partition(b"\n")
        if checksum == _checksum(content, made_of):
            return content
    return None


def write(path: Path, content: bytes, made_of: str = "") -> None:
    """Write content below its checksum. Raises OSError.

    It does not wait for the disk: a file that a power failure has torn counts as absent.
    """
    whole = _checksum(content, made_of) + b"\n" + content
    atomic_write.write_bytes(path, whole, durable=False)


def _checksum(content: bytes, made_of: str) -> bytes:
    digest = hashlib.sha256(f"{made_of}\n".encode())
    digest.update(content)
    return digest.hexdigest().encode()
