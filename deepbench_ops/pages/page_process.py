"""A process that writes this project's pages while asv reads results and makes graphs."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from deepbench_ops import process_lifetime
from deepbench_ops.pages.machine_cache import MachineCache
from deepbench_ops.pages.noise_data import NoiseByLine
from deepbench_ops.process_lifetime import FORKS
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import temporary_folders as temporary


@dataclass(frozen=True)
class BuildReport:
    """Report on the pages written, with fields of `build.BuiltPages`, whose import takes long."""

    noise: NoiseByLine
    problems: Sequence[str]
    damaged_files: Sequence[str]


class PageWriter:
    """Writer of the pages: in another process, or in this one when the report is requested."""

    def __init__(self, folder: Path, *inputs: Any) -> None:
        self._inputs = (folder, *inputs)
        self._folder = folder
        self._pipe: Connection | None = None
        self._report: BuildReport | None = None

    @contextmanager
    def started(self) -> Iterator[None]:
        """Write the pages in another process, which ends with the block at the latest."""
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_write_and_send, args=(there, *self._inputs), daemon=True
        )
        try:
            with process_lifetime.children_without_interrupts():
                process.start()
            there.close()
            self._pipe = here
            yield
        finally:
            if process.pid is not None:
                if self._report is None:
                    process.terminate()
                process.join()  # after its report the process still stores the cache
            here.close()

    def report(self) -> BuildReport:
        """Wait until the pages are written, and return the report.

        Raises the exception that stopped the writing.
        """
        if self._report is None:
            self._report = self._received() or _write(*self._inputs)
        return self._report

    def _received(self) -> BuildReport | None:
        """The report of the other process; None if there is no such process or it was killed."""
        try:
            found = self._pipe.recv() if self._pipe else None
        except EOFError:
            return None
        if isinstance(found, Exception):
            raise found
        return found

    def move(self, html_dir: Path) -> None:
        """Move the pages to the folder of asv's pages."""
        shutil.copytree(self._folder, html_dir, dirs_exist_ok=True, copy_function=shutil.move)


@contextmanager
def page_writer(
    project: str, results: Path, timeline: Sequence[Release], scratch: Path, site_url: str = ""
) -> Iterator[PageWriter]:
    """Write the pages while the block runs, in a folder below `scratch`."""
    with temporary.folder(scratch, "pages-") as own:
        folder = own / "html"
        folder.mkdir()
        writer = PageWriter(
            folder, project, results, timeline, scratch / "deepbench-lines", site_url
        )
        if not FORKS:
            yield writer
            return
        with writer.started():
            yield writer


def _write_and_send(pipe: Connection, *inputs: Any) -> None:
    logging.disable()  # the first process reports the same
    gc.disable()  # nearly every object made here lives until the end
    try:
        report, cache = _build(*inputs)
    except Exception as reason:
        pipe.send(reason)
    else:
        pipe.send(report)
        with suppress(OSError):  # then the next publishing computes everything
            cache.write()


def _write(*inputs: Any) -> BuildReport:
    report, cache = _build(*inputs)
    cache.write()
    return report


def _build(*inputs: Any) -> tuple[BuildReport, MachineCache[Any]]:
    # The import takes long: the process that writes does it, while asv reads results.
    from deepbench_ops.asv_adapter import result_cache
    from deepbench_ops.pages.build import build

    with result_cache.remembered():
        noise, problems, damaged_files, cache = build(*inputs)
    return BuildReport(noise, problems, damaged_files), cache
