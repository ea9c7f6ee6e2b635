"""Write a file whole or not at all.

The content goes into a new file with a random name in the target's folder, which takes the target's
place when it is complete and on the disk. A full disk, an error or Ctrl-C leaves the old file, and
nothing next to it; only a killed process leaves the unfinished one, whose name ends in `SUFFIX`.
"""

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

Ready = Callable[[Path], Path]
"""Returns the file to write to for a path that is to be written."""

SUFFIX = ".unfinished"
"""End of the names of unfinished files. They begin with a dot."""


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

    For libraries that write files themselves. The folder of `path` is made where it is missing. A
    target that is no regular file, such as /dev/stdout, is yielded as it is, and so is an
    unfinished file of an outer block.

    durable: whether to wait until the content is on the disk. Thousands of files that are easily
    made again need not outlast a power failure.

    Raises OSError that names `path`, not the unfinished file.
    """
    if path.name.endswith(SUFFIX) or _special(path):
        yield path
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = _new_file(path)
        try:
            yield unfinished
            if durable:
                _flush(unfinished)
            unfinished.replace(path)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            with suppress(OSError):
                path.parent.rmdir()  # where it is empty, it was made for this file
            raise
    except OSError as error:
        raise _about(path, error) from error


@contextmanager
def together() -> Iterator[Ready]:
    """Yield a function that returns an unfinished file for each path it is given.

    All of them replace their paths when the block ends without error, the last one first; none
    does when it ends with one.
    """
    with ExitStack() as files:
        yield lambda path: files.enter_context(replacing(path))


def sweep(folder: Path) -> None:
    """Remove unfinished files that killed processes left in a folder's folders.

    For the only writer in there.
    """
    for path in (*folder.glob(f"*/.*{SUFFIX}"), *folder.glob(f"*/*/.*{SUFFIX}")):
        path.unlink(missing_ok=True)


def _special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _new_file(path: Path) -> Path:
    """Make an empty file next to `path`, which no one could have made before (O_EXCL)."""
    prefix = f".{path.name[:100]}."
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=SUFFIX, dir=path.parent)
    with os.fdopen(handle):
        os.fchmod(handle, _mode(path))
    return Path(name)


def _mode(path: Path) -> int:
    """Return the permissions of the file that is replaced, of a new file by the umask."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _flush(path: Path) -> None:
    """Return once the content is on the disk, so that a power failure cannot leave half of it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _about(path: Path, error: OSError) -> OSError:
    """Return the same error, about `path`."""
    if error.errno is None:
        return error
    return type(error)(error.errno, os.strerror(error.errno), str(path))
