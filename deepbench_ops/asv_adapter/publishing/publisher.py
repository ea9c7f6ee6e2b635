"""The asv output publisher: runs after asv's own, and completes the site they wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from asv.console import log
from asv.publishing import OutputPublisher

from deepbench_ops.pages import asv_index, local_data, noise_data, release_list, site


class DeepbenchPages(OutputPublisher):
    """Libraries brought along, the release list, and our own pages."""

    name = "deepbench"
    button_label = "Releases"
    description = "How to read the pages, and the releases"

    @classmethod
    def publish(
        cls, conf: Any, repo: Any, benchmarks: Any, graphs: Any, revisions: dict[str, int]
    ) -> None:
        """Complete conf.html_dir. Raises asv_index.PagesError where asv's page is not known."""
        html_dir = Path(conf.html_dir)
        pages = conf.own_pages
        judged = pages is not None
        asv_index.write(html_dir, conf.project, judged)
        site.carry(html_dir)
        releases = release_list.collect(repo, graphs, revisions)
        release_list.write(html_dir, conf.project, releases, judged)
        if judged:
            local_data.write(html_dir)  # all but the index, while our own pages are on their way
            written = pages.written()
            for reason in written.torn:
                log.error(reason)
            pages.move(html_dir)
            noise_data.write(html_dir, written.noises, benchmarks, graphs)
