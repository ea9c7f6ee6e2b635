"""Compare the cost of sampling policies and the spread between processes under each.

Some products are prepared in several processes, forked as asv forks them, and sampled in each under
several policies in changing order. Printed for every policy are the seconds per kernel, the numbers
of slices kept and left out, and the distance between the medians of calibrated seconds of two
processes. Nominal readings of the yardsticks are those of the machine's profile.

    python bench/sampling_rules.py --machine xeon-avx512-2core [--processes 12]

The script needs the framework in its environment. The policies are the constants below.
"""

import argparse
import json
import math
import os
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from statistics import fmean, median, quantiles

from round_spread import PROBLEMS
from tabulate import tabulate

from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import kernel_measurement, threads, yardstick
from deepbench_ops.measure.kernel_sampling import Measurement, Policy, measure

POLICIES = {
    "as it is": Policy(),
    "until within 1 %": Policy(target=0.01, min_samples=6),
    "until within 5 %": Policy(target=0.05),
    "readings as long as slices": Policy(reading_seconds=0.008),
    "half the budget": Policy(budget_seconds=0.05),
    "no waiting": Policy(wait_seconds=0.0),
    "waiting up to 2 s": Policy(wait_seconds=2.0),
}
TRIED = Policy(budget_seconds=0.03)


def one_process(problem: str, turn: int) -> dict[str, Measurement]:
    """Sample a product under every policy, starting with another one each turn."""
    prepared = kernel_measurement.prepare("gemm", problem, "float32")
    client = prepared.yardstick_client
    measure(prepared.kernel, client, TRIED, prepared.pin)
    names = list(POLICIES)
    start = turn % len(names)
    return {
        name: measure(prepared.kernel, client, POLICIES[name])
        for name in names[start:] + names[:start]
    }


def summaries(problem: str, turn: int) -> dict[str, list[float]]:
    """Return the results of `one_process` in a child of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        found = {
            name: [m.spent_seconds, len(m.seconds), len(m.put_aside), median(m.ratios())]
            for name, m in one_process(problem, turn).items()
        }
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        found = json.load(answer)
    os.waitpid(child, 0)
    return found


def row(by_problem: dict[str, list[list[float]]]) -> list[object]:
    """Return the cells of one policy."""
    taken = [each for found in by_problem.values() for each in found]
    apart = [
        100 * abs(math.log(one[-1] / other[-1]))
        for found in by_problem.values()
        for one, other in combinations(found, 2)
    ]
    cuts = quantiles(apart, n=20)
    seconds, slices = (fmean(each[at] for each in taken) for at in (0, 1))
    aside = sum(each[2] for each in taken)
    return [round(seconds, 3), round(slices, 1), aside, *(round(cuts[at], 1) for at in (9, 17))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--machine", required=True)
    parser.add_argument("--framework", default="torch")
    parser.add_argument("--processes", type=int, default=12)
    asked = parser.parse_args()
    known = machine_profile.read(asked.results, asked.machine)
    count = threads.wanted()
    nominal = known.nominal(count, yardstick.VERSION) if known else {}
    if not nominal:
        sys.exit(
            f"{asked.results / asked.machine}: no readings of the yardstick at {count} threads"
        )
    os.environ[kernel_measurement.NOMINAL_VARIABLE] = json.dumps({str(count): nominal})
    os.environ["DEEPBENCH_FRAMEWORK"] = asked.framework
    kernel_measurement.preload()
    found: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for turn in range(asked.processes):
        for problem in PROBLEMS:
            for name, summary in summaries(problem, turn).items():
                found[name][problem].append(summary)
    columns = ["policy", "s a kernel", "slices", "put aside", "half apart by, %", "9 in 10, %"]
    print(tabulate([[name, *row(by_problem)] for name, by_problem in found.items()], columns))


if __name__ == "__main__":
    main()
