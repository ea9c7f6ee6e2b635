"""Top-p sampling in torch: sort, cumsum, a mask and multinomial, as users write it."""

import torch

from deepbench_ops.backends.families import sampling
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, on_host
from deepbench_ops.problems.sampling import Sampling


def build(
    backend: TorchDevice, problem: Sampling, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the sampling, with random numbers of a generator seeded with `seed`."""
    drawn = sampling.inputs(problem, precision, seed)
    probabilities = backend.tensor(drawn["probabilities"], DTYPES[precision])
    generator = torch.Generator(device=backend.device).manual_seed(seed)

    def sample() -> torch.Tensor:
        ordered, columns = torch.sort(probabilities, dim=-1, descending=True)
        before = torch.cumsum(ordered, dim=-1) - ordered
        kept = ordered.masked_fill(before >= problem.p, 0.0)
        place = torch.multinomial(kept, 1, generator=generator)
        return torch.gather(columns, -1, place)

    newest = LatestOutput(sample)

    def likelier_shares() -> torch.Tensor:
        columns = on_host(newest.output)
        return torch.from_numpy(sampling.likelier(drawn["probabilities"], columns))

    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=likelier_shares,
        notes={"route": "torch.sort, cumsum, masked_fill, multinomial, gather"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
