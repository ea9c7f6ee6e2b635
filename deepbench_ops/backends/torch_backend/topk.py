"""Top-k in torch: torch.topk, the largest first."""

from functools import partial

import torch

from deepbench_ops.backends.families import topk
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, on_host
from deepbench_ops.problems.topk import TopK


def build(backend: TorchDevice, problem: TopK, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare top-k, the only operation."""
    drawn = topk.inputs(problem, precision, seed)
    x = backend.tensor(drawn["x"], DTYPES[precision])
    newest = LatestOutput(partial(torch.topk, x, problem.k, dim=-1))

    def checked_values() -> torch.Tensor:
        values, columns = (on_host(each) for each in newest.output)
        return torch.from_numpy(topk.checked_values(drawn["x"], values, columns))

    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=checked_values,
        notes={"route": "torch.topk", "output": "new ones in every call"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
