"""Cache of values that a process of a run has found, in the run's folder, for the next processes.

asv gives each point processes of its own, hundreds of them, whose checks on small twins and
estimates are of a few kinds. Where no folder is named, answers last as long as the process.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from deepbench_ops.storage import atomic

FOLDER_VARIABLE = "DEEPBENCH_ANSWERS"
"""Its folder must be emptied whenever the release, or anything else that is measured, changes."""


class SharedCache:
    """Answers to one question by key, in JSON."""

    def __init__(self, question: str) -> None:
        self.question = question
        self._held: dict[str, Any] = {}

    def get(self, key: object) -> Any:
        """Return the answer for `key`, None where there is none yet."""
        path = self._path(key)
        if repr(key) not in self._held and path is not None and path.exists():
            self._held[repr(key)] = json.loads(path.read_text())
        return self._held.get(repr(key))

    def put(self, key: object, answer: Any) -> None:
        """Keep an answer for this process and for those that share its folder."""
        self._held[repr(key)] = answer
        path = self._path(key)
        if path is not None:
            atomic.write_text(path, json.dumps(answer))

    def _path(self, key: object) -> Path | None:
        folder = os.environ.get(FOLDER_VARIABLE)
        name = hashlib.sha1(repr((self.question, key)).encode(), usedforsecurity=False)
        return Path(folder, f"{name.hexdigest()}.json") if folder else None
