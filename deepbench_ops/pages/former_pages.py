"""Removal of the pages of an earlier publishing while new ones are made."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from deepbench_ops.pages.forked_writing import written_meanwhile
from deepbench_ops.storage import temporary_folders as temporary


@contextmanager
def removed_meanwhile(html_dir: Path, scratch: Path) -> Iterator[None]:
    """Move the former pages below `scratch`, and remove them in a fork while the block runs.

    asv removes them before it begins, file by file. Pages that cannot be moved, because they are
    behind a link or on another disk, are left to asv.
    """
    with temporary.folder(scratch, "former-pages-") as folder:
        former = folder / "html"
        if _moved(html_dir, former):
            with written_meanwhile(partial(shutil.rmtree, former, ignore_errors=True)):
                yield
        else:
            yield


def _moved(html_dir: Path, target: Path) -> bool:
    """Move a folder; return whether that was possible."""
    if html_dir.is_symlink() or not html_dir.is_dir():
        return False
    try:
        html_dir.rename(target)
    except OSError:
        return False
    return True
