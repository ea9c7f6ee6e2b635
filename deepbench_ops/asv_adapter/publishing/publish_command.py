"""`asv publish`, wrapped: pages that open anywhere, name releases, and hold our own pages.

asv writes index.json after the last output publisher has run, so a reader of that file needs a step
after the whole command, and our own pages are begun before it. asv has no hooks there; the
command's `run` is wrapped instead. The pages themselves are made by `OwnPages`, handed over by the
plugin. One command publishes at a time: asv removes the former pages before it writes new ones.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

from asv.commands import publish as asv_publish
from asv.commands.publish import Publish
from asv.console import log
from asv.publishing import OutputPublisher
from asv.repo import get_repo
from asv.util import UserError

from deepbench_ops.asv_adapter import damaged_file_search, result_cache, result_files
from deepbench_ops.asv_adapter.patch_installation import Function, Patch, applied, instead
from deepbench_ops.asv_adapter.publishing import (
    asv_graphs,
    summary_grid,
    summary_list,
    wrong_times_left_out,
)
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.garbage_collector_pause import no_collector
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import locks
from deepbench_ops.storage.result_key import ResultKey


class OwnPages(Protocol):
    """Our own pages of one publishing, made from the same results as asv's."""

    def wrong_times(self, machine: Path) -> Mapping[str, Collection[ResultKey]]:
        """Return the published times in a machine's folder that no line should lead through, by
        the name of their file."""

    def being_made(self) -> AbstractContextManager[None]:
        """Make pages while the block runs."""

    def complete(
        self, repo: Any, benchmarks: Any, graphs: Any, revisions: dict[str, int]
    ) -> Sequence[str]:
        """Complete the site that asv's publishers have written.

        Returns a line for each damaged file that the pages leave out.
        """

    def finish(self) -> Sequence[str] | None:
        """Complete the site once asv has written its index.json.

        Returns a line for each damaged file, None where no pages have read the results.
        """


Maker = Callable[[Any, Sequence[Release] | None], OwnPages]
"""Returns the pages of a publishing, given asv's configuration, which it may change, and the
releases; None where commits are no releases."""

_makers: list[Maker] = []


def use(maker: Maker) -> None:
    """Let `asv publish` write these pages too."""
    _makers[:] = [maker]


class DeepbenchPages(OutputPublisher):
    """The publisher that runs after asv's own, and completes the site they wrote."""

    name = "deepbench"
    button_label = "Releases"
    description = "How to read the pages, and the releases"

    @classmethod
    def publish(
        cls, conf: Any, repo: Any, benchmarks: Any, graphs: Any, revisions: dict[str, int]
    ) -> None:
        """Complete conf.html_dir. Raises DeepbenchError where asv's page is not known."""
        for line in conf.own_pages.complete(repo, benchmarks, graphs, revisions):
            log.error(line)


def _with_own_pages(publish: Function) -> Function:
    """Wrap `asv publish`."""

    def wrapped(cls: type[Publish], conf: Any, *args: Any, **kwargs: Any) -> Any:
        conf.own_pages = pages = _makers[0](conf, _releases(conf))
        gc.freeze()  # objects loaded by now stay: the collector need not look through them again
        scratch, results = Path(conf.env_dir).parent, Path(conf.results_dir)
        asv_graphs.fit_cache.path = scratch / "fitted.json"
        try:
            with (
                locks.in_turn(scratch / "publishing", doing="asv publish"),
                pages.being_made(),  # another process makes them while this one reads results
                no_collector(),  # nearly every object made here lives until the end
                result_cache.read_once(results),
                applied(WHILE_PUBLISHING),
            ):
                outcome = publish(cls, conf, *args, **kwargs)
                named = pages.finish()
                broken = damaged_file_search.find(results) if named is None else named
        except DeepbenchError as error:
            raise UserError(str(error)) from None
        for line in broken if named is None else ():  # our own pages have named the others
            log.error(line)
        return 1 if broken else outcome

    return wrapped


def _releases(conf: Any) -> Sequence[Release] | None:
    """Return the releases that are on the x-axis; None where commits are no releases."""
    if conf.dvcs != ReleaseRepo.dvcs:
        return None
    timeline: Sequence[Release] = get_repo(conf).timeline
    return timeline


def _described(results: str) -> Iterator[str]:
    """Stand in for asv's search for descriptions of machines: those that can be read."""
    for path in sorted(Path(results).glob("*/machine.json")):
        with suppress(DeepbenchError):
            result_files.entry(path)
            yield str(path)


PATCHES = (
    Patch(
        Publish,
        "run",
        _with_own_pages,
        "asv's pages need a server and the network, and our own are made next to them",
    ),
    Patch(
        Publish,
        "iter_results",
        wrong_times_left_out.left_out,
        "asv draws lines through published times that are wrong, and stops at results of commits "
        "that are no releases",
    ),
    Patch(
        asv_publish,
        "iter_machine_files",
        instead(_described),
        "asv ends in a traceback where the description of a machine is damaged",
    ),
)

WHILE_PUBLISHING = (
    *result_cache.PATCHES,
    *asv_graphs.PATCHES,
    *summary_list.PATCHES,
    *summary_grid.PATCHES,
)
"""In force while pages are made."""
