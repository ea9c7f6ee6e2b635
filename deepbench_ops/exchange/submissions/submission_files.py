"""Files of submissions, read when they are needed: a decade of results need not fit into memory."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission
from deepbench_ops.exchange.submissions.submission import CheckedSubmission
from deepbench_ops.exchange.workbooks.xlsx_reader import LARGEST_BYTES
from deepbench_ops.storage import bounded_read


class SubmissionFiles(Mapping[Path, Any]):
    """The submissions among some files, by path. A file is read whenever its content is asked for.

    Raises DeepbenchError as `read` does.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = [path for path in paths if begins(path)]

    def __getitem__(self, path: Path) -> Any:
        if path not in self.paths:
            raise KeyError(path)
        return read(path)

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


def read(path: Path) -> Any:
    """Return the content of a submission's file.

    Raises DeepbenchError where it is no JSON, or larger than any.
    """
    try:
        return json.loads(bounded_read.read_text(path, LARGEST_BYTES))
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise DeepbenchError(f"{path} is no JSON ({error}): it is damaged") from None


def read_again(path: Path, one: CheckedSubmission) -> CheckedSubmission:
    """Return a submission that was checked before, with its times.

    Raises DeepbenchError where its file has changed since.
    """
    content = read(path)
    parts = {name: each for name, each in content.items() if name != "digest"}
    if submission.digest(parts) != one.content["digest"]:
        raise DeepbenchError(f"{path} changed while it was imported: import it again")
    return replace(one, content=content)
