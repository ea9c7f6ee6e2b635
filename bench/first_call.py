#!/usr/bin/env python3
"""Compare the time of the first call of a kernel with that of the others.

    python bench/first_call.py            training steps of whole networks
    python bench/first_call.py --selection headline --family conv --framework numpy

A first call starts threads, allocates pages of new results and loads code. The first training step
of a network also allocates gradients and the optimiser's state, and makes the library's primitives.
Each kernel of a selection is called several times in each of several processes. Printed is the
first call as a multiple of the median of the others, for the median process and for the worst one.
If preparing a kernel runs a call already, the first call here is not its first. Calls shorter than
`--least` are left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from tabulate import tabulate

from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.selections import SELECTIONS, select


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--selection", choices=SELECTIONS, default="models-training")
    parser.add_argument("--family")
    parser.add_argument("--pass", dest="operation", help="only this pass of each kernel")
    parser.add_argument("--framework", default="torch")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--calls", type=int, default=4, help="of each process, two or more")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--least", type=float, default=0.1, metavar="SECONDS")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(calls(*options.one, options.calls)))
        return
    rows = []
    for family, problem, operation in kernels(options.selection, options.family):
        if options.operation not in (None, operation):
            continue
        asked = [family, problem, options.precision, operation]
        command = [sys.executable, __file__, "--calls", str(options.calls), "--one", *asked]
        found = [several(command, options.framework) for _ in range(options.processes)]
        usual = statistics.median([seconds for each in found for seconds in each[1:]] or [0.0])
        if usual >= options.least:
            first = sorted(each[0] / statistics.median(each[1:]) for each in found if each)
            middle = statistics.median(first)
            rows.append(
                (family, problem, operation, f"{usual:.3g}", f"{middle:.2f}", f"{first[-1]:.2f}")
            )
            print(*rows[-1], flush=True)
    head = ("family", "problem", "pass", "a call, s", "first / others", "worst process")
    print(tabulate(rows, head, tablefmt="github", disable_numparse=True))


def kernels(selection: str, family: str | None) -> list[tuple[str, str, str]]:
    """Return (family, problem, pass) of all measurements of a selection, each once."""
    found = {
        (member.problem.family, member.problem.id, operation): None
        for member in select(selection, family)
        for operation in passes(member.problem, member.set == "training")
    }
    return list(found)


def passes(problem: Problem, training: bool) -> list[str]:
    """Return the timed passes of a problem: backward ones only in training, steps for networks."""
    if problem.family == Model.family:
        return ["training_step" if training else "forward"]
    return [each for each in problem.operations if training or "backward" not in each]


def several(command: list[str], framework: str) -> list[float]:
    """Return the seconds of the first calls of a process; none, with a message, if it failed."""
    environ = {**os.environ, "DEEPBENCH_FRAMEWORK": framework}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environ)
    if done.returncode:
        print(f"{' '.join(command[-4:])}: left out, it ended with {done.returncode}")
        return []
    return list(json.loads(done.stdout))


def calls(family: str, problem: str, precision: str, operation: str, count: int) -> list[float]:
    """Return the seconds of each of the first calls; none if the framework lacks the kernel."""
    from deepbench_ops.errors import Unsupported
    from deepbench_ops.measure import kernel_measurement, kernel_sampling

    kernel_measurement.preload(calibrating=False)
    try:
        kernel = kernel_measurement.prepare(family, problem, precision, operation).kernel
    except Unsupported:
        return []
    return [kernel_sampling.time_calls(kernel, 1) for _ in range(count)]


if __name__ == "__main__":
    main()
