"""Cache that the processes of a run share, in files of the run's folder.

asv starts new processes for each point. Many of them need the same checks of small twins and the
same estimates. Where the environment names no folder, cached values last as long as the process. A
file that does not match the checksum in its first line counts as absent.
"""

import hashlib
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from deepbench_ops.storage import bounded_read, checked_file

FOLDER_VARIABLE = "DEEPBENCH_ANSWERS"
"""Environment variable with the folder of the cache. The folder must be emptied whenever the
release, or anything else that is measured, changes."""


def empty() -> None:
    """Remove the cached values that processes share."""
    if FOLDER_VARIABLE in os.environ:
        shutil.rmtree(os.environ[FOLDER_VARIABLE], ignore_errors=True)


class RunCache:
    """Cached values of one kind, by key, as JSON. `question` names the kind."""

    def __init__(self, question: str) -> None:
        self.question = question
        self._held: dict[str, Any] = {}

    def get(self, key: object) -> Any:
        """Return the value for `key`, None if there is none, or it is damaged."""
        path = self._path(key)
        if repr(key) not in self._held and path is not None:
            content = checked_file.read(path, bounded_read.SMALL)
            with suppress(ValueError):
                if content is not None:
                    self._held[repr(key)] = json.loads(content)
        return self._held.get(repr(key))

    def put(self, key: object, answer: Any) -> None:
        """Store a value for this process and, if the folder takes it, for all that share it."""
        self._held[repr(key)] = answer
        path = self._path(key)
        if path is not None:
            with suppress(OSError):  # a full disk: the others find the answer themselves
                checked_file.write(path, json.dumps(answer).encode())

    def _path(self, key: object) -> Path | None:
        folder = os.environ.get(FOLDER_VARIABLE)
        name = hashlib.sha1(repr((self.question, key)).encode(), usedforsecurity=False)
        return Path(folder, f"{name.hexdigest()}.json") if folder else None
