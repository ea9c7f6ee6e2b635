"""Published slips stay out of the pages: no line leads through a time that was corrected later."""

import math
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from asv.results import Results

from deepbench_ops.published import corrections

Reading = Callable[..., Iterator[Results]]


def left_out(iter_results: Reading) -> Reading:
    """Wrap what `asv publish` reads results with; the files keep everything."""

    def wrapped(conf: Any, repo: Any, range_spec: Any = None) -> Iterator[Results]:
        corrections.of_machine.cache_clear()
        for stored in iter_results(conf, repo, range_spec):
            path = Path(conf.results_dir, stored._filename)
            slips = corrections.of_machine(path.parent).get(path.name, set())
            for name in {name for name, _ in slips}:
                keys = product(*stored.get_result_params(name))
                values = stored._results[name]
                stored._results[name] = [
                    math.nan if (name, key) in slips else value
                    for key, value in zip(keys, values, strict=True)
                ]
            yield stored

    return wrapped
