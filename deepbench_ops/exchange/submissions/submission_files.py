"""Files of submissions, read when they are needed: a decade of results need not fit into memory."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.unchanged_files import UnchangedFiles
from deepbench_ops.exchange.workbooks.xlsx_reader import LARGEST_BYTES
from deepbench_ops.storage import bounded_read


class SubmissionFiles(Mapping[Path, Any]):
    """The submissions among some files, by path. A file is read whenever its content is asked for.

    Raises DeepbenchError where a file is no JSON, larger than any, or was changed.
    """

    def __init__(self, paths: Iterable[Path], files: UnchangedFiles) -> None:
        self.paths = [path for path in paths if begins(path)]
        self.files = files

    def __getitem__(self, path: Path) -> Any:
        if path not in self.paths:
            raise KeyError(path)
        try:
            return json.loads(bounded_read.decoded(path, self.files.read(path, LARGEST_BYTES)))
        except (ValueError, RecursionError) as error:
            raise DeepbenchError(f"{path} is no JSON ({error}): it is damaged") from None

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __iter__(self) -> Iterator[Path]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


def begins(path: Path) -> bool:
    """Whether a file begins as a submission does. Raises DeepbenchError for a folder or a pipe."""
    try:
        bounded_read.demand_file(path)
        with path.open("rb") as stream:
            return stream.read(1) == b"{"
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}") from None
