"""Make `asv publish` write pages that open anywhere and name releases.

asv writes index.json after the last output publisher has run, so the copies that a page opened
from a disk reads (see `local_data`) need a step after the whole command, and our own pages are
begun before it. asv has no hooks there; the command's `run` is wrapped instead.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from asv.commands import publish as asv_publish
from asv.commands.publish import Publish
from asv.console import log
from asv.util import UserError

from deepbench_ops.asv_adapter import intact, loaded, published_suite, stored
from deepbench_ops.asv_adapter.publishing import asv_graphs, asv_list, grid, slips
from deepbench_ops.asv_adapter.publishing.publisher import DeepbenchPages
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.pages import local_data, page_process, release_list

__all__ = ["DeepbenchPages", "install"]

_MARK = "_deepbench_pages"


def install() -> None:
    """Wrap asv's publish command, once however often this is called."""
    original = Publish.run.__func__
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def run(cls: type[Publish], conf: Any, *args: Any, **kwargs: Any) -> Any:
        release_list.point_links_here(conf)
        release_list.add_published(conf)
        gc.freeze()  # what is loaded by now stays, and need not be looked through again and again
        asv_graphs.fitted.path = Path(conf.env_dir).parent / "fitted.json"
        try:
            with loaded.once(Path(conf.results_dir)), page_process.beside(conf) as conf.own_pages:
                outcome = original(cls, conf, *args, **kwargs)
                local_data.write(Path(conf.html_dir))
                pages = conf.own_pages
                broken = pages.written().broken if pages else intact.broken(Path(conf.results_dir))
        except DeepbenchError as error:
            raise UserError(str(error)) from None
        for line in () if pages else broken:  # our own pages have named them
            log.error(line)
        return 1 if broken else outcome

    setattr(run, _MARK, True)
    Publish.run = classmethod(run)
    Publish.iter_results = staticmethod(slips.left_out(Publish.iter_results))
    asv_publish.iter_machine_files = _described
    published_suite.install()
    asv_graphs.install()
    asv_list.install()
    grid.install()


def _described(results: str) -> Iterator[str]:
    """Stand in for asv's search for descriptions of machines: those that can be read."""
    for path in sorted(Path(results).glob("*/machine.json")):
        with suppress(DeepbenchError):
            stored.entry(path)
            yield str(path)


install()
