#!/usr/bin/env python3
"""Compare `deepbench fleet nodes` with SuperBench on the same generated times of nodes.

    PYTHONPATH=SUPERBENCH python bench/superbench_comparison.py --python SUPERBENCH_PYTHON

SUPERBENCH is a checkout of microsoft/superbenchmark, SUPERBENCH_PYTHON a Python with the packages
that its analyzer imports (pandas, joblib and so on). Each trial is a survey: nodes measure the same
kernels, one of them slower than the others by a factor, with noise of 1 %; a share of all times is
ruined, 1.2 to 3 times as long. SuperBench gets the median of a kernel's rounds, as its runner sums
up, makes a baseline by its fix_threshold algorithm, and calls a node defective that is 5 % slower
at any metric, as in its own examples. Printed is how often the slow node is found, and how often
any other node is called slow.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from statistics import median
from typing import Any

import numpy as np

NODES, KERNELS, ROUNDS = 12, 12, 3
NOISE = 0.01
FACTORS = (1.0, 1.03, 1.05, 1.07, 1.1, 1.2)
RUINED = (0.0, 0.1)
BEYOND = 0.03
"""The default of `deepbench fleet nodes`."""

DIAGNOSE = "--diagnose"
CRITERIA = "lambda x: x > 0.05"

Survey = list[list[list[float]]]
"""Seconds by node, kernel and round; the last node is the slow one."""


def main() -> None:
    if sys.argv[1:] == [DIAGNOSE]:
        print(json.dumps([superbench_names(survey) for survey in json.load(sys.stdin)]))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", required=True, help="a Python that can import superbench")
    parser.add_argument("--trials", type=int, default=100, help="surveys of each kind [100]")
    options = parser.parse_args()
    rows = [
        (f"{factor:.2f}", f"{ruined:.0%}", *found)
        for ruined in RUINED
        for factor in FACTORS
        for found in [outcome(options.python, options.trials, factor, ruined)]
    ]
    from tabulate import tabulate

    print(tabulate(rows, HEADERS, disable_numparse=True))


HEADERS = (
    *("slow node's factor", "times ruined", "found", "others called slow"),
    *("found by SuperBench", "others called slow by it"),
)


def outcome(python: str, trials: int, factor: float, ruined: float) -> Iterator[str]:
    """Yield, of each tool, the share of surveys with the slow node found and with others named."""
    random = np.random.default_rng(1)
    surveys = [survey(random, factor, ruined) for _ in range(trials)]
    diagnosed = subprocess.run(
        [python, __file__, DIAGNOSE],
        input=json.dumps(surveys),
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(diagnosed.stdout.splitlines()[-1])
    for named in ([our_names(each) for each in surveys], theirs):
        slow = NODES - 1
        yield f"{sum(slow in each for each in named) / trials:.0%}"
        yield f"{sum(bool(set(each) - {slow}) for each in named) / trials:.0%}"


def survey(random: np.random.Generator, factor: float, ruined: float) -> Survey:
    """Return the times of one survey."""
    shape = NODES, KERNELS, ROUNDS
    seconds = np.exp(random.normal(0, NOISE, shape))
    seconds *= np.where(random.random(shape) < ruined, random.uniform(1.2, 3, shape), 1)
    seconds[-1] *= factor
    found: Survey = seconds.tolist()
    return found


def our_names(survey: Survey) -> list[int]:
    """Return the nodes that `deepbench fleet nodes` calls slow."""
    from deepbench_ops.fleet import node_comparison
    from deepbench_ops.fleet.node_comparison import NodeTimes

    def times(node: Sequence[Sequence[float]]) -> NodeTimes:
        return NodeTimes(
            {("numpy-1", ("gemm.X", (str(k),))): median(own) for k, own in enumerate(node)}, 0.0
        )

    nodes = {str(place): times(node) for place, node in enumerate(survey)}
    levels = node_comparison.compare(nodes, BEYOND)
    return sorted({int(each.node) for each in levels if each.kind == node_comparison.SLOW})


def superbench_names(survey: Survey) -> list[int]:
    """Return the nodes that SuperBench's rule calls defective; runs in its Python."""
    pandas = import_module("pandas")
    generation = import_module("superbench.analyzer.baseline_generation").BaselineGeneration()
    operation = import_module("superbench.analyzer.diagnosis_rule_op").RuleOp
    names = [f"gemm/kernel{k}" for k in range(KERNELS)]
    frame = pandas.DataFrame([[median(own) for own in node] for node in survey], columns=names)
    rule: dict[str, Any] = {
        **{"function": "variance", "criteria": CRITERIA, "categories": "Slow", "store": False},
        "metrics": {},
    }
    for name in names:
        single = {**rule, "metrics": {name: -1}}
        rule["metrics"][name], _ = generation.fix_threshold_outlier_detection(
            frame[name], single, name, operation.variance
        )
    found = []
    for node, row in frame.iterrows():
        summary = pandas.Series(index=names, dtype=float)
        if operation.variance(row, rule, summary, [], set()):
            found.append(int(node))
    return found


if __name__ == "__main__":
    main()
