"""How far apart do rounds of a release with itself lie, when slices are cut in other ways?

Two live processes measure each product in long slices, in short ones with each call to its end, and
in short ones with long calls in turns, as it is done. Every round and way has fresh processes; the
ways are in the opposite order every second round. Printed are the spread between rounds, as
standard deviation of the logarithm in percent, the time of a call next to that of calls timed to
their end, and the seconds that a round of the product took.

Nothing else should run meanwhile. Usage:
    python bench/pair_turns.py [--framework torch] [--rounds 10]
"""

import argparse
import statistics
import sys
import time
from collections import defaultdict
from unittest.mock import patch

from tabulate import tabulate

from deepbench_ops.measure import ensemble, worker_control, worker_turns
from deepbench_ops.measure.task import Task

PROBLEMS = (
    "m35_n700_k2048_NN",
    "m1760_n128_k1760_NN",
    "m7680_n64_k2560_NN",
    "m5124_n700_k2048_NN",
    "m3072_n3000_k1024_NN",
)
LONG, SHORT, TURNS = "slices of 15 ms", "slices of 5 ms", "with turns of 15 ms"
WAYS = {
    LONG: (None, 0.015, 20),
    SHORT: (None, ensemble.SLICE_SECONDS, 50),
    TURNS: (worker_turns.TURN_SECONDS, ensemble.SLICE_SECONDS, 50),
}
"""Of each way the seconds of a turn, None for calls to their end, those of a slice, and sweeps."""

SIDES = ("first", "second")

Taken = tuple[float, float, float]
"""Logarithm of the ratio, median seconds of a call, and seconds of the round."""


def one_round(launch: worker_control.Launch, way: str, number: int) -> dict[str, Taken]:
    """Return the figures of each product in a round measured that way."""
    tasks = [Task("gemm", problem, "float32") for problem in PROBLEMS]
    turn, slice_seconds, sweeps = WAYS[way]
    found, began = {}, time.monotonic()
    launches = dict.fromkeys(SIDES, launch)
    with (
        patch.object(worker_turns, "TURN_SECONDS", turn),
        patch.object(ensemble, "SLICE_SECONDS", slice_seconds),
    ):
        for task, taken in ensemble.run_round(launches, tasks, number, sweeps=sweeps):
            call = statistics.median(seconds for each in taken.sweeps for seconds in each.values())
            ended = time.monotonic()
            found[task.problem] = taken.difference(*SIDES)[0], call, ended - began
            began = ended
    return found


def main() -> None:
    """Measure all ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", default="numpy")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    launch = worker_control.Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": arguments.framework})
    found: dict[tuple[str, str], list[Taken]] = defaultdict(list)
    for number in range(arguments.rounds):
        for way in reversed(WAYS) if number % 2 else WAYS:
            for problem, taken in one_round(launch, way, number).items():
                found[problem, way].append(taken)
    rows = []
    for problem in PROBLEMS:
        row = {"problem": problem}
        for way in WAYS:
            levels, calls, took = zip(*found[problem, way], strict=True)
            to_its_end = statistics.median(call for _, call, _ in found[problem, SHORT])
            row[f"{way}: spread"] = f"{100 * statistics.stdev(levels):.2f}"
            row[f"{way}: call"] = f"{statistics.median(calls) / to_its_end:.3f}"
            row[f"{way}: s"] = f"{statistics.mean(took):.1f}"
        rows.append(row)
    print(f"{arguments.framework}, {arguments.rounds} rounds")
    print(tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
