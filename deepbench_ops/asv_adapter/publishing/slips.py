"""What stays out of the pages: published times that are slips (`analysis/corrections.py`), since
no line should lead through them, and results of commits that are no releases, which have no place
in time."""

import copy
import math
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from asv.results import Results

Reading = Callable[..., Iterator[Results]]


def left_out(iter_results: Reading) -> Reading:
    """Wrap what `asv publish` reads results with; the files keep everything."""

    def wrapped(conf: Any, repo: Any, range_spec: Any = None) -> Iterator[Results]:
        timeline = getattr(repo, "timeline", None)
        known = {release.hash for release in timeline or ()}
        for stored in iter_results(conf, repo, range_spec):
            if timeline is not None and stored.commit_hash not in known:
                continue  # the pages tell of it: see `lines`
            path = Path(conf.results_dir, stored._filename)
            slips = conf.own_pages.slips(path.parent).get(path.name, set())
            if slips:
                stored = copy.copy(stored)
                stored._results = dict(stored._results)
            for name in {name for name, _ in slips}:
                keys = product(*stored.get_result_params(name))
                values = stored._results[name]
                stored._results[name] = [
                    math.nan if (name, key) in slips else value
                    for key, value in zip(keys, values, strict=True)
                ]
            yield stored

    return wrapped
