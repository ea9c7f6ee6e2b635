"""Our own pages, written by a process of their own while asv reads results and makes graphs."""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv.repo import get_repo

from deepbench_ops.analysis.causes import causes
from deepbench_ops.pages import (
    framework_page,
    lines,
    noise_data,
    release_list,
    site,
    site_data,
    verdict_page,
)
from deepbench_ops.pages.kept import Kept
from deepbench_ops.pages.noise_data import Noises
from deepbench_ops.releases.table import Release
from deepbench_ops.results import intact


@dataclass(frozen=True)
class Written:
    """noises: of every line; torn: what of the results the pages could not tell; broken: a line
    for each file of results that is not whole."""

    noises: Noises
    torn: Sequence[str]
    broken: Sequence[str]


class Pages:
    """Pages that are being written, or will be when somebody asks for them."""

    def __init__(self, folder: Path, arguments: tuple[Any, ...]) -> None:
        self.folder = folder
        self._arguments = arguments
        self._coming: Future[Written] | None = None
        self._written: Written | None = None

    def begin(self, pool: ProcessPoolExecutor) -> None:
        """Have another process write them."""
        self._coming = pool.submit(write, self.folder, *self._arguments)

    def written(self) -> Written:
        """Wait until they are there. Raises what stopped them."""
        if self._written is None:
            coming = self._coming
            self._written = coming.result() if coming else write(self.folder, *self._arguments)
        return self._written

    def move(self, html_dir: Path) -> None:
        """Put them among asv's pages."""
        shutil.copytree(self.folder, html_dir, dirs_exist_ok=True, copy_function=shutil.move)


@contextmanager
def beside(conf: Any) -> Iterator[Pages | None]:
    """Write the pages while the block runs, in a process of their own where those can be split
    off from this one, with all that it has read; else when they are asked for.

    None where commits are no releases: there are no lines then.
    """
    if not release_list.named(conf):
        yield None
        return
    kept = Path(conf.env_dir).parent
    kept.mkdir(parents=True, exist_ok=True)
    timeline = get_repo(conf).timeline
    with tempfile.TemporaryDirectory(prefix="pages-", dir=kept) as folder:
        arguments = conf.project, Path(conf.results_dir), timeline, kept / "lines"
        pages = Pages(Path(folder), arguments)
        if "fork" not in multiprocessing.get_all_start_methods():
            yield pages
            return
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
            pages.begin(pool)
            yield pages


def write(
    folder: Path, project: str, results: Path, timeline: Sequence[Release], keeping: Path
) -> Written:
    """Write into `folder` all pages that are made of lines, and what they read.

    `keeping` is the folder of what an earlier publishing has made of each machine's results.
    """
    kept = Kept(keeping, repr(timeline))
    found, machines, torn = lines.read(results, timeline, kept)
    measured = [line for line in found if line.measured]
    several = [line for line in measured if len(line.points) > 1]
    changed = causes(several)
    site.write(folder, project)
    site_data.write(folder, project, machines, found, changed, torn)
    verdict_page.write(folder, project, several, changed, torn)
    framework_page.write(folder, project, measured)
    noises = noise_data.known(measured)
    kept.write()
    return Written(noises, torn, intact.broken(results))
