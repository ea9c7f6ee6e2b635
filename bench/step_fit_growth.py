"""Measure how the time of asv's step fit grows with the number of lines, apart from publishing.

Lines of 40 releases with noise of 1 %, every second one with a step of 10 %, are fitted in chunks
by a process for each core, as `asv publish` does it here (`asv_adapter.publishing`). Printed are
the processor seconds of these processes and those for each line.

    python bench/step_fit_growth.py 10000 100000
"""

import argparse
import multiprocessing
import random
import resource

from deepbench_ops.asv_adapter.patch_installation import applied
from deepbench_ops.asv_adapter.publishing import asv_graphs, step_fit
from deepbench_ops.garbage_collector_pause import no_collector

RELEASES, NOISE, STEP = 40, 0.01, 1.1


def line(generator: random.Random, step: int | None) -> asv_graphs.GraphLine:
    """Return a line as asv's graphs hold it: revision, seconds, weight. step: where it is, if at
    all."""
    level, found = 1.0, []
    for revision in range(RELEASES):
        level *= STEP if revision == step else 1.0
        seconds = level * generator.gauss(1.0, NOISE)
        found.append((revision, seconds, 1 / (seconds * NOISE)))
    return found


def fit(count: int) -> float:
    """Fit so many lines; return the processor seconds of the processes."""
    generator = random.Random(1)
    steps = (generator.randrange(RELEASES) if number % 2 else None for number in range(count))
    with no_collector():  # as in `asv publish`
        lines = [line(generator, step) for step in steps]
        chunks = [lines[at : at + asv_graphs.CHUNK] for at in range(0, count, asv_graphs.CHUNK)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with applied(step_fit.PATCHES):
            pool = multiprocessing.Pool()
            pool.map(asv_graphs._fit, chunks)
            pool.close()
            pool.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each number of lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("count", type=int, nargs="+", help="number of lines")
    for count in parser.parse_args().count:
        spent = fit(count)
        print(f"{count} lines: {spent:.1f} s of processors, {1e3 * spent / count:.3f} ms a line")


if __name__ == "__main__":
    main()
