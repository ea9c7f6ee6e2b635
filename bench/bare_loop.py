"""Compare the time of a kernel as the suite measures it with that of a plain loop.

In one process, slices of the prepared kernel, timed by `deepbench_ops.measure`, alternate with
slices of the loop that a user would write around the framework's function, on operands with the
same values. On a GPU the loop lies between two CUDA events, which the GPU's clock times. The script
prints the median ratio of neighbouring slices, which should lie within 3 % of one.

Usage: python bench/bare_loop.py [--framework torch] [--device cuda] [--problem ID]
"""

import argparse
import math
import os
import statistics
import time
from collections.abc import Callable

import numpy as np

from deepbench_ops import problems
from deepbench_ops.backends.families.gemm import GemmInputs
from deepbench_ops.backends.families.gemm import inputs as gemm_inputs
from deepbench_ops.measure import kernel_measurement, threads
from deepbench_ops.measure.kernel_sampling import time_calls


def bare_numpy(inputs: GemmInputs, device: str) -> Callable[[], object]:
    b, a = inputs.b.T, inputs.a.T
    output = inputs.c.T.copy()
    product = np.empty_like(output)

    def call() -> None:
        np.matmul(b, a, out=product)
        np.add(output, product, out=output)

    return call


def bare_torch(inputs: GemmInputs, device: str) -> Callable[[], object]:
    import torch

    a, b = (torch.from_numpy(each).to(device) for each in (inputs.a, inputs.b))
    c = torch.from_numpy(inputs.c.T).clone().to(device).t()
    return lambda: torch.addmm(c, a, b, out=c)


def loop_slice(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def event_slice(call: Callable[[], object], calls: int) -> float:
    """Return the seconds of a call between two events on the GPU."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=("numpy", "torch"), default="numpy")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--problem", default="m1760_n128_k1760_NN")
    parser.add_argument("--pairs", type=int, default=200)
    arguments = parser.parse_args()

    os.environ["DEEPBENCH_FRAMEWORK"] = arguments.framework
    os.environ["DEEPBENCH_DEVICE"] = arguments.device
    timed = loop_slice if arguments.device == "cpu" else event_slice
    kernel_measurement.preload(calibrating=False)
    prepared = kernel_measurement.prepare("gemm", arguments.problem, "float32")
    inputs = gemm_inputs(problems.find("gemm", arguments.problem), "float32")
    make = {"numpy": bare_numpy, "torch": bare_torch}[arguments.framework]
    bare = make(inputs, arguments.device)

    seconds = min(time_calls(prepared.kernel, 1) for _ in range(5))
    calls = max(1, round(0.015 / seconds))
    threads.pin(prepared.threads)
    ratios, ours = [], []
    for index in range(arguments.pairs):
        if index % 2:
            theirs = timed(bare, calls)
            ours.append(time_calls(prepared.kernel, calls))
        else:
            ours.append(time_calls(prepared.kernel, calls))
            theirs = timed(bare, calls)
        ratios.append(math.log(ours[-1] / theirs))
    ratio = math.exp(statistics.median(ratios))
    print(
        f"{arguments.framework} on {arguments.device} {arguments.problem}: "
        f"{1e3 * statistics.median(ours):.3f} ms, "
        f"measured / bare loop = {ratio:.4f} over {arguments.pairs} pairs of {calls} calls"
    )


if __name__ == "__main__":
    main()
