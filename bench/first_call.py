"""Does the first call of a whole network cost more than the others?

A call of a quarter of a second or more is its own warm-up (docs/measuring.md), which is right
where a first call pays for some milliseconds. The first training step of a network also makes
gradients, what the optimiser remembers and the library's primitives. Each network of
`deepbench select models-training` (models-inference) takes several steps (batches) in a process of
its own; the first is told as a multiple of the median of the others, beside how far these lie
apart. The kernel runs as it is prepared: where preparing runs a call already, none is the first.

Usage: python bench/first_call.py [--pass training_step|forward] [--calls 4] [NAME ...]
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

from tabulate import tabulate

from deepbench_ops.problems.selections import select

SELECTIONS = {"training_step": "models-training", "forward": "models-inference"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only networks called so")
    parser.add_argument("--pass", dest="operation", choices=SELECTIONS, default="training_step")
    parser.add_argument("--calls", type=int, default=4)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(calls(arguments.one, arguments.operation, arguments.calls)))
        return
    rows = []
    for member in select(SELECTIONS[arguments.operation]):
        problem = member.problem.id
        if arguments.names and not problem.startswith(tuple(arguments.names)):
            continue
        asked = ["--pass", arguments.operation, "--calls", str(arguments.calls)]
        command = [sys.executable, __file__, "--one", problem, *asked]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"{problem}: left out, it ended with {done.returncode}")
            continue
        first, *others = json.loads(done.stdout)
        usual = statistics.median(others)
        spread = (max(others) - min(others)) / usual
        rows.append((problem, f"{usual:.3g}", f"{first / usual:.3f}", f"{spread:.1%}"))
        print(*rows[-1], flush=True)
    head = ("network", "a call, s", "first / median of others", "others lie apart by")
    print(tabulate(rows, head, tablefmt="github", disable_numparse=True))


def calls(problem: str, operation: str, count: int) -> list[float]:
    """Seconds of each of the first calls of a network on torch."""
    from deepbench_ops.backends import load
    from deepbench_ops.problems.ids import problem_of

    kernel = load("torch", "cpu").build(problem_of("model", problem), "float32", operation)
    found = []
    for _ in range(count):
        kernel.reset()
        started = time.perf_counter()
        kernel.run()
        found.append(time.perf_counter() - started)
    return found


if __name__ == "__main__":
    main()
