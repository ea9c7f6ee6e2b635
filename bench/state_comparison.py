"""Compare the times of kernels between states of the machine with different core latencies.

The host of a virtual machine may move its cores to places that are further apart. Kernels of
several releases are kept in live processes, one each, and visited in random order: the latency
between two cores, slices of the kernel, the latency again. Visits whose two latencies belong to
different states are left out. Printed are the medians of kernels and yardsticks in each state and
their ratio. The script runs for the given time; a machine that stays in one state has one column.

Usage:
    python bench/state_comparison.py [KERNEL...] [--minutes 9] [--out visits.jsonl]
    python bench/state_comparison.py --read visits.jsonl

KERNEL is RELEASE:FAMILY:PROBLEM[:PRECISION[:OPERATION]], such as
numpy-2.1.3:gemm:m35_n700_k2048_NN; missing releases are installed.
"""

import argparse
import json
import os
import random
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from tabulate import tabulate

from deepbench_ops import project
from deepbench_ops.measure import core_latency, machine_states, threads, worker_turns, yardstick
from deepbench_ops.measure.ensemble_sweeps import SLICE_SECONDS
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.worker_control import LiveWorker
from deepbench_ops.releases import release_table, table_location, worker_launch

DEFAULT = (
    "numpy-2.1.3:gemm:m35_n700_k2048_NN",
    "numpy-2.4.6:gemm:m35_n700_k2048_NN",
    "numpy-2.4.6:rnn:lstm_h256_n4_t150",
    "torch-2.13.0:gemm:m1760_n128_k1760_NN",
    "torch-2.13.0:gemm:m3072_n1_k1024_NN",
    "onnxruntime-1.31.1:rnn:lstm_h256_n4_t150",
)
SLICES = 5
"""Slices of a visit, from which the median is taken."""

Visit = dict[str, object]


class Visited:
    """A kernel in a live process, stopped between visits."""

    def __init__(self, text: str, cores: set[int]) -> None:
        release, family, problem, *rest = text.split(":")
        found = release_table.find(release, table_location.measurable(project.results()))
        self.worker = LiveWorker(worker_launch.launch(found, say=print), cores)
        prepared = worker_turns.ask(
            self.worker,
            do="prepare",
            **asdict(KernelIdentity(family, problem, *(rest or ["float32"]))),
        )
        self.calls = max(1, round(SLICE_SECONDS / prepared["seconds"]))

    def seconds(self) -> float:
        """Return the median seconds per call of a visit."""
        slices = (
            worker_turns.ask(self.worker, do="slice", calls=self.calls, woken=self.calls > 1)
            for _ in range(SLICES)
        )
        return statistics.median(each["seconds"] for each in slices)


class YardstickVisited:
    """A yardstick of this process."""

    def __init__(self, kind: str) -> None:
        self.work = yardstick.Yardstick(kind, threads.wanted())

    def seconds(self) -> float:
        """Return the median seconds per unit of a visit."""
        units = self.work.units_for(SLICE_SECONDS)
        return statistics.median(self.work.slice(units) for _ in range(SLICES))


def visits(kernels: list[str], minutes: float, out: Path | None) -> list[Visit]:
    """Visit kernels and yardsticks in random order, and write each visit to the disk at once."""
    cores = sorted(os.sched_getaffinity(0))[: threads.fix()]
    pair = threads.one_cpu_per_core()[:2]
    found: list[Visit] = []
    with ExitStack() as stack:
        held: dict[str, Visited | YardstickVisited] = {}
        for text in kernels:
            held[text] = one = Visited(text, set(cores))
            stack.callback(one.worker.close)
        held |= {f"{kind} yardstick": YardstickVisited(kind) for kind in yardstick.KINDS}
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            for name in random.sample(list(held), len(held)):
                before = core_latency.read(pair)
                seconds = held[name].seconds()
                latencies = [before, core_latency.read(pair)]
                if None not in latencies:
                    found.append({"kernel": name, "seconds": seconds, "latencies": latencies})
                    if out is not None:
                        with out.open("a") as file:
                            file.write(json.dumps(found[-1]) + "\n")
    return found


def shown(found: list[Visit]) -> str:
    """Return the table of medians by state."""
    levels = machine_states.learned(each for visit in found for each in visit["latencies"])
    by_state: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for visit in found:
        state = machine_states.state(visit["latencies"], levels)
        if state not in machine_states.INCOMPARABLE:
            by_state[visit["kernel"]][state].append(visit["seconds"])
    states = [machine_states.name(level, levels) for level in levels]
    rows = []
    for kernel, taken in by_state.items():
        middle = {state: statistics.median(each) for state, each in taken.items()}
        cells = [
            f"{1e3 * middle[state]:.4g} ms ({len(taken[state])})" if state in middle else ""
            for state in states
        ]
        both = len(states) > 1 and {states[0], states[-1]} <= middle.keys()
        ratio = f"{middle[states[-1]] / middle[states[0]]:.2f}" if both else ""
        rows.append([kernel, *cells, ratio])
    heads = [f"{name}, {level:.0f} ns" for name, level in zip(states, levels, strict=True)]
    used = sum(len(each) for taken in by_state.values() for each in taken.values())
    return f"{used} of {len(found)} visits in one state, two latencies each\n\n" + tabulate(
        rows, headers=["kernel", *heads, "last / first"], disable_numparse=True
    )


def main() -> None:
    """Visit kernels, or read earlier visits, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=Path)
    asked = parser.parse_args()
    if asked.read is not None:
        found = [json.loads(line) for line in asked.read.read_text().splitlines()]
    else:
        found = visits(asked.kernels or list(DEFAULT), asked.minutes, asked.out)
    print(shown(found))


if __name__ == "__main__":
    main()
