"""References of a network's outputs, with the errors allowed in each precision.

The reference of an inference is the same network in float64, for the first and the last item. The
reference of a training step is, for the small twin, the loss and some gradients in float64, and the
change of weights by the optimiser's formula; for the network itself the loss of a separate forward
pass, since a step in float64 would take minutes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from deepbench_ops.backends.families.model import (
    ENTRIES,
    GRADIENTS,
    PROBE_FLOPS,
    STEP_ENTRIES,
    ModelReference,
    TrainingStepReference,
)
from deepbench_ops.backends.kernel import widened
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.network import as_tensors, inference_form, weighted
from deepbench_ops.backends.torch_backend.tensors import on_host
from deepbench_ops.models.training_steps import TrainingStep, dense, doubled, mixed_type
from deepbench_ops.problems.model import Model

TOLERANCE = {"float32": 2e-5, "tf32": 2e-2, "bfloat16": 0.15, "float16": 0.03, "int8": 0.35}
"""Allowed error of an output, divided by the root mean square of the outputs. The rounding of many
layers adds up; docs/reference/method.md has the errors that were found."""

GRADIENT_TOLERANCE = {"float32": 0.02, "tf32": 0.2, "bfloat16": 0.02, "float16": 0.02}
"""Allowed root mean square error of a gradient's entries, divided by that of the gradient. Where
rounding moves a number across zero before a ReLU, the gradient there appears or vanishes: in
float32 once in some networks, in 16 bits in every network, which ROUNDING allows for. A missing
gradient has the error 1, that of another layer 1.4."""

CHANGE_ROUNDING, WEIGHT_ROUNDING = 2.0**-16, 2.0**-22
"""Allowed error of the change of a weight, divided by the change and by the weight before and after
it. An optimiser rounds a dozen times to float32, and LAMB's norms are sums of many numbers."""

SMALLEST_CHANGE = 1e-30
"""Allowed error of a change from zero to zero."""

USUAL_OUTPUTS = 2000
"""Largest number of outputs of two items among the networks for which TOLERANCE was chosen."""

ROUNDING = 4.0
"""In 16 bits: further allowed error of a gradient, divided by the error that rounding causes in the
same step in float64. This error depends on the network and its batch; a normalisation over few
numbers multiplies it."""

MOST_ITEMS = 64
"""Largest number of items whose outputs give the root mean square of outputs; networks of many
FLOPs have fewer. A single output of two numbers can by chance be near zero."""

UNSETTLED = 0.25
"""Distance of the scores of two experts, divided by TOLERANCE, below which rounding may decide
which of them is chosen."""

OTHER_EXPERT = 3.0
"""Allowed error of an output where another expert may be chosen, divided by the root mean square of
the outputs."""

OTHERS = 1000
"""Number that is added to the seed to draw the further items."""

SMALL_GRADIENT = 0.1
"""Part of the largest gradient below which the allowed error of a gradient does not decrease.
Smaller gradients are rounding errors of zeros, such as those of the keys' biases, on which a
softmax does not depend."""


def largest_error_factor(outputs: int) -> float:
    """Return the expected largest of `outputs` errors, divided by that of USUAL_OUTPUTS; at least
    1.

    Rounding errors are nearly normal, and the largest of n is close to sqrt(2·ln n) standard
    deviations. For the 256,512 scores of two words the factor is 1.28.
    """
    return math.sqrt(math.log(max(outputs, USUAL_OUTPUTS)) / math.log(USUAL_OUTPUTS))


