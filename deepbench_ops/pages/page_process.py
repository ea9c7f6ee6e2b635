"""Our own pages, written by a process of their own while asv reads results and makes graphs."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from deepbench_ops import lifetime
from deepbench_ops.pages.build_report import Written
from deepbench_ops.pages.machine_cache import Kept
from deepbench_ops.releases.table import Release

FORKS = sys.platform == "linux"
"""Whether a process can be split off from this one, with all that it has read."""


class Pages:
    """Pages that another process is writing, or that are written when somebody asks for them."""

    def __init__(self, folder: Path, *about: Any) -> None:
        self._about = (folder, *about)
        self._folder = folder
        self._coming: Connection | None = None
        self._written: Written | None = None

    @contextmanager
    def being_written(self) -> Iterator[None]:
        """Have another process write them; when the block ends, so does it."""
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_write_for, args=(there, *self._about), daemon=True
        )
        with lifetime.deaf_children():
            process.start()
        there.close()
        self._coming = here
        try:
            yield
        finally:
            if self._written is None:
                process.terminate()
            process.join()  # who has told all may still keep what the next publishing takes up
            here.close()

    def written(self) -> Written:
        """Return once they are there. Raises what stopped them."""
        if self._written is None:
            self._written = self._awaited() or _write_here(*self._about)
        return self._written

    def _awaited(self) -> Written | None:
        """What the other process says; None where there is none, or it was killed."""
        try:
            found = self._coming.recv() if self._coming else None
        except EOFError:
            return None
        if isinstance(found, Exception):
            raise found
        return found

    def move(self, html_dir: Path) -> None:
        """Put them among asv's pages."""
        shutil.copytree(self._folder, html_dir, dirs_exist_ok=True, copy_function=shutil.move)


@contextmanager
def beside(conf: Any, timeline: Sequence[Release] | None) -> Iterator[Pages | None]:
    """Write the pages while the block runs; None where commits are no releases: there are no
    lines then."""
    if timeline is None:
        yield None
        return
    own = Path(conf.env_dir).parent
    own.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pages-", dir=own) as scratch:
        folder = Path(scratch, "html")
        folder.mkdir()
        kept = own / "deepbench-lines"
        pages = Pages(folder, conf.project, Path(conf.results_dir), timeline, kept)
        if not FORKS:
            yield pages
            return
        with pages.being_written():
            yield pages


def _write_for(there: Connection, *about: Any) -> None:
    logging.disable()  # the first process tells the same
    gc.disable()  # nearly all that is made here is there till the end
    try:
        written, kept = _write(*about)
    except Exception as reason:
        there.send(reason)
    else:
        there.send(written)
        with suppress(OSError):  # the next publishing then makes all anew
            kept.write()


def _write_here(*about: Any) -> Written:
    written, kept = _write(*about)
    kept.write()
    return written


def _write(*about: Any) -> tuple[Written, Kept[Any]]:
    # What judges lines takes long to import: the process that writes does it, beside asv.
    from deepbench_ops.pages import build

    return build.write(*about)
