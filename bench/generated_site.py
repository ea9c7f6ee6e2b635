#!/usr/bin/env python3
"""Seconds, memory and size of publishing generated results, and the costs of their pages.

    python bench/generated_site.py --machines 10 --releases 200

Each machine has a time of every listed problem, in each operation that is compared, at float32,
with every release of five frameworks: near the roof of the machine, with noise of 1 % and a few
lasting changes. Times have five samples, and no records of processes. Publishing is a process of
its own; then `scripts/page_costs.py` opens the pages.
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from deepbench_ops import backends
from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.problems.benchmark_names import BENCHMARK
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.releases.release_table import COLUMNS, Release

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "results" / "benchmarks.json"
FRAMEWORKS = backends.NAMES[:5]
FIRST_DAY = datetime.date(2006, 1, 1)
DAYS_APART = 36
"""Between two releases, of whatever framework."""

PEAK, BANDWIDTH = 2e11, 4e10
"""Of the first machine, in FLOP/s and bytes/s; the others are up to twice as fast."""

NOISE = 0.01
SAMPLES = 5
CHANGE = 0.02
"""Chance that a release changes a kernel, by a tenth on average."""

ENVIRONMENT = "release-py3-DEEPBENCH_CACHEwarm-DEEPBENCH_DEVICEcpu"
CONDITIONS = {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "warm"}
COLUMNS_OF_RESULTS = [
    *("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"),
    *("stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples"),
]
TOO_LONG = 3 * 3600


class Benchmark(NamedTuple):
    """A benchmark of asv with the parameters that are measured, and the FLOPs and bytes of each."""

    name: str
    version: str
    params: list[list[str]]
    flops: np.ndarray
    bytes: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--machines", type=int, default=10)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--families", nargs="*", default=[], help="all, unless some are named")
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        values = write(folder, options.machines, options.releases, options.families)
        print(f"{options.machines} machines, {options.releases} releases: {values:,} values")
        report(folder)
        costs = [sys.executable, str(ROOT / "scripts" / "page_costs.py"), str(folder / "html")]
        subprocess.run(costs, check=False)


def report(folder: Path) -> float:
    """Publish twice; print seconds, memory and size, and return the processor seconds of the first
    publishing."""
    first, _ = publish(folder), publish(folder)
    size = sum(path.stat().st_size for path in (folder / "html").rglob("*") if path.is_file())
    print(f"html: {size / 2**20:.0f} MiB", flush=True)
    return first


def publish(folder: Path) -> float:
    """Publish in a process of its own; print its cost, and return its processor seconds."""
    started = time.perf_counter()
    way = [sys.executable, str(ROOT / "bench" / "publishing_speed.py"), "--publish", "all pages"]
    done = subprocess.run(
        [*way, str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=TOO_LONG,
        check=True,
    )
    seconds = time.perf_counter() - started
    processor_seconds, memory = done.stdout.splitlines()[-1].split()
    cost = f"{seconds:.1f} s, {float(processor_seconds):.1f} CPU s, {int(memory) / 2**30:.2f} GiB"
    print(f"published: {cost}", flush=True)
    return float(processor_seconds)


def write(
    folder: Path,
    machines: int,
    releases: int,
    families: Collection[str] = (),
    kernels: int | None = None,
    samples: bool = True,
) -> int:
    """Write a release table and results into `folder`, and return how many values they hold.

    families: those whose problems are measured; all where none is named. kernels: how many times a
    machine has with each release, in as many replicas of the problem lists as that takes; each list
    once where it is None. samples: whether times have theirs.
    """
    results = folder / "results"
    results.mkdir(parents=True)
    (results / LISTED.name).write_bytes(LISTED.read_bytes())
    listed = [
        Release(
            FRAMEWORKS[number % len(FRAMEWORKS)],
            f"1.{number // len(FRAMEWORKS)}.0",
            FIRST_DAY + datetime.timedelta(days=DAYS_APART * number),
        )
        for number in range(releases)
    ]
    rows = [f"{each.framework},{each.version},{each.date},,no," for each in listed]
    (folder / "releases.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n", "utf-8")
    lists = replicas(list(benchmarks(families)), kernels)
    for number in range(machines):
        name, speed = f"machine-{number:02}", 1 + number / machines
        for replica, measured in enumerate(lists):
            write_machine(results, name, speed, listed, measured, replica, samples)
    return machines * releases * sum(len(each.flops) for one in lists for each in one)


def replicas(measured: list[Benchmark], kernels: int | None) -> list[list[Benchmark]]:
    """Return the benchmarks so often that they have `kernels` times, the last copy cut short."""
    whole = sum(len(each.flops) for each in measured)
    found: list[list[Benchmark]] = []
    left = whole if kernels is None else kernels
    while left > 0:
        found.append([])
        for each in measured:
            part = min(left, len(each.flops))
            if part:
                params = [each.params[0][:part], *each.params[1:]]
                found[-1].append(
                    Benchmark(each.name, each.version, params, each.flops[:part], each.bytes[:part])
                )
            left -= part
    return found


def benchmarks(families: Collection[str]) -> Iterator[Benchmark]:
    """The benchmarks of the suite, at float32 and on the fewest ranks."""
    for name, listed in json.loads(LISTED.read_text("utf-8")).items():
        known = BENCHMARK.fullmatch(name) if name != "version" else None
        if known is None or (families and known[1] not in families):
            continue
        problems, precisions, *ranks = listed["params"]
        found = {text: problem_of(known[1], text.strip("'")) for text in problems}
        ours = [
            text
            for text, problem in found.items()
            if known[3] in problem.timed_operations and known[3] not in problem.uncompared
        ]
        if ours and "'float32'" in precisions:
            flops = np.array([found[text].flops_of(known[3]) for text in ours], dtype=float)
            moved = [found[text].bytes_of("float32", known[3]) for text in ours]
            params = [ours, ["'float32'"], *(each[:1] for each in ranks)]
            yield Benchmark(name, listed["version"], params, flops, np.array(moved, dtype=float))


def write_machine(
    results: Path,
    name: str,
    speed: float,
    releases: list[Release],
    measured: list[Benchmark],
    replica: int = 0,
    samples: bool = True,
) -> None:
    """Write the results of a machine that is `speed` times as fast as the first one.

    replica: number of the problem lists' copy, of a device of its own. samples: as for `write`.
    """
    folder = results / name
    folder.mkdir(exist_ok=True)
    device = f"replica{replica}" if replica else "cpu"
    environment = ENVIRONMENT.replace("DEVICEcpu", f"DEVICE{device}")
    entry = {"machine": name, "arch": "x86_64", "cpu": f"Generated {name}", "os": "Linux"}
    entry |= {"num_cpu": "2", "ram": "32 GiB", "accelerator": "none"}
    (folder / "machine.json").write_text(json.dumps({**entry, "version": 1}), "utf-8")
    peak, bandwidth = PEAK * speed, BANDWIDTH * speed
    figures = {"cpu": {"float32": Figure(peak, "FLOP/s", "measured: generated")}}
    moved = {"cpu": Figure(bandwidth, "bytes/s", "measured: generated")}
    facts = {"kernel": "6.1"}
    machine_profile.write(
        results, Profile(name, "2026-01-01", facts, peaks=figures, bandwidth=moved)
    )
    random = np.random.default_rng([int(name.rpartition("-")[2]), replica])
    levels = {
        framework: [
            np.maximum(each.flops / peak, each.bytes / bandwidth)
            * np.exp(random.uniform(0.2, 1.5, len(each.flops)))
            for each in measured
        ]
        for framework in FRAMEWORKS
    }
    for release in releases:
        own = levels[release.framework]
        for level in own:
            changed = random.random(len(level)) < CHANGE
            level *= np.exp(changed * random.normal(0, 0.1, len(level)))
        stored = {
            "commit_hash": release.hash,
            "env_name": environment,
            "date": release.milliseconds,
            "params": {**entry, "python": "3"},
            "python": "3",
            "requirements": {},
            "env_vars": {**CONDITIONS, "DEEPBENCH_DEVICE": device},
            "result_columns": COLUMNS_OF_RESULTS,
            "results": {
                each.name: outcome(each, level, release.milliseconds, random, samples)
                for each, level in zip(measured, own, strict=True)
            },
            "durations": {},
            "version": 2,
        }
        path = results / asv_api.result_name(name, release.hash, environment)
        path.write_bytes(orjson.dumps(stored, option=orjson.OPT_SERIALIZE_NUMPY))


def outcome(
    benchmark: Benchmark,
    level: np.ndarray,
    now: int,
    random: np.random.Generator,
    with_samples: bool = True,
) -> list[object]:
    """The columns of a benchmark in a result file."""
    samples = level[:, None] * np.exp(random.normal(0, NOISE, (len(level), SAMPLES)))
    samples = np.sort(five_digits(samples), axis=1)
    values = five_digits(np.median(samples, axis=1))
    ends = [np.ascontiguousarray(samples[:, place]) for place in (0, -1, 1, -2)]
    counts = [[1] * len(level), [SAMPLES] * len(level)]
    known = [values, benchmark.params, benchmark.version, now, 1.0]
    return [*known, *ends, *counts, *([samples] if with_samples else [])]


def five_digits(values: np.ndarray) -> np.ndarray:
    """Return positive values to five significant digits."""
    scale = 10.0 ** (4 - np.floor(np.log10(values)))
    rounded: np.ndarray = np.round(values * scale) / scale
    return rounded


if __name__ == "__main__":
    main()
