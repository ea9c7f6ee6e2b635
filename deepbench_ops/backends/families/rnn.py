"""Recurrent layers: operands, references by operation, and the sizes of the small twins."""

from collections.abc import Mapping

from deepbench_ops.backends.families.rnn_fused_reference import FusedBackward, FusedForward
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.families.rnn_published_reference import (
    ProductGradients,
    StepwiseBackward,
    StepwiseForward,
)
from deepbench_ops.backends.kernel import Read, Reference
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rnn import Rnn

SMALL = {"hidden": 37, "batch": 5, "timesteps": 5}

PROBE = {"hidden": 256, "batch": 16, "timesteps": 8}

PRODUCT_GRADIENTS = "gradients of the products"
"""Name of the second output of the backward pass: the gradients of the recurrent products of all
steps, (T, N, G·H)."""

HIDDEN_STATES = "hidden states"
"""Name of the intermediate values from which the reference of `fused_backward` starts: the hidden
states after each step of the layer's own forward pass, (T, N, H)."""

INT8_REASON = (
    "no recurrent layer in int8 is published for float frameworks; a dynamically quantised layer"
    " keeps states and gates in float32, which is another operation"
)


def refuse(problem: Rnn, precision: str, operation: str) -> None:
    """Raise Unsupported for int8."""
    if precision == "int8":
        raise Unsupported(INT8_REASON)


def inputs(problem: Rnn, precision: str, seed: int = 0) -> RnnInputs:
    """Return the operands of `problem` in `precision`, a floating-point one."""
    return RnnInputs(problem, precision, seed)


def notes(drawn: RnnInputs, operation: str) -> dict[str, str]:
    """Return the notes on the operands of `operation`."""
    return drawn.notes(operation)


def reference(
    problem: Rnn, drawn: RnnInputs, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the references of `operation` by output; they have `everywhere` but no `at`."""
    return reference_from(problem, drawn, precision, operation, {})


def reference_from(
    problem: Rnn, drawn: RnnInputs, precision: str, operation: str, own: Mapping[str, Read]
) -> Mapping[str, Reference]:
    """Return the references of `operation` by output, also for some entries of a full-size output.

    own: functions that read the kernel's own values as float64, by name: the outputs of a published
    pass, or HIDDEN_STATES for `fused_backward`. Each entry is computed from the values one step
    before.
    """
    if operation == "forward":
        return {"": StepwiseForward(drawn, own.get(""))}
    if operation == "fused_forward":
        return {"": FusedForward(drawn, own.get(""))}
    if operation == "fused_backward":
        return {"": FusedBackward(drawn, own.get(HIDDEN_STATES))}
    gradients = ProductGradients(drawn, own.get(PRODUCT_GRADIENTS))
    return {"": StepwiseBackward(gradients), PRODUCT_GRADIENTS: gradients}
