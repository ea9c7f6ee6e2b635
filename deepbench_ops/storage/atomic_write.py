"""Write a file whole or not at all.

The content goes into a new file in the target's folder, which takes the target's place when it is
complete and on the disk. A full disk, an error or Ctrl-C leaves the old file, and nothing next to
it; only a killed process leaves the unfinished one, whose name ends in `SUFFIX`.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

Ready = Callable[[Path], Path]
"""Returns the file to write to for a path that is to be written."""

SUFFIX = ".unfinished"
"""End of the names of unfinished files. They begin with a dot."""

_made = count()
"""Numbers of the unfinished files of this process."""


def write_text(path: Path, text: str, durable: bool = True) -> None:
    """Write UTF-8 text to `path`, as it stands. Raises OSError naming `path`.

    durable: as for `replacing`.
    """
    with replacing(path, durable) as unfinished:
        unfinished.write_bytes(text.encode("utf-8"))


def write_bytes(path: Path, content: bytes, durable: bool = True) -> None:
    """Write bytes to `path`. Raises OSError naming `path`.

    durable: as for `replacing`.
    """
    with replacing(path, durable) as unfinished:
        unfinished.write_bytes(content)


@contextmanager
def replacing(path: Path, durable: bool = True) -> Iterator[Path]:
    """Yield an empty file to write to, which replaces `path` when the block ends without error.

    For libraries that write files themselves. The folder of `path` is made where it is missing, and
    removed again after an error. A target that is no regular file, such as /dev/stdout, is yielded
    as it is, and so is an unfinished file of an outer block.

    A symbolic link to a file is replaced itself, since in a folder that others may write to it
    could lead to any file; callers resolve the links that users may set.

    durable: whether to wait until the content is on the disk. Thousands of files that are easily
    made again need not outlast a power failure.

    Raises OSError that names `path`, not the unfinished file.
    """
    with together(durable) as ready:
        yield ready(path)


class _NewFile(NamedTuple):
    """An unfinished file that is to replace a path."""

    path: Path
    unfinished: Path


class _Together:
    """Files that are replaced, and then others removed, when a block ends.

    folders: those that were made for the files.
    """

    def __init__(self) -> None:
        self.files: list[_NewFile] = []
        self.folders: list[Path] = []
        self.removed: list[Path] = []

    def __call__(self, path: Path) -> Path:
        mode = _mode(path)
        special = mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        if special or path.name.endswith(SUFFIX):
            return path
        with _errors_about(path):
            return self._new_file(path, mode)

    def _new_file(self, path: Path, mode: int | None) -> Path:
        """Make an empty file next to `path`, and its folder where it is missing.

        mode: that of the file to replace, whose permissions it gets; by the umask where it is None.
        """
        try:
            unfinished, handle = _opened(path)
        except FileNotFoundError:
            folder = path.parent
            self.folders += [each for each in (folder, *folder.parents) if not each.exists()]
            folder.mkdir(parents=True, exist_ok=True)
            unfinished, handle = _opened(path)
        self.files.append(_NewFile(path, unfinished))
        with os.fdopen(handle):
            if mode is not None:
                os.fchmod(handle, stat.S_IMODE(mode))
        return unfinished

    def finish(self, durable: bool) -> None:
        """Replace the files, the last one first, once all are on the disk; then remove others."""
        for path, unfinished in self.files if durable else ():
            with _errors_about(path):
                _flush(unfinished)
        for path, unfinished in reversed(self.files):
            unfinished.replace(path)
        for path in self.removed:
            path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the files that have replaced no other, and the folders that were made for them."""
        for _, unfinished in self.files:
            with suppress(OSError):
                unfinished.unlink()
        for folder in sorted(self.folders, key=lambda each: len(each.parts), reverse=True):
            with suppress(OSError):
                folder.rmdir()

    def path_of(self, error: OSError) -> Path | None:
        """Return the path that an error is about, if it names none or an unfinished file."""
        if error.filename is None:
            return self.files[0].path if self.files else None
        named = (path for path, own in self.files if str(own) == str(error.filename))
        return next(named, None)


@contextmanager
def together(durable: bool = True) -> Iterator[Ready]:
    """Yield a function that returns an unfinished file for each path it is given.

    All of them replace their paths when the block ends without error, the last one first; then the
    files of `remove` are removed. Nothing changes when it ends with an error, nor where the disk
    turns out to be full: the first path is replaced when all files are complete and on the disk.

    durable: as for `replacing`. Raises OSError that names a path, not its unfinished file.
    """
    ready = _Together()
    try:
        yield ready
        ready.finish(durable)
    except OSError as error:
        ready.discard()
        if (path := ready.path_of(error)) is None:
            raise
        raise _about(path, error) from error
    except BaseException:
        ready.discard()
        raise


def remove(path: Path, ready: Ready = Path) -> None:
    """Remove a file, where there is one; with the files that `ready`, as `together` gives it, is to
    replace, after all of them. Raises OSError."""
    if isinstance(ready, _Together):
        ready.removed.append(path)
    else:
        path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove unfinished files that killed processes left in a folder's folders.

    For the only writer in there.
    """
    for path in (*folder.glob(f"*/.*{SUFFIX}"), *folder.glob(f"*/*/.*{SUFFIX}")):
        path.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    """Return the mode of a file, None where there is none."""
    try:
        return path.stat().st_mode
    except OSError:
        return None


def _opened(path: Path) -> tuple[Path, int]:
    """Return a file next to `path` that no one else has made (O_EXCL), and a handle to it."""
    while True:
        name = f".{path.name[:100]}.{os.getpid()}-{next(_made)}{SUFFIX}"
        # One that exists was left by a killed process, or is that of another machine.
        with suppress(FileExistsError):
            unfinished = path.parent / name
            return unfinished, os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)


def _flush(path: Path) -> None:
    """Return once the content is on the disk, so that a power failure cannot leave half of it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _errors_about(path: Path) -> Iterator[None]:
    """Let errors of the system name `path`."""
    try:
        yield
    except OSError as error:
        raise _about(path, error) from error


def _about(path: Path, error: OSError) -> OSError:
    """Return the same error, about `path`."""
    if error.errno is None:
        return error
    return type(error)(error.errno, os.strerror(error.errno), str(path))
