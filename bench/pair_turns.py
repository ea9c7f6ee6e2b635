"""Compare the spread between rounds for several ways of dividing calls into slices.

Two live processes of one release measure each product in long slices, in short slices of whole
calls, and in short slices with turns within long calls, as the suite does. Every round and way has
new processes, and every second round has the opposite order of ways. Printed are the spread between
rounds (standard deviation of the logarithm in percent), the time of a call relative to that of
whole calls, and the seconds that a round of the product took.

Nothing else should run at the same time. Usage:
    python bench/pair_turns.py [--framework torch] [--rounds 10]
"""

import argparse
import math
import statistics
import sys
import time
from collections import defaultdict
from unittest.mock import patch

from tabulate import tabulate

from deepbench_ops.measure import ensemble_sweeps, worker_control, worker_turns
from deepbench_ops.measure.kernel_identity import KernelIdentity

PROBLEMS = (
    "m35_n700_k2048_NN",
    "m1760_n128_k1760_NN",
    "m7680_n64_k2560_NN",
    "m5124_n700_k2048_NN",
    "m3072_n3000_k1024_NN",
)
LONG, SHORT, TURNS = "slices of 15 ms", "slices of 5 ms", "with turns of 15 ms"
WAYS = {
    LONG: (math.inf, 0.015, 20),
    SHORT: (math.inf, ensemble_sweeps.SLICE_SECONDS, 50),
    TURNS: (worker_turns.TURN_SECONDS, ensemble_sweeps.SLICE_SECONDS, 50),
}
"""By way: seconds of a turn (infinite: whole calls, each slice after an untimed call), seconds of a
slice, and number of sweeps."""

SIDES = ("first", "second")

Taken = tuple[float, float, float]
"""Logarithm of the ratio, median seconds of a call, and seconds of the round."""


def one_round(launch: worker_control.Launch, way: str, number: int) -> dict[str, Taken]:
    """Return the figures of each product in one round measured in a way."""
    tasks = [KernelIdentity("gemm", problem, "float32") for problem in PROBLEMS]
    turn, slice_seconds, sweeps = WAYS[way]
    found, began = {}, time.monotonic()
    launches = dict.fromkeys(SIDES, launch)
    with (
        patch.object(worker_turns, "TURN_SECONDS", turn),
        patch.object(ensemble_sweeps, "SLICE_SECONDS", slice_seconds),
    ):
        for task, taken in ensemble_sweeps.run_round(launches, tasks, number, sweeps=sweeps):
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
