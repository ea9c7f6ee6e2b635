"""Compare the memory that whole models take with its estimate before a model is built.

    python bench/model_memory.py [--pass forward] [--device cuda] [MODEL_bBATCH ...]

Each model is prepared, run twice and checked in a process of its own, as under asv. Measured is the
largest growth of its resident set since torch was loaded and had multiplied two matrices. On a GPU
it is the largest memory that torch's allocator has allocated.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem_ids import problem_of

NETWORKS = ("mobilenet_v2_b32", "resnet50_b16", "densenet101_b8", "bert_128_b8", "wide_deep_b1200")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=NETWORKS, metavar="MODEL_bBATCH")
    parser.add_argument("--pass", dest="operation", choices=Model.operations, default="forward")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--here", action="store_true", help="measure the only named model in this process"
    )
    asked = parser.parse_args()
    if asked.here:
        print(*_taken(asked.models[0], asked.operation, asked.device))
        return
    print("| model | pass | estimated, MB | taken, MB | estimated / taken |\n|---|---|---|---|---|")
    for name in asked.models:
        options = ["--pass", asked.operation, "--device", asked.device, "--here"]
        command = [sys.executable, __file__, name, *options]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        needed, taken = map(float, said)
        figures = f"{needed / 1e6:.0f} | {taken / 1e6:.0f} | {needed / taken:.2f}"
        print(f"| {name} | {asked.operation} | {figures} |", flush=True)


def _taken(name: str, operation: str, device: str) -> tuple[float, float]:
    """Return the estimated bytes, and the largest number of bytes taken."""
    import torch

    from deepbench_ops.backends import output_check
    from deepbench_ops.backends.torch_backend.backend import TorchBackend

    backend, problem = TorchBackend(device), problem_of("model", name)
    there = torch.ones(256, 256, device=device)
    there @ there
    needed = backend.memory_needed(problem, "float32", operation)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the present size
    before = _resident("VmRSS:")
    kernel = backend.build(problem, "float32", operation)
    for _ in range(2):
        kernel.reset()
        kernel.run()
    output_check.verify_output(kernel, run=False)
    if device == "cuda":
        return needed, torch.cuda.max_memory_allocated()
    return needed, _resident("VmHWM:") - before


def _resident(which: str) -> float:
    """Return the bytes of the resident set: present (VmRSS:) or peak (VmHWM:)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith(which))
    return float(kilobytes) * 1024


if __name__ == "__main__":
    main()
