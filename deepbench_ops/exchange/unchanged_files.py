"""Files that an import reads several times: always the same bytes, those whose signature was
checked. They are not kept in memory."""

import hashlib
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import bounded_read


class UnchangedFiles:
    """Files of one import, with the digests of the bytes that they had when they were first read.

    Readers get the bytes of a file, never its path alone.
    """

    def __init__(self) -> None:
        self._digests: dict[Path, str] = {}

    def read(self, path: Path, largest: int = bounded_read.RESULT) -> bytes:
        """Return the bytes of a file.

        Raises DeepbenchError where they are others than before, more than `largest`, or cannot be
        read.
        """
        content = bounded_read.read_input(path, largest)
        digest = hashlib.sha256(content).hexdigest()
        if self._digests.setdefault(path, digest) != digest:
            raise DeepbenchError(f"{path} changed while it was imported: import it again")
        return content

    def digest(self, path: Path) -> str:
        """Return the digest of a file that was read."""
        return f"sha256:{self._digests[path]}"
