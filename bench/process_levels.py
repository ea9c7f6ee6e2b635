"""Search for the cause of different times of the processes of one release.

    python bench/process_levels.py onnxruntime gemm m1760_n128_k1760_NN --processes 16

Starts processes of one kernel, in turn unchanged and with one property fixed that usually differs
between processes:

- `plain`: nothing is fixed;
- `same addresses`: no random addresses, so that stacks and buffers have the same addresses;
- `small pages`: no huge pages;
- `huge pages`: huge pages for all memory for which the C library can request them;
- `one thread`: only one core.

If `plain` has two levels and a variant has one, its property explains them. For each process the
script also prints how much of its memory is in huge pages. The framework is that of this
environment. Nothing else should run.
"""

import argparse
import ctypes
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tabulate import tabulate

from deepbench_ops.measure import core_latency, kernel_measurement, threads
from deepbench_ops.measure.kernel_sampling import time_calls

NO_RANDOM_ADDRESSES, NO_HUGE_PAGES = 0x0040000, 41
"""ADDR_NO_RANDOMIZE of personality(2), PR_SET_THP_DISABLE of prctl(2)."""

VARIANTS = {
    "plain": {},
    "same addresses": {},
    "small pages": {},
    "huge pages": {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
    "one thread": {"DEEPBENCH_THREADS": "1"},
}
FRAMEWORK = "DEEPBENCH_FRAMEWORK"
SLICES, SLICE_SECONDS = 60, 0.01


def restart(variant: str) -> None:
    """Start this process again under a variant, which then holds from the first allocation on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if variant == "same addresses" and libc.personality(NO_RANDOM_ADDRESSES) == -1:
        raise OSError(ctypes.get_errno(), "personality")
    if variant == "small pages" and libc.prctl(NO_HUGE_PAGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    arguments = [each for each in sys.argv if each != "--restart"]
    os.execv(sys.executable, [sys.executable, *arguments])


def measured(arguments: argparse.Namespace) -> dict[str, float]:
    """Return the seconds per call in this process, and facts that may explain them."""
    prepared = kernel_measurement.prepare(
        arguments.family, arguments.problem, arguments.precision, arguments.operation
    )
    kernel = prepared.kernel
    call = min(time_calls(kernel, 1) for _ in range(5))
    calls = max(1, round(SLICE_SECONDS / call))
    slices = [time_calls(kernel, calls) for _ in range(SLICES)]
    memory = Path("/proc/self/smaps_rollup").read_text()
    huge, whole = (
        int(re.search(rf"^{name}:\s+(\d+)", memory, re.M)[1]) for name in ("AnonHugePages", "Rss")
    )
    latency = core_latency.read(set(threads.one_cpu_per_core()[:2]))
    return {
        "seconds": statistics.median(slices),
        "lowest": min(slices),
        "huge": huge / whole,
        "latency": math.nan if latency is None else latency,
    }


def started(variant: str) -> dict[str, float]:
    """Return the figures that a process under a variant measured."""
    environment = {**os.environ, **VARIANTS[variant]}
    command = [sys.executable, *sys.argv, "--restart", "--variant", variant]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def spread(found: list[dict[str, float]]) -> str:
    """Return the ratio of the slowest to the fastest process of a variant."""
    seconds = [each["seconds"] for each in found]
    return f"{max(seconds) / min(seconds):.3f}"


def main() -> None:
    """Measure all variants in turn, and print a row for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("framework")
    parser.add_argument("family")
    parser.add_argument("problem")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--operation", default="forward")
    parser.add_argument(
        "--processes", type=int, default=12, help="number of processes of each variant"
    )
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--restart", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ[FRAMEWORK] = arguments.framework
    if arguments.restart:
        restart(arguments.variant)
    if arguments.variant:
        print(json.dumps(measured(arguments)))
        return
    variants = arguments.variants.split(",")
    found: dict[str, list[dict[str, float]]] = {each: [] for each in variants}
    for _ in range(arguments.processes):
        for variant in variants:
            found[variant].append(started(variant))
            time.sleep(0.05)
    rows = [
        [
            variant,
            spread(each),
            " ".join(f"{1e3 * one['seconds']:.3f}" for one in each),
            " ".join(f"{100 * one['huge']:.0f}" for one in each),
            f"{statistics.median(one['latency'] for one in each):.0f}",
        ]
        for variant, each in found.items()
    ]
    header = ["variant", "largest / smallest", "ms", "huge pages, % of memory", "latency, ns"]
    print(tabulate(rows, header, tablefmt="github"))


if __name__ == "__main__":
    main()
