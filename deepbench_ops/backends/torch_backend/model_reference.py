"""Reference values of a network's outputs, and the error that each precision may have.

The truth of an inference is the same network in float64, on the first and the last item. Of a
training step it is, for the small twin, the loss and some gradients in float64; for the network
itself the loss that a forward pass alone gives, since a step in float64 would take minutes.
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
    ModelJudge,
    StepErrors,
)
from deepbench_ops.backends.kernel import widened
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.network import as_tensors, asked, weighted
from deepbench_ops.backends.torch_backend.tensors import on_host
from deepbench_ops.models.training import TrainingStep, doubled, mixed_type
from deepbench_ops.problems.model import Model

TOLERANCE = {"float32": 2e-5, "tf32": 2e-2, "bfloat16": 0.15, "float16": 0.03, "int8": 0.35}
"""How far an output may be off, as a part of the typical one (root mean square). Many layers add up
their rounding; docs/reference/method.md says what was found and what it must be below."""

GRADIENT_TOLERANCE = {"float32": 0.02, "tf32": 0.2, "bfloat16": 0.02, "float16": 0.02}
"""The root mean square of the errors of a gradient's entries, as a part of that of the gradient.
Where rounding moves a number across a ReLU's corner, what passes there is all or nothing: in
float32 that happens once in some networks, in 16 bits in every one, which is allowed for apart. A
gradient that is missing is off by 1, another layer's by 1.4."""

USUAL_OUTPUTS = 2000
"""Outputs of two items of the networks that TOLERANCE was chosen on, at most."""

ROUNDING = 4.0
"""In 16 bits, how many times what rounding costs the same step in float64 a gradient may be off.
That depends on the network and its batch: a normalisation over a few numbers multiplies it."""

MOST_ITEMS = 64
"""Items whose outputs say how large a typical one is; fewer of networks of many FLOPs. An output
of two numbers is near zero now and then, and typical of nothing."""

UNSETTLED = 0.25
"""Two experts whose scores lie nearer to each other than so much of what an output may be off may
be chosen in either order: rounding decides."""

OTHER_EXPERT = 3.0
"""How far an output may be off where another expert was chosen, as a part of the typical one."""

OTHERS = 1000
"""Added to the seed, for those other items."""

SMALL_GRADIENT = 0.1
"""Gradients smaller than so much of the largest one are what rounding makes of zeros: those of the
keys' biases, which the softmax behind them takes no notice of."""


def of_most(outputs: int) -> float:
    """Return how many times as large the worst of so many errors is as of USUAL_OUTPUTS.

    Errors by rounding are nearly normal, and the worst of n is near sqrt(2·ln n) of their standard
    deviations: 1.28 times as large of the 256,512 scores of two words as of 2,000. At least 1.
    """
    return math.sqrt(math.log(max(outputs, USUAL_OUTPUTS)) / math.log(USUAL_OUTPUTS))


@dataclass(frozen=True)
class TorchJudge(ModelJudge):
    """A judge that allows what a precision explains."""

    precision: str

    def allowing(self, expected: Tensor, scale: Tensor | float) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of entries that are typically as large as `scale`."""
        limit = TOLERANCE[self.precision] * of_most(expected.numel())
        allowed = torch.as_tensor(limit * scale).expand(expected.shape)
        return widened(on_host(expected)), widened(on_host(allowed))


@dataclass(frozen=True)
class InferenceJudge(TorchJudge):
    """The network in float64 on the first and the last item: (2, numbers that come out).

    From newly drawn weights and inputs of float32, not from what runs: what is lost where these
    are rounded to 16 or 8 bits is part of what a precision is off. Errors are allowed as parts of
    the typical output, that of these and of other items; in int8 of the item's own where that is
    larger, since a range calibrated on other items cuts off a part of its numbers. Where rounding
    decides which expert a token goes to, another one's output is allowed for.
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
        """The root mean square of the true outputs."""
        return float(typical(self._found[0]))

    @cached_property
    def _found(self) -> tuple[Tensor, Tensor | None]:
        """The true outputs of the first and the last item, and of pairs of others: (pairs, 2,
        numbers that come out); and which of the first pair's rounding may change altogether."""
        form = asked(self.problem)
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
class LossJudge(TorchJudge):
    """The loss of a forward pass alone, from the same weights and with the same dropout."""

    step: TrainingStep
    seed: int

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        self.step.restart(self.seed)
        with torch.no_grad():
            loss = self.step.loss().double().reshape(1)
        return self.allowing(loss, typical(loss))


@dataclass(frozen=True)
class StepJudge(StepErrors, TorchJudge):
    """The loss and some gradients of the same step in float64.

    device: on which the step is trained.
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
        allowed = torch.cat([of_loss.reshape(1), of_gradients.repeat_interleave(ENTRIES)])
        expected = torch.cat([loss.detach(), entries(found)])
        return widened(on_host(expected)), widened(on_host(allowed))


def items(output: Tensor | tuple[Tensor, ...], batch: int) -> Tensor:
    """Return all that comes out of a network, a row for each item."""
    tensors = output if isinstance(output, tuple) else (output,)
    return torch.cat([tensor.reshape(batch, -1) for tensor in tensors], 1)


def typical(values: Tensor) -> Tensor:
    """Return the root of the mean square."""
    return values.square().mean().sqrt()


def root_mean_square(values: np.ndarray) -> float:
    """Return the same of an array."""
    return float((values**2).mean()) ** 0.5


def gradients(module: nn.Module) -> list[Tensor]:
    """Return the gradients of GRADIENTS parameters from all over the network, in float64."""
    found = [p.grad for p in module.parameters() if p.grad is not None]
    places = np.linspace(0, len(found) - 1, GRADIENTS).astype(int)
    return [(g.to_dense() if g.is_sparse else g).double() for g in (found[i] for i in places)]


def entries(of: Sequence[Tensor]) -> Tensor:
    """Return ENTRIES entries of each gradient, from its first to its last."""
    flat = [gradient.reshape(-1) for gradient in of]
    return torch.cat([g[torch.linspace(0, g.numel() - 1, ENTRIES).long()] for g in flat])
