"""Processor time of the detection of changes: one series after the other, and many at once.

    python bench/detection_speed.py [--series 2000] [--points 40]

Prints a table in Markdown: milliseconds a series, without changes and with a step in each, in turns
of both ways. The answers of both are compared. Nothing else should run at the same time.
"""

import argparse
import statistics
import time

import numpy as np
from tabulate import tabulate

from deepbench_ops.analysis.change_detection import detect_changes
from deepbench_ops.analysis.change_screening import detect_each

TURNS = 3
NOISE, STEP = 0.01, 0.05


def measure(several: list[list[float]]) -> list[str]:
    """Return milliseconds a series of both ways, the medians of turns, and their quotient."""
    spent: dict[str, list[float]] = {"alone": [], "at once": []}
    for _ in range(TURNS):
        begin = time.process_time()
        alone = [detect_changes(seconds) for seconds in several]
        middle = time.process_time()
        together = detect_each(several)
        spent["alone"].append(middle - begin)
        spent["at once"].append(time.process_time() - middle)
        if alone != together:
            raise SystemExit("the answers differ")
    one, other = (statistics.median(each) * 1e3 / len(several) for each in spent.values())
    return [f"{one:.3f}", f"{other:.3f}", f"{one / other:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--series", type=int, default=2000)
    parser.add_argument("--points", type=int, default=40)
    options = parser.parse_args()
    logs = np.random.default_rng(1).normal(0, NOISE, (options.series, options.points))
    late = np.arange(options.points) >= options.points // 2
    rows = [
        ["no change", *measure(np.exp(logs).tolist())],
        [f"a step of {STEP:.0%}", *measure(np.exp(logs + STEP * late).tolist())],
    ]
    heads = ["series", "one by one, ms", "at once, ms", "quotient"]
    print(tabulate(rows, heads, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
