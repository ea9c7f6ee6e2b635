"""Compare the errors of a network in int8 with their limits, for many seeds.

    python bench/int8_seeds.py mmoe --by compiled --seeds 0 100 [--uncompiled]

Seeds are those of the weights and items. A line for each seed shows the largest error divided by
its limit, and that error and the largest output of the checked item, both divided by the typical
output. --uncompiled runs the quantised graph without compiling it: the same sums in a tenth of the
time.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from deepbench_ops.backends.torch_backend import execution, int8_networks
from deepbench_ops.backends.torch_backend.backend import TorchBackend
from deepbench_ops.backends.torch_backend.int8_networks import Batches
from deepbench_ops.backends.torch_backend.model_reference import root_mean_square
from deepbench_ops.backends.torch_backend.serving import Serving
from deepbench_ops.problems.model import Model


def uncompiled(
    module: nn.Module, inputs: Sequence[Tensor], calibrating: Batches
) -> tuple[nn.Module, str]:
    """Return the quantised graph, whose operations run one after the other.

    Replaces `execution._compiled`.
    """
    return int8_networks.for_compiling(module, calibrating), "quantised, not compiled"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--by", choices=["compiled", "onnxruntime"], default="compiled")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 100), metavar=("FROM", "TO"))
    parser.add_argument("--uncompiled", action="store_true")
    asked = parser.parse_args()
    if asked.uncompiled:
        execution._compiled = uncompiled
    torch.set_num_threads(1)
    problem, found = Model(name=asked.model, batch=asked.batch), []
    for seed in range(*asked.seeds):
        backend = TorchBackend()
        backend.execution = asked.by
        serving = Serving(backend, problem, "int8", seed)
        serving.one(0)
        errors, (expected, allowed) = serving.errors(), serving.reference.everywhere()
        typical = serving.reference.typical
        found.append(float((errors / allowed).max()))
        item = max(root_mean_square(row) for row in expected) / typical
        print(f"{seed} {found[-1]:.3f} {errors.max() / typical:.3f} {item:.2f}", flush=True)
    beyond = sum(each > 1 for each in found)
    print(
        f"{beyond} of {len(found)} beyond the limit, at most {max(found):.3f} of it,"
        f" median {np.median(found):.3f}"
    )


if __name__ == "__main__":
    main()
