"""Measure the spread between rounds of one release, with three methods in one run.

A round is a new process; a paired round has two. For ten GEMM problems the script prints the spread
between rounds (standard deviation of the logarithm in percent) of

- plain: the median of the raw seconds of all slices;
- calibrated: the median of the slices divided by the yardstick next to them, without slices for
  which the yardstick found the machine disturbed;
- paired: the median ratio of a release to itself in alternating slices.

Nothing else should run at the same time. Usage:
    python bench/round_spread.py [--framework torch] [--device cuda] [--rounds 10]
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tabulate import tabulate

from deepbench_ops.measure import (
    ensemble_sweeps,
    kernel_measurement,
    threads,
    worker_control,
    yardstick,
)
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.kernel_sampling import Policy, measure

PROBLEMS = (
    "m35_n700_k2048_NN",
    "m1760_n64_k1760_NN",
    "m1760_n128_k1760_NN",
    "m2560_n64_k2560_NN",
    "m3072_n128_k1024_TN",
    "m5124_n700_k2048_NN",
    "m3072_n1_k1024_NN",
    "m3072_n4_k1024_NN",
    "m7680_n1_k2560_NN",
    "m8448_n4_k2816_NN",
)


def one_round(problems: Sequence[str]) -> dict[str, list]:
    """Measure every problem once in this process; return plain and calibrated medians, and kinds.

    The calibrated median is None if there is no yardstick.
    """
    found = {}
    for problem in problems:
        prepared = kernel_measurement.prepare("gemm", problem, "float32")
        taken = measure(
            prepared.kernel,
            prepared.yardstick_client,
            Policy(),
            partial(threads.pin, prepared.threads),
        )
        found[problem] = [
            statistics.median([*taken.seconds, *(s for s, _ in taken.put_aside)]),
            statistics.median(taken.ratios()) if taken.yardstick else None,
            prepared.yardstick_kind,
        ]
    return found


def rounds_of(
    framework: str, device: str, problems: Sequence[str], rounds: int
) -> list[dict[str, list]]:
    """Run `rounds` new processes, one after the other."""
    count = threads.wanted()
    nominal = {kind: yardstick.nominal(kind, count) for kind in yardstick.kinds(device)}
    environ = {
        **os.environ,
        "DEEPBENCH_FRAMEWORK": framework,
        kernel_measurement.NOMINAL_VARIABLE: json.dumps({count: nominal}),
    }
    chosen = [word for problem in problems for word in ("--problem", problem)]
    command = [sys.executable, __file__, "--one-round", *chosen]
    return [
        json.loads(subprocess.run(command, env=environ, check=True, capture_output=True).stdout)
        for _ in range(rounds)
    ]


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation of the logarithms, in percent."""
    return 100 * statistics.stdev(map(math.log, values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", default="numpy")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--problem", action="append", help="one of the ten; may be repeated")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    parser.add_argument("--one-round", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    problems = arguments.problem or PROBLEMS
    if arguments.one_round:
        print(json.dumps(one_round(problems)))
        return

    os.environ["DEEPBENCH_DEVICE"] = arguments.device  # for the processes that are started
    singles = rounds_of(arguments.framework, arguments.device, problems, arguments.rounds)
    launch = worker_control.Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": arguments.framework})
    tasks = [KernelIdentity("gemm", problem, "float32") for problem in problems]
    sides = {"first": launch, "second": launch}
    together = ensemble_sweeps.run_rounds(sides, tasks, arguments.rounds)

    table = []
    for task in tasks:
        plain, calibrated, kinds = zip(*(single[task.problem] for single in singles), strict=True)
        ratios = [math.exp(taken.difference(*sides)[0]) for taken in together[task]]
        table.append(
            {
                "problem": task.problem,
                "yardstick": kinds[0],
                "ms": round(1e3 * statistics.median(plain), 3),
                "plain %": round(spread(plain), 2),
                "calibrated %": None if None in calibrated else round(spread(calibrated), 2),
                "side by side %": round(spread(ratios), 2),
                "side by side: bias %": round(100 * (statistics.geometric_mean(ratios) - 1), 2),
            }
        )
    about = f"{arguments.framework} on {arguments.device}, {arguments.rounds} rounds"
    print(f"{about}, spread between rounds")
    print(tabulate(table, headers="keys"))
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
