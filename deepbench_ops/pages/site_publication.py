"""The pages that `asv publish` adds to asv's site, and the completion of asv's pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from deepbench_ops.analysis import wrong_published_times
from deepbench_ops.pages import (
    asv_index_offline,
    data_encoding,
    data_pages,
    former_pages,
    noise_data,
    release_list,
)
from deepbench_ops.pages.page_process import PageWriter, page_writer
from deepbench_ops.releases.release_table import PUBLISHED, Release
from deepbench_ops.storage.result_key import ResultKey


class SitePublication:
    """The added pages of one publishing, written in another process while asv writes its pages.

    conf: asv's configuration, whose links and branches are set here.
    releases: those on the x-axis; None if commits are not releases, so that there are no lines.
    """

    def __init__(self, conf: Any, releases: Sequence[Release] | None) -> None:
        self._conf = conf
        self._releases = releases
        self._html_dir = Path(conf.html_dir)
        self._site_url = with_slash(getattr(conf, "site_url", ""))
        self._writer: PageWriter | None = None
        self._slips = cache(wrong_published_times.of_machine)
        if releases is not None:
            link_to_release_list(conf)
            add_published_branch(conf, releases)

    def wrong_times(self, machine: Path) -> Mapping[str, Collection[ResultKey]]:
        """Return the known mistakes among a machine's published times, by the name of their file.

        Lines of the pages leave them out.
        """
        return self._slips(machine)

    @contextmanager
    def being_made(self) -> Iterator[None]:
        """Write the pages made from results, and remove former pages, while the block runs."""
        conf, scratch = self._conf, Path(self._conf.env_dir).parent
        with former_pages.removed_meanwhile(self._html_dir, scratch):
            if self._releases is None:
                yield
                return
            results = Path(conf.results_dir)
            with page_writer(
                conf.project, results, self._releases, scratch, self._site_url
            ) as self._writer:
                yield

    def complete(
        self, repo: Any, benchmarks: Any, graphs: Any, revisions: dict[str, int]
    ) -> Sequence[str]:
        """Complete the site that asv's publishers have written.

        Returns messages about results that cannot be read.
        Raises DeepbenchError if asv's page has an unknown form.
        """
        html_dir, project, own_pages = self._html_dir, self._conf.project, self._writer is not None
        asv_index_offline.write(html_dir, project, own_pages)
        data_pages.copy_scripts(html_dir)
        releases = release_list.listed_releases(repo, graphs, revisions)
        release_list.write(html_dir, project, releases, own_pages)
        if self._writer is None:
            return ()
        data_encoding.write(html_dir)  # all but the index, while the added pages are written
        report = self._writer.report()
        self._writer.move(html_dir)
        noise_data.write(html_dir, report.noise, benchmarks, graphs)
        return report.problems

    def finish(self) -> Sequence[str] | None:
        """Complete the site once asv has written its index.json.

        Returns a line for each damaged file; None if the added pages do not read the results.
        """
        data_encoding.write(self._html_dir)
        return self._writer.report().damaged_files if self._writer else None


def with_slash(address: str) -> str:
    """The address of a folder with a slash at its end; "" if there is none."""
    return f"{address.rstrip('/')}/" if address else ""


def link_to_release_list(conf: Any) -> None:
    """Direct asv's links to the release list, unless asv.conf.json sets another address."""
    if conf.show_commit_url == "#":
        conf.show_commit_url = f"{release_list.PAGE}#"


def add_published_branch(conf: Any, releases: Iterable[Release]) -> None:
    """Add published figures as a branch of the pages; asv would measure a branch in `branches`."""
    if any(release.framework == PUBLISHED for release in releases):
        conf.branches = [*conf.branches, PUBLISHED]
