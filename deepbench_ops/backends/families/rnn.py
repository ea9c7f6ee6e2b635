"""Recurrent layers: what their kernels share, and the sizes of the small twins."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deepbench_ops.backends.families.rnn_fused import FusedBackward, FusedForward
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.families.rnn_stepwise import Own, StepwiseBackward, StepwiseForward
from deepbench_ops.backends.kernel import Index, Kernel, Reference
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rnn import Rnn

SMALL = {"hidden": 37, "batch": 5, "timesteps": 5}

PROBE = {"hidden": 256, "batch": 16, "timesteps": 8}

INT8_REASON = (
    "no recurrent layer in int8 is published for float frameworks; a dynamically quantised layer"
    " keeps states and gates in float32, which is another operation"
)


def inputs(problem: Rnn, precision: str, seed: int = 0) -> RnnInputs:
    """Return the operands of `problem` in `precision`; Unsupported for int8."""
    if precision == "int8":
        raise Unsupported(INT8_REASON)
    return RnnInputs(problem, precision, seed)


def reference(
    problem: Rnn,
    drawn: RnnInputs,
    precision: str,
    operation: str,
    own: Own | None = None,
) -> Reference:
    """Return the judge of `operation`.

    `own` reads, as float64, what the kernel itself came to on the way: the hidden states after
    each step, (T, N, H), and in the backward pass the gradients of the products, (T, N, G·H).
    With it entries of a full-size output are judged step by step; without it only `everywhere`
    can be asked.
    """
    kinds: dict[str, Callable[..., Reference]] = {
        "forward": StepwiseForward,
        "backward": StepwiseBackward,
        "fused_forward": FusedForward,
        "fused_backward": FusedBackward,
    }
    return kinds[operation](drawn, own)


@dataclass(frozen=True)
class Pass:
    """What a framework prepares of an operation; `kernel` adds what is the same for all of them."""

    run: Callable[[], object]
    clear: Callable[[], object]
    """Make the output unusable, so that no run can pass with what an earlier one has left."""
    result: Callable[[], np.ndarray]
    peek: Callable[[Index], np.ndarray]
    own: Own
    """See `reference`."""
    route: str


def kernel(
    framework: str,
    device: str,
    drawn: RnnInputs,
    operation: str,
    prepared: Pass,
    synchronise: Callable[[], object],
) -> Kernel:
    """Return the kernel of a prepared pass."""
    problem, precision = drawn.problem, drawn.precision
    return Kernel(
        label=f"{framework} {device} {precision} {operation} {problem.id}",
        run=prepared.run,
        synchronise=synchronise,
        reset=prepared.clear,
        result=prepared.result,
        peek=prepared.peek,
        reference=reference(problem, drawn, precision, operation, prepared.own),
        flops=problem.flops_of(operation),
        bytes=problem.bytes_of(precision, operation),
        notes={**drawn.notes(operation), "route": prepared.route},
    )
