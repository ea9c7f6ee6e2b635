"""What `asv publish` adds to asv's site: our own pages, and asv's completed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deepbench_ops.pages import (
    asv_index,
    local_data,
    noise_data,
    page_process,
    release_list,
    site,
)
from deepbench_ops.releases.table import Release


class Publication:
    """Our own pages of one publishing, made in a process of their own while asv makes its.

    conf: asv's configuration, whose links and branches are set here.
    releases: those on the x-axis; None where commits are no releases: there are no lines then.
    """

    def __init__(self, conf: Any, releases: Sequence[Release] | None) -> None:
        self._conf = conf
        self._releases = releases
        self._html_dir = Path(conf.html_dir)
        self._pages: page_process.Pages | None = None
        if releases is not None:
            release_list.point_links_here(conf)
            release_list.add_published(conf, releases)

    @contextmanager
    def being_made(self) -> Iterator[None]:
        """Make the pages that read results, while the block runs."""
        with page_process.beside(self._conf, self._releases) as self._pages:
            yield

    def complete(
        self, repo: Any, benchmarks: Any, graphs: Any, revisions: dict[str, int]
    ) -> Sequence[str]:
        """Complete the site that asv's publishers have written.

        Returns a line for each damaged file that the pages leave out.
        Raises DeepbenchError where asv's page is not as this version of asv writes it.
        """
        pages, html_dir, project = self._pages, self._html_dir, self._conf.project
        judged = pages is not None
        asv_index.write(html_dir, project, judged)
        site.carry(html_dir)
        releases = release_list.collect(repo, graphs, revisions)
        release_list.write(html_dir, project, releases, judged)
        if pages is None:
            return ()
        local_data.write(html_dir)  # all but the index, while our own pages are on their way
        written = pages.written()
        pages.move(html_dir)
        noise_data.write(html_dir, written.noises, benchmarks, graphs)
        return written.torn

    def finish(self) -> Sequence[str] | None:
        """Complete the site once asv has written its index.json.

        Returns a line for each damaged file, None where no pages have read the results.
        """
        local_data.write(self._html_dir)
        return self._pages.written().broken if self._pages else None
