#!/usr/bin/env python3
"""Print how long the references of a kernel's output check take, without the kernel itself.

    python bench/check_cost.py linear_cross_entropy ID [ID ...] --operation forward backward
    PYTHONPATH=OTHER_CHECKOUT python bench/check_cost.py ...    # the same with another version

Of every output the expected values and allowed errors are computed at the entries that a check at
full size compares. Operands are drawn before. Printed are processor seconds of all threads, seconds
on the wall clock, and a digest of the values: equal digests of two versions mean equal values.
"""

import argparse
import hashlib
import time

from deepbench_ops.backends import families, output_check
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_ids import problem_of


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("family")
    parser.add_argument("ids", nargs="+", metavar="ID")
    parser.add_argument("--operation", nargs="+", default=["forward"])
    parser.add_argument("--precision", default="float32")
    options = parser.parse_args()
    for id in options.ids:
        for operation in options.operation:
            measure(problem_of(options.family, id), options.precision, operation)


def measure(problem: Problem, precision: str, operation: str) -> None:
    """Print the line of one kernel."""
    family = families.module_of(problem)
    references = family.reference(problem, drawn(problem, precision), precision, operation)
    digest = hashlib.sha256()
    processor, wall = time.process_time(), time.monotonic()
    for reference in references.values():
        index = output_check.spot_entries(reference, problem.flops_of(operation))
        for values in reference.at(index):
            digest.update(values.tobytes())
    processor, wall = time.process_time() - processor, time.monotonic() - wall
    print(
        f"{problem.id} {precision} {operation}: {processor:.1f} processor s, {wall:.1f} s,"
        f" values {digest.hexdigest()[:12]}",
        flush=True,
    )


def drawn(problem: Problem, precision: str) -> object:
    """Return the operands of a problem, all of them drawn."""
    operands = families.module_of(problem).inputs(problem, precision)
    for name in getattr(operands, "makers", ()):
        operands[name]
    return operands


if __name__ == "__main__":
    main()
