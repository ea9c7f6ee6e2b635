"""Attention of a decoding step in torch: scaled_dot_product_attention of the cache."""

from deepbench_ops.backends.families import attention_decode
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.attention import (
    ROUTE,
    chosen_implementation,
    enable_implementation,
    forward,
)
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import true_precision
from deepbench_ops.problems.attention_decode import AttentionDecode


def build(
    backend: TorchDevice, problem: AttentionDecode, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a decoding step, with the implementation that torch chooses."""
    drawn = attention_decode.inputs(problem, precision, seed)  # type: ignore[arg-type]

    def settle() -> None:
        true_precision(precision, backend.device)
        enable_implementation()

    settle()
    call = forward(backend, drawn, precision)
    newest = LatestOutput(call)

    def reset() -> None:
        settle()
        newest.reset()

    prepared = Prepared(
        run=newest.run,
        reset=reset,
        output=lambda: newest.output,
        notes={
            "route": ROUTE,
            "implementation": chosen_implementation(*call.args, **call.keywords),
            "layout": "cache (batch, head, token, number)",
            "output": "a new one in every call",
        },
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
