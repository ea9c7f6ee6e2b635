"""asv's result files while pages are made: those that can be read, without impossible values.

asv's own pages get them from one reading. Ours remember those read last, unless speed-ups are
switched off.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from asv import _stats as asv_statistics
from asv import results as asv_results
from asv.commands import publish as asv_publish
from asv.plugins import regressions as asv_regressions
from asv.results import Results
from asv.util import UserError

from deepbench_ops.asv_adapter import (
    private_result_fields,
    published_results,
    result_checks,
    result_files,
)
from deepbench_ops.asv_adapter.patch_installation import PUBLISH, Patch, applied, instead
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage.file_state import FileState, state

MOST_BYTES = 200 << 20
"""Of the files whose results are remembered; in memory results take several times as much."""

_known: dict[Path, tuple[FileState, Results]] = {}
"""Results by file, with the state of the file when it was read; those read first come first."""

_bytes = [0]
"""Of all files in `_known`."""

_sound: list[Results] = []
"""Results of every file that can be read, as asv's graphs need them."""


@contextmanager
def read_once(results: Path) -> Iterator[None]:
    """Read the files in `results`, and let asv publish these results alone in the block.

    Damaged files are left out without asv's warnings; `damaged_files` names them.
    """
    with remembered():
        for folder in sorted(path for path in results.glob("*") if path.is_dir()):
            for path in result_files.paths(folder):
                with suppress(DeepbenchError, OSError):
                    _sound.append(_for_graphs(path))
        try:
            with applied(ONE_READING):
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


def _for_graphs(path: Path) -> Results:
    """Read a file for asv's graphs; one of published times, which others ask for, as a whole."""
    found = result_files.read(path)
    if not published_results.is_published(path):
        _forget(path.absolute())
        private_result_fields.keep_for_graphs(found)
    return found


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


def _sound_paths(results: str) -> Iterator[tuple[str, str, str]]:
    """Stand in for asv's list of result files: folder, name and machine of each sound one."""
    for each in list(_sound):
        path = Path(results, private_result_fields.path_of(each))
        yield str(path.parent), path.name, path.parent.name


def _weight(original: Callable[..., float | None]) -> Callable[..., float | None]:
    """Wrap asv's weight of a time: results that were read for graphs have it already."""

    def wrapped(stats: Any) -> float | None:
        return stats if stats is None or isinstance(stats, float) else original(stats)

    return wrapped


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
    "our pages ask for a machine's results several times",
    needed=False,
    scope=PUBLISH,
)
ONE_READING = (
    Patch(
        asv_results,
        "iter_results_paths",
        instead(_sound_paths),
        "asv warns of damaged files one by one, and publishes without saying so at its end",
        scope=PUBLISH,
    ),
    *(
        Patch(
            owner,
            "iter_results",
            instead(lambda results: iter(list(_sound))),
            "asv reads all results three times",
            needed=False,
            scope=PUBLISH,
        )
        for owner in (asv_publish, asv_regressions)
    ),
    Patch(
        asv_statistics,
        "get_weight",
        _weight,
        "asv keeps eight figures of a time, to compute its weight later",
        needed=False,
        scope=PUBLISH,
    ),
)
PATCHES = (CHECKED, REMEMBERED, *ONE_READING)
