"""asv's result files while pages are made: those that can be read, without impossible values.

Each is read and checked once for all that ask, unless speed-ups are switched off or the files are
too large to remember all.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from asv import results as asv_results
from asv.results import Results
from asv.util import UserError

from deepbench_ops.asv_adapter import result_checks, result_files
from deepbench_ops.asv_adapter.patch_installation import PUBLISH, Patch, applied, instead
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage.file_state import FileState, state

MOST_BYTES = 200 << 20
"""Of the files whose results are remembered; in memory results take several times as much."""

_known: dict[Path, tuple[FileState, Results]] = {}
"""Results by file, with the state of the file when it was read; those read first come first."""

_bytes = [0]
"""Of all files in `_known`."""

_sound: list[tuple[str, str, str]] = []
"""Folder, name and machine of every file that can be read, as asv lists result files."""


@contextmanager
def read_once(results: Path) -> Iterator[None]:
    """Read the files in `results`, and let asv find and read these alone in the block.

    A file is read again if it changes meanwhile. Results are shared: change a copy. Damaged files
    are left out without asv's warnings; `damaged_files` names them.
    """
    with remembered():
        for folder in sorted(path for path in results.glob("*") if path.is_dir()):
            for path in result_files.paths(folder):
                with suppress(DeepbenchError, OSError):
                    result_files.read(path)
                    _sound.append((str(folder), path.name, folder.name))
        try:
            with applied([SOUND]):
                yield
        finally:
            _sound.clear()


@contextmanager
def remembered() -> Iterator[None]:
    """Read each file once that is asked for in the block, unless the files are too large together.

    The results read last are remembered, of `MOST_BYTES` of files. Results are shared: change a
    copy.
    """
    try:
        with applied([CHECKED, REMEMBERED]):
            yield
    finally:
        _known.clear()
        _bytes[0] = 0


def _checked(load: Callable[..., Results]) -> Callable[..., Results]:
    """Wrap asv's reading of a file: values that cannot be right are left out."""

    def wrapped(cls: type[Results], path: str, machine_name: str | None = None) -> Results:
        found = load(cls, path, machine_name)
        try:
            result_checks.check(Path(path), found)
        except ValueError as wrong:
            raise UserError(f"{path}: {wrong}") from None
        return found

    return wrapped


def _remembered(load: Callable[..., Results]) -> Callable[..., Results]:
    """Wrap asv's reading of a file: one that was read before is not read again."""

    def wrapped(cls: type[Results], path: str, machine_name: str | None = None) -> Results:
        file = Path(path).absolute()
        try:
            now = state(file)
        except OSError:
            return load(cls, path, machine_name)
        before, found = _known.get(file, (None, None))
        if (
            found is None
            or before != now
            or machine_name not in (None, found.params.get("machine"))
        ):
            found = load(cls, path, machine_name)
            _remember(file, now, found)
        return found

    return wrapped


def _remember(file: Path, now: FileState, found: Results) -> None:
    """Remember the results of a file; forget those that were read first if all are too large."""
    _forget(file)
    _known[file] = now, found
    _bytes[0] += now[1]
    while _bytes[0] > MOST_BYTES and len(_known) > 1:
        _forget(next(iter(_known)))


def _forget(file: Path) -> None:
    """Forget the results of a file, if they are remembered."""
    if file in _known:
        (_, size, _), _ = _known.pop(file)
        _bytes[0] -= size


SOUND = Patch(
    asv_results,
    "iter_results_paths",
    instead(lambda results: iter(list(_sound))),
    "asv warns of damaged files one by one, and publishes without saying so at its end",
    scope=PUBLISH,
)
CHECKED = Patch(
    Results,
    "load",
    _checked,
    "asv takes any number for a time, and its search for steps then never ends",
    scope=PUBLISH,
)
REMEMBERED = Patch(
    Results,
    "load",
    _remembered,
    "asv reads all results twice, and our own pages once more",
    needed=False,
    scope=PUBLISH,
)
PATCHES = (SOUND, CHECKED, REMEMBERED)
