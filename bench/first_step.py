"""Does the first training step of a network cost more than the others?

A call of a quarter of a second or more is its own warm-up (docs/measuring.md), which is right
where a first call pays for some milliseconds. The first step of a network in training also makes
gradients, what the optimiser remembers and the library's primitives. Each network of
`deepbench select models-training` takes several steps in a process of its own; the first is told
as a multiple of the median of the others, beside how far these lie apart.

Usage: python bench/first_step.py [--steps 4] [NAME ...]
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

from tabulate import tabulate

from deepbench_ops.problems.selections import select


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only networks called so")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(steps(arguments.one, arguments.steps)))
        return
    rows = []
    for member in select("models-training"):
        problem = member.problem.id
        if arguments.names and not problem.startswith(tuple(arguments.names)):
            continue
        command = [sys.executable, __file__, "--one", problem, "--steps", str(arguments.steps)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"{problem}: left out, it ended with {done.returncode}")
            continue
        first, *others = json.loads(done.stdout)
        usual = statistics.median(others)
        spread = (max(others) - min(others)) / usual
        rows.append((problem, f"{usual:.3g}", f"{first / usual:.3f}", f"{spread:.1%}"))
        print(*rows[-1], flush=True)
    head = ("network", "a step, s", "first / median of others", "others lie apart by")
    print(tabulate(rows, head, tablefmt="github", disable_numparse=True))


def steps(problem: str, count: int) -> list[float]:
    """Seconds of each of the first steps of a network on torch."""
    from deepbench_ops.backends import load
    from deepbench_ops.problems.ids import problem_of

    kernel = load("torch", "cpu").build(problem_of("model", problem), "float32", "training_step")
    found = []
    for _ in range(count):
        kernel.reset()
        started = time.perf_counter()
        kernel.run()
        found.append(time.perf_counter() - started)
    return found


if __name__ == "__main__":
    main()
