"""How far apart do rounds of a release with itself lie, when pairs are cut in other ways?

Every round is a fresh pair of processes, which measure each product in all ways one after the
other, in the opposite order every second round: in long slices, in short ones with each call to
its end, and in short ones with long calls in turns, as it is done. Printed are the spread between
rounds, as standard deviation of the logarithm in percent, the time of a call next to that of calls
timed to their end, and the seconds that a round of the product took.

Nothing else should run meanwhile. Usage:
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

from deepbench_ops.measure import pairs, turns, worker_control

PROBLEMS = (
    "m35_n700_k2048_NN",
    "m1760_n128_k1760_NN",
    "m7680_n64_k2560_NN",
    "m5124_n700_k2048_NN",
    "m3072_n3000_k1024_NN",
)
LONG, SHORT, TURNS = "slices of 15 ms", "slices of 5 ms", "with turns of 15 ms"
WAYS = {
    LONG: (None, {"SLICE_SECONDS": 0.015, "MOST_PAIRS": 20}),
    SHORT: (None, {}),
    TURNS: (turns.TURN_SECONDS, {}),
}
"""Of each way the seconds of a turn, None for calls to their end, and what else is different."""


def one_round(workers, problem: str, way: str, swap: bool) -> tuple[float, float, float]:
    """Return the ratio of one round measured that way, the time of a call and that of the round."""
    task = pairs.Task("gemm", problem, "float32")
    began = time.monotonic()
    turn, others = WAYS[way]
    with patch.object(turns, "TURN_SECONDS", turn), patch.multiple(pairs, **others):
        taken = pairs._one_round(*workers, task, swap, pairs.MOST_PAIRS)
    call = statistics.median(seconds for pair in taken for seconds in pair)
    return pairs.round_ratio(taken), call, time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", default="numpy")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    launch = worker_control.Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": arguments.framework})
    found = defaultdict(list)
    for number in range(arguments.rounds):
        swap = number % 2 == 1
        with pairs._started(launch, launch, swap) as workers:
            for problem in PROBLEMS:
                for way in reversed(WAYS) if swap else WAYS:
                    found[problem, way].append(one_round(workers, problem, way, swap))
    rows = []
    for problem in PROBLEMS:
        row = {"problem": problem}
        for way in WAYS:
            ratios, calls, took = zip(*found[problem, way], strict=True)
            to_its_end = statistics.median(call for _, call, _ in found[problem, SHORT])
            row[f"{way}: spread"] = f"{100 * statistics.stdev(map(math.log, ratios)):.2f}"
            row[f"{way}: call"] = f"{statistics.median(calls) / to_its_end:.3f}"
            row[f"{way}: s"] = f"{statistics.mean(took):.1f}"
        rows.append(row)
    print(f"{arguments.framework}, {arguments.rounds} rounds")
    print(tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