@dataclass(frozen=True)
class TorchReference(ModelReference):
    """Reference whose allowed error depends on the precision."""

    precision: str

    def allowing(self, expected: Tensor, scale: Tensor | float) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of entries whose root mean square is `scale`."""
        limit = TOLERANCE[self.precision] * largest_error_factor(expected.numel())
        allowed = torch.as_tensor(limit * scale).expand(expected.shape)
        return widened(on_host(expected)), widened(on_host(allowed))


@dataclass(frozen=True)
class InferenceReference(TorchReference):
    """Reference of an inference: outputs of the first and the last item, (2, outputs of an item).

    The network runs in float64 with newly drawn float32 weights and inputs, not with those of the
    kernel, so that rounding these to 16 or 8 bits counts as error. The allowed error is a part of
    the root mean square of the outputs of these and further items. In int8 it is a part of that of
    the item itself if this is larger, since the range calibrated on other items may cut off some
    of its numbers. Where rounding may decide which expert a token goes to, the output of another
    expert is allowed.
    """

    backend: TorchDevice
    problem: Model
    seed: int = 0

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        pairs, unsettled = self._found
        scale = typical(pairs)
        reach = scale
        if self.precision == "int8":
            reach = torch.maximum(scale, pairs[0].square().mean(1, keepdim=True).sqrt())
        expected, allowed = self.allowing(pairs[0], reach)
        if unsettled is not None:
            other = np.maximum(allowed, OTHER_EXPERT * float(scale))
            allowed = np.where(on_host(unsettled), other, allowed)
        return expected, allowed

    @property
    def typical(self) -> float:
        """Root mean square of the true outputs."""
        return float(typical(self._found[0]))

    @cached_property
    def _found(self) -> tuple[Tensor, Tensor | None]:
        """True outputs of pairs of items, the first pair being the first and last item: (pairs, 2,
        outputs of an item); and which outputs of the first pair depend on an expert that rounding
        may change, None for networks without experts."""
        form = inference_form(self.problem)
        given = form.inputs(self.problem.inputs, self.seed)
        drawn = [[each[[0, -1]] for each in given]]
        count = min(MOST_ITEMS, int(PROBE_FLOPS / self.problem.network.flops)) // 2
        drawn += [form.inputs(2, self.seed + OTHERS + place) for place in range(count - 1)]
        exact: Any = weighted(self.backend, self.problem, torch.float32, self.seed).double().eval()
        with torch.inference_mode():
            pairs = [doubled(as_tensors(self.backend, pair, torch.float32)) for pair in drawn]
            found = torch.stack([items(exact(*pair), 2) for pair in pairs])
            unsettled = None
            if hasattr(exact, "margins"):
                near = exact.margins(*pairs[0]) < UNSETTLED * TOLERANCE[self.precision]
                unsettled = near.repeat_interleave(found.shape[2] // near.shape[1], dim=1)
        return found, unsettled


@dataclass(frozen=True)
class LossReference(TorchReference):
    """Reference of a loss: that of a forward pass with the same weights and the same dropout."""

    step: TrainingStep
    seed: int

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        self.step.restart(self.seed)
        with torch.no_grad():
            loss = self.step.loss().double().reshape(1)
        return self.allowing(loss, typical(loss))


@dataclass(frozen=True)
class TwinStepReference(TrainingStepReference, TorchReference):
    """Reference of a small twin's training step: loss and some gradients in float64, then zeros for
    the errors of the changes of these gradients' weights (`change_errors`).

    device: device of the training step.
    """

    step: TrainingStep
    device: str

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        exact = self.step.exact()
        loss = exact.loss().reshape(1)
        loss.backward()
        found = gradients(exact.module)
        sizes = torch.stack([typical(each) for each in found])
        least = sizes.clamp(min=SMALL_GRADIENT * sizes.max())
        of_gradients = GRADIENT_TOLERANCE[self.precision] * least
        if (rounding := mixed_type(self.precision, self.device)) is not None:
            rounded = self.step.exact(rounding)
            rounded.loss().backward()
            pairs = zip(gradients(rounded.module), found, strict=True)
            of_gradients += ROUNDING * torch.stack([typical(one - two) for one, two in pairs])
        of_loss = TOLERANCE[self.precision] * typical(loss.detach())
        of_changes = torch.ones_like(of_gradients).repeat_interleave(ENTRIES)
        allowed = [of_loss.reshape(1), of_gradients.repeat_interleave(ENTRIES), of_changes]
        expected = [loss.detach(), entries(found), torch.zeros_like(of_changes)]
        return widened(on_host(torch.cat(expected))), widened(on_host(torch.cat(allowed)))

    def pooled(self, errors: np.ndarray) -> np.ndarray:
        """Return the errors, those of each gradient pooled and those of changes as they are."""
        pooled = super().pooled(errors[:STEP_ENTRIES])
        return np.concatenate([pooled, errors[STEP_ENTRIES:]])


def items(output: Tensor | tuple[Tensor, ...], batch: int) -> Tensor:
    """Return all outputs of a network in one tensor, a row for each item."""
    tensors = output if isinstance(output, tuple) else (output,)
    return torch.cat([tensor.reshape(batch, -1) for tensor in tensors], 1)


def typical(values: Tensor) -> Tensor:
    """Return the root mean square."""
    return values.square().mean().sqrt()


def root_mean_square(values: np.ndarray) -> float:
    """Return the root mean square of an array."""
    return float((values**2).mean()) ** 0.5


def chosen(module: nn.Module) -> list[str]:
    """Return the names of GRADIENTS parameters with gradients, evenly spread over the network."""
    found = [name for name, each in module.named_parameters() if each.grad is not None]
    places = np.linspace(0, len(found) - 1, GRADIENTS).astype(int)
    return [found[place] for place in places]


def gradients(module: nn.Module) -> list[Tensor]:
    """Return the gradients of the chosen parameters, in float64."""
    return [dense(module.get_parameter(name).grad).double() for name in chosen(module)]


def change_errors(step: TrainingStep) -> list[Tensor]:
    """Return the errors of the changes of the chosen parameters, each divided by its allowed error.

    The true change is that of the optimiser's formula for the gradients of this step, which are
    checked themselves.
    """
    return [_change_error(step, name) for name in chosen(step.module)]


def _change_error(step: TrainingStep, name: str) -> Tensor:
    before, after = step.first(name).double(), step.module.get_parameter(name).detach().double()
    change = step.first_change(name)
    rounding = CHANGE_ROUNDING * change.abs() + WEIGHT_ROUNDING * (before.abs() + after.abs())
    return (after - before - change) / (rounding + SMALLEST_CHANGE)


def entries(of: Sequence[Tensor]) -> Tensor:
    """Return ENTRIES entries of each gradient, evenly spread from its first to its last."""
    flat = [gradient.reshape(-1) for gradient in of]
    return torch.cat([g[torch.linspace(0, g.numel() - 1, ENTRIES).long()] for g in flat])
