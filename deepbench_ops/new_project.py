"""A new project folder: configuration, release table, benchmarks/, and results on request.

Its files are copies: of this checkout, or of the wheel's files (setup.py puts them there).
"""

import errno
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from deepbench_ops import __version__
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.project import CONFIGURATION
from deepbench_ops.releases import release_table, table_location
from deepbench_ops.storage import bounded_read

FILES = Path(__file__).with_name("project_files")
TABLE = "releases.csv"
WORKFLOW = Path(".github", "workflows", "measure.yml")
IGNORED = ".asv/\n.venv/\nhtml/\n/fleet/\n/store/\n__pycache__/\n.deepbench.lock*\n"
PUBLISHED = "published"
"""Stands for the results that others have published, in place of a path."""

UNFINISHED = ".new"
"""Holds the files of a new project until all are written."""

LARGEST_HISTORY = 4_000_000_000
"""Bytes that an archive of results may hold when it is unpacked; this project's own have 30
million."""

UNSOUND = (zipfile.BadZipFile, tarfile.TarError, EOFError, RuntimeError, zlib.error)
"""Errors of an archive that is damaged, encrypted (RuntimeError), or packed in an unknown way (its
subclass NotImplementedError)."""

CHECKOUT_TABLE = '"repo": "deepbench_ops/releases/releases.csv"'


def origin() -> Path:
    """Return the folder whose files are copied: the wheel's, or this checkout."""
    return FILES if (FILES / CONFIGURATION).is_file() else FILES.parents[1]


def make(folder: Path, history: str | None = None, workflow: bool = False) -> None:
    """Make a project folder, whole or not at all.

    history: path of results to begin with: a project folder, its results folder or an archive of
    either; or PUBLISHED. workflow: whether to add the scheduled measurement.
    Raises DeepbenchError for a folder that is not empty, a repository's .git aside.
    """
    _demand_empty(folder)
    existed = folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / UNFINISHED
    try:
        unfinished.mkdir()  # by one process alone, others find that it is there
    except FileExistsError:
        raise DeepbenchError(
            f"{folder} is being made by another deepbench init: wait for that, or remove"
            f" {unfinished}, which a killed one leaves"
        ) from None
    try:
        _demand_empty(folder)
        try:
            _fill(folder, unfinished, history, workflow)
        except BaseException:
            if not existed:
                shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            # copies name the file that they read
            raise OSError(error.errno, os.strerror(error.errno), str(folder)) from None
        raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _fill(folder: Path, unfinished: Path, history: str | None, workflow: bool) -> None:
    """Write everything into a folder in `folder`, and move it out of there when it is whole."""
    _write(unfinished, workflow)
    if history is not None:
        _add_history(unfinished, history)
    # The configuration makes it a project folder, so it comes last.
    for path in sorted(unfinished.iterdir(), key=lambda path: path.name == CONFIGURATION):
        path.rename(folder / path.name)


def _demand_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise DeepbenchError(f"{folder} is a file: name a new or an empty folder")
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if CONFIGURATION in found:
        raise DeepbenchError(f"{folder} holds {CONFIGURATION} already: name a new or empty folder")
    held = [name for name in found if name not in (".git", UNFINISHED)]
    if held:
        raise DeepbenchError(
            f"{folder} is not empty, it holds {held[0]}: name a new or an empty folder"
        )


def _write(folder: Path, workflow: bool) -> None:
    text = (origin() / CONFIGURATION).read_text(encoding="utf-8")
    (folder / CONFIGURATION).write_text(
        text.replace(CHECKOUT_TABLE, f'"repo": "{TABLE}"'), encoding="utf-8"
    )
    shutil.copyfile(release_table.TABLE, folder / TABLE)
    (folder / ".gitignore").write_text(IGNORED, encoding="utf-8")
    (folder / "results").mkdir()
    (folder / "benchmarks").mkdir()
    suite = Path("benchmarks", "__init__.py")
    shutil.copyfile(origin() / suite, folder / suite)
    if workflow:
        text = (FILES / WORKFLOW.name).read_text(encoding="utf-8")
        (folder / WORKFLOW).parent.mkdir(parents=True)
        (folder / WORKFLOW).write_text(
            text.replace("deepbench-VERSION", f"deepbench-{__version__}"), encoding="utf-8"
        )


def _add_history(folder: Path, history: str) -> None:
    """Copy results and the rows of their release table."""
    given = origin() if history == PUBLISHED else Path(history)
    with tempfile.TemporaryDirectory() as unpacked:
        results = _results_in(given if given.is_dir() else _unpacked(given, Path(unpacked)), given)
        for machine in sorted(path.parent for path in results.glob("*/machine.json")):
            if history != PUBLISHED or is_published(machine):
                ignored = shutil.ignore_patterns(".*")
                shutil.copytree(machine, folder / "results" / machine.name, ignore=ignored)
        for listed in results.glob("benchmarks.json"):
            shutil.copyfile(listed, folder / "results" / listed.name)
        rows = table_location.path_of(results)
        if rows.is_file():
            release_table.append(folder / TABLE, release_table.load(rows))


def is_published(machine: Path) -> bool:
    """Whether a machine's results were published by others: no raw seconds lie next to them."""
    return not any(machine.glob("*.jsonl*"))


def _unpacked(archive: Path, folder: Path) -> Path:
    """Unpack an archive, and return the folder."""
    if not archive.exists():
        raise DeepbenchError(f"{archive}: no such folder or archive: name one with results")
    bounded_read.demand_file(archive)
    try:
        if tarfile.is_tarfile(archive):
            if not hasattr(tarfile, "data_filter"):
                raise DeepbenchError(f"{archive}: unpack it first, which needs Python 3.11.4 here")
            with tarfile.open(archive) as members:
                members.extractall(folder, filter=_bounded(archive))
        else:
            with zipfile.ZipFile(archive) as members:
                _demand_small(archive, sum(member.file_size for member in members.infolist()))
                members.extractall(folder)
    except UNSOUND as error:
        raise DeepbenchError(f"{archive} is no sound zip or tar archive: {error}") from None
    return folder


def _bounded(archive: Path) -> Callable[[tarfile.TarInfo, str], tarfile.TarInfo | None]:
    """Return a filter of an archive's members that also adds up their sizes."""
    unpacked = 0

    def demanded(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
        nonlocal unpacked
        unpacked += member.size
        _demand_small(archive, unpacked)
        return tarfile.data_filter(member, folder)

    return demanded


def _demand_small(archive: Path, unpacked: int) -> None:
    """Raise DeepbenchError for more bytes than a history may have; few bytes can hold many."""
    if unpacked > LARGEST_HISTORY:
        raise DeepbenchError(
            f"{archive} holds more than {LARGEST_HISTORY / 1e9:g} GB when unpacked: unpack it, and"
            " name the folder"
        )


def _results_in(folder: Path, given: Path) -> Path:
    """Return the folder of results in a checkout, in a results folder or in the folder of either.

    Raises DeepbenchError naming `given` where there is none.
    """
    inside = sorted(path for path in folder.iterdir() if path.is_dir())
    for place in (folder, folder / "results", *inside, *(path / "results" for path in inside)):
        if any(place.glob("*/machine.json")):
            return place
    raise DeepbenchError(
        f"{given} holds no results of any machine: name a project folder, its results/, or an "
        "archive of either"
    )
