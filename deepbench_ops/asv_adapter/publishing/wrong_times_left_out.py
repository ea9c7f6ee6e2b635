"""Results that the pages leave out, while the files keep them.

Published times that are wrong (`analysis/wrong_published_times.py`) would bend a line; results of
commits that are no releases have no place in time.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from asv.results import Results

from deepbench_ops.asv_adapter import private_result_fields

Reading = Callable[..., Iterator[Results]]


def left_out(iter_results: Reading) -> Reading:
    """Wrap the reading of results by `asv publish`."""

    def wrapped(conf: Any, repo: Any, range_spec: Any = None) -> Iterator[Results]:
        timeline = getattr(repo, "timeline", None)
        known = {release.hash for release in timeline or ()}
        for stored in iter_results(conf, repo, range_spec):
            if timeline is not None and stored.commit_hash not in known:
                continue  # the pages mention it: see `kernel_lines`
            path = Path(conf.results_dir, private_result_fields.path_of(stored))
            wrong = conf.own_pages.wrong_times(path.parent).get(path.name, set())
            yield private_result_fields.without(stored, wrong) if wrong else stored

    return wrapped
