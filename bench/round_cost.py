#!/usr/bin/env python3
"""Compare the seconds of a history's rounds whose processes share passed checks, and of others.

    python bench/round_cost.py jax 0.8.0,0.9.0,0.10.2 --family softmax --rounds 4

Rounds of both kinds are measured in turns, on the same releases and kernels. The first round of
sharing processes, which passes the checks, is not counted. Printed for each kernel are the median
seconds of its preparation and sweeps in a round; the start of the processes is not included.
Missing environments are installed. Nothing is stored.
"""

import argparse
import statistics
import sys
from dataclasses import replace
from pathlib import Path

from deepbench_ops import project
from deepbench_ops.backends import run_cache
from deepbench_ops.measure import ensemble_sweeps
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.problems.selections import operations, select
from deepbench_ops.releases import release_ranges, release_table, table_location, worker_launch

Seconds = dict[KernelIdentity, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("framework")
    parser.add_argument("releases")
    parser.add_argument("--family", action="append", required=True)
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each kind")
    options = parser.parse_args()
    tasks = [
        KernelIdentity(family, member.problem.id, "float32", operation)
        for family in options.family
        for member in select("headline", family)
        for operation in operations(member.problem)
    ]
    sharing = launches(options.framework, options.releases)
    apart = {
        name: replace(each, environ={**each.environ, run_cache.FOLDER_VARIABLE: ""})
        for name, each in sharing.items()
    }
    seconds: dict[str, Seconds] = {"first": {}, "sharing": {}, "apart": {}}
    measure(sharing, tasks, 0, seconds["first"])
    for number in range(1, options.rounds + 1):
        measure(apart, tasks, number, seconds["apart"])
        measure(sharing, tasks, number, seconds["sharing"])
    print(table(seconds["sharing"], seconds["apart"]))


def launches(framework: str, span: str) -> dict[str, Launch]:
    """Return how to start the releases that `span` names, by name."""
    every = release_table.measurable(table_location.of_project())
    chosen = release_ranges.select(span, [each for each in every if each.framework == framework])
    folder: Path = project.environments()
    return {each.name: worker_launch.launch(each, folder, say) for each in chosen}


def measure(
    started: dict[str, Launch], tasks: list[KernelIdentity], number: int, seconds: Seconds
) -> None:
    """Measure one round, and add the seconds of each kernel that any release has."""
    for task, this_round in ensemble_sweeps.run_round(started, tasks, number):
        if this_round.sweeps:
            seconds.setdefault(task, []).append(this_round.spent)


def table(sharing: Seconds, apart: Seconds) -> str:
    """Return a table of both kinds, in Markdown, with a last row for all kernels together."""
    rows = []
    for task in apart.keys() & sharing.keys():
        one, two = (statistics.median(of[task]) for of in (apart, sharing))
        rows.append((f"{task.problem} {task.operation}", one, two))
    rows.sort()
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    lines = ["| kernel | checks repeated, s | checks shared, s | ratio |", "|---|---|---|---|"]
    lines += [f"| {name} | {one:.1f} | {two:.1f} | {two / one:.2f} |" for name, one, two in rows]
    return "\n".join(lines)


def say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
