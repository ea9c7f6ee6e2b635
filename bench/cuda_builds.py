"""Compare the speed of two builds of one release on the processor, such as one with CUDA.

torch's own index has builds without CUDA. The Python package index has only builds with CUDA for
Linux, with which older releases were measured. Each argument is the interpreter of an environment
with torch and this project. Both builds are measured in turns of milliseconds, on a few kernels of
every family that runs in one process.

Usage: python bench/cuda_builds.py FIRST/bin/python SECOND/bin/python [--rounds 10]
"""

import argparse
import subprocess

from tabulate import tabulate

from deepbench_ops.analysis.ensemble_verdicts import compare_in_one_state
from deepbench_ops.analysis.verdict import corrected
from deepbench_ops.measure import ensemble_sweeps, worker_control
from deepbench_ops.measure.kernel_identity import KernelIdentity

CONV = "w28_h28_c128_n8_k128_r3_s3_pad1_1_stride1_1"
KERNELS = (
    KernelIdentity("gemm", "m1760_n128_k1760_NN", "float32"),
    KernelIdentity("gemm", "m35_n700_k2048_NN", "float32"),
    KernelIdentity("gemm", "m3072_n128_k1024_TN", "float32"),
    KernelIdentity("gemm", "m1760_n128_k1760_NN", "bfloat16"),
    KernelIdentity("conv", CONV, "float32"),
    KernelIdentity("conv", CONV, "float32", "backward_weights"),
    KernelIdentity("rnn", "lstm_h256_n4_t150", "float32"),
    KernelIdentity("sparse_gemm", "m7680_n1_k2560_NN_sparsity0.95", "float32"),
    KernelIdentity("sparse_gemm", "m7680_n1500_k2560_NN_sparsity0.95", "float32"),
)
BUILD = "import torch; print(torch.__version__)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python", nargs=2)
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    builds = [
        subprocess.run([python, "-c", BUILD], capture_output=True, text=True, check=True).stdout
        for python in arguments.python
    ]
    sides = [
        worker_control.Launch(python, {"DEEPBENCH_FRAMEWORK": "torch"})
        for python in arguments.python
    ]
    launches = dict(zip(("first", "second"), sides, strict=True))
    found = ensemble_sweeps.run_rounds(launches, KERNELS, arguments.rounds)
    verdicts = corrected([compare_in_one_state(each, *launches) for each in found.values()])
    print(f"{builds[1].strip()} against {builds[0].strip()}, {arguments.rounds} rounds")
    rows = [
        (
            f"{task.family} {task.operation}",
            task.problem,
            task.precision,
            verdict.kind,
            f"{verdict.ratio:.3f}",
            f"{verdict.low:.3f} .. {verdict.high:.3f}",
            f"{verdict.detectable:.1%}",
        )
        for task, verdict in zip(found, verdicts, strict=True)
    ]
    head = ("operation", "problem", "precision", "verdict", "ratio", "interval", "would have seen")
    print(tabulate(rows, head, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
