"""Timing of collective operations one after the other, and the table of their results."""

import math
import statistics
from collections.abc import Iterator

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.distributed import collective_kernel, collectives
from deepbench_ops.distributed.collective_kernel import POLICY, Ranks
from deepbench_ops.distributed.collective_options import CollectiveRequest
from deepbench_ops.measure.kernel_sampling import Measurement, measure, time_calls
from deepbench_ops.problems.collective import Collective
from deepbench_ops.statistics.median_interval import FEWEST_SAMPLES

TITLED = ("framework", "transport")
"""Columns whose content is in the title."""

LEAST_SAMPLES = 3
FEW_SAMPLES = 30
SLICE_SECONDS = 1.0
"""The requested repeats are divided into FEW_SAMPLES slices, none longer than SLICE_SECONDS."""

COLUMNS = {
    "problem": 10,
    "bytes": 10,
    "ranks": 6,
    "repeats": 8,
    "median ms": 10,
    "95 % +-": 8,
    "alg. GB/s": 10,
    "bus GB/s": 9,
    "checked": 8,
}
"""Titles and widths of columns, with the space before each, together 79. Lines are printed one by
one, so widths do not depend on figures. The first column is wider for longer ids."""


def lines(ranks: Ranks, request: CollectiveRequest) -> Iterator[str]:
    """Time every problem of the request and yield the lines of the table."""
    named = {key: value for key, value in ranks.versions.items() if key not in TITLED}
    versions = "; ".join(f"{key} {value}" for key, value in named.items())
    precision = request.precision
    first = request.problems[0]
    sum_of = "sum of " if collectives.load(first.family).SUMS else ""
    yield (
        f"# {first.heading}, {sum_of}{precision}, {ranks.size} ranks over {ranks.name} ({versions})"
    )
    wide = max(len(problem.id) for problem in request.problems)
    yield aligned(list(COLUMNS), wide)
    for problem in request.problems:
        kernel = collective_kernel.prepare(problem, ranks, precision)
        found = timed(kernel, request.repeats)
        ranks.ask("verify")  # the results of the last timed calls
        yield aligned(cells(problem, precision, ranks.size, found), wide)


def timed(kernel: Kernel, repeats: int | None) -> Measurement:
    """Time `repeats` calls; for None until the noise is low or the time is over."""
    if repeats is None:
        found = measure(kernel, None, POLICY)
        samples = max(LEAST_SAMPLES, len(found.seconds))
    else:
        first = time_calls(kernel, 1)  # the first call has costs that later ones do not have
        longest = max(1, int(SLICE_SECONDS / first))
        found = Measurement(min(longest, -(-repeats // FEW_SAMPLES)), "none")
        samples = -(-repeats // found.number)
    while len(found.seconds) < samples:
        found.seconds.append(time_calls(kernel, found.number))
    found.judge(POLICY.target)
    return found


def cells(problem: Collective, precision: str, ranks: int, found: Measurement) -> list[str]:
    """Return the cells of a line; bandwidths are from the median, in 10^9 bytes/s.

    The noise of fewer than `FEWEST_SAMPLES` slices is unknown: two of three may agree by chance.
    """
    known = math.isfinite(found.noise) and len(found.seconds) >= FEWEST_SAMPLES
    seconds = statistics.median(found.seconds)
    size = problem.bytes(precision)
    bandwidth = size / seconds / 1e9
    return [
        problem.id,
        f"{size:.0f}",
        str(ranks),
        str(found.number * len(found.seconds)),
        f"{seconds * 1e3:.4g}",
        f"{found.noise:.1%}" if known else "unknown",
        f"{bandwidth:.4g}",
        f"{bandwidth * problem.bus_factor(ranks):.4g}",
        "exact",
    ]


def aligned(cells: list[str], wide: int) -> str:
    """Return one line of the table. wide: number of characters of the longest id."""
    first, *rest = cells
    _, *widths = COLUMNS.values()
    right = (cell.rjust(width - 1) for cell, width in zip(rest, widths, strict=True))
    return " ".join([first.ljust(max(wide, COLUMNS["problem"])), *right])
