"""Compare the time that the suite takes with that of a process with `torch.utils.benchmark`.

The 78 training products with the fewest FLOPs are measured in float32 with torch: once by `asv run`
with its two processes per problem, checks, yardsticks and records, and once by a single process
that only calls ``Timer.blocked_autorange(min_run_time=0.2)`` on the same products. The suite takes
the samples of two processes, so twice the time of the single process would be equal cost.

    python bench/suite_cost.py
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from deepbench_ops import problems
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.selections import Selected, bench_regex
from deepbench_ops.releases.release_table import load

COUNT = 78
ENVIRONMENTS = Path(".asv", "env")

SINGLE_PROCESS = """
import json, sys, time
import torch
from torch.utils.benchmark import Timer

started = time.perf_counter()
for m, n, k, a_turned, b_turned in json.load(sys.stdin):
    a = torch.randn((m, k) if a_turned else (k, m))
    b = torch.randn((k, n) if b_turned else (n, k))
    c = torch.randn(n, m).t()
    names = {"a": a if a_turned else a.t(), "b": b if b_turned else b.t(), "c": c}
    Timer("c.addmm_(a, b)", globals=names, num_threads=torch.get_num_threads()).blocked_autorange(
        min_run_time=0.2
    )
print(time.perf_counter() - started)
"""


def chosen() -> list[Gemm]:
    """Return the training products with the fewest FLOPs."""
    return sorted(problems.load("gemm", "training"), key=lambda problem: problem.flops)[:COUNT]


def in_one_process(python: Path, products: list[Gemm]) -> float:
    """Return the seconds of a plain loop over the products, imports included."""
    sizes = [(p.m, p.n, p.k, p.a_transposed, p.b_transposed) for p in products]
    started = time.perf_counter()
    subprocess.run(
        [python, "-c", SINGLE_PROCESS],
        input=json.dumps(sizes),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - started


def by_the_suite(release: str, products: list[Gemm]) -> float:
    """Return the seconds of `asv run` over the products, two processes each."""
    selected = [Selected("training", product) for product in products]
    wanted = bench_regex(selected, ["float32"], first_call=False)
    asv = shutil.which("asv", path=str(Path(sys.executable).parent)) or "asv"
    started = time.perf_counter()
    subprocess.run([asv, "run", "--dry-run", "--bench", wanted, release], check=True)
    return time.perf_counter() - started


def main() -> None:
    newest = max(
        (row for row in load() if row.framework == "torch" and not row.on_request),
        key=lambda row: row.date,
    )
    python = ENVIRONMENTS / newest.name / "bin" / "python"
    if not python.exists():
        sys.exit(f"{python} is missing: measure {newest.name} once with `asv run {newest.name}`")
    products = chosen()
    single = in_one_process(python, products)
    suite = by_the_suite(newest.name, products)
    print(
        f"{COUNT} products, {newest.name}: suite {suite:.0f} s (two processes each), "
        f"one process {single:.0f} s: {suite / single:.2f} times"
    )


if __name__ == "__main__":
    main()
