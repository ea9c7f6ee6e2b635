"""Training steps: forward, loss, backward and optimiser, as in the source of each network."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import Optimizer

from deepbench_ops.errors import Unsupported
from deepbench_ops.models import first_changes
from deepbench_ops.models.optimisers import Ftrl, Lamb

DECAY = 0.01
"""Weight decay of BERT (Devlin et al., 2018, appendix A.2) and of networks with its recipe."""

CROSS_ENTROPY = nn.CrossEntropyLoss()
"""Mean cross-entropy over all items. It is a module so that a trace of a step's layers shows it."""

PRODUCTS: dict[str, torch.dtype | None] = {
    "float32": None,
    "tf32": None,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
"""Types of the products in a training step, by precision; None for the type of the weights."""

SHARPNESS = 10.0
"""Factor on the cosines before DSSM's softmax: the paper's gamma, which was set on held-out
data."""


def _classes(scores: Tensor, label: Tensor) -> Tensor:
    return CROSS_ENTROPY(scores, label)


def _answer(scores: Tensor, ends: Tensor) -> Tensor:
    """Return the loss of scores (n, length, 2) for positions (n, 2) of begin and end."""
    return CROSS_ENTROPY(scores, ends)


def _pretraining(scores: tuple[Tensor, Tensor], words: Tensor, follows: Tensor) -> Tensor:
    guessed, following = scores
    return CROSS_ENTROPY(guessed, words.flatten()) + CROSS_ENTROPY(following, follows)


def _clicked(scores: Tensor, clicks: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(scores, clicks)


def _words(scores: Tensor, words: Tensor) -> Tensor:
    """Return the loss of scores (n, length, vocabulary) for the next words (n, length)."""
    return CROSS_ENTROPY(scores.flatten(0, 1), words.flatten())


def _first(likeness: Tensor, place: Tensor) -> Tensor:
    return CROSS_ENTROPY(SHARPNESS * likeness, place)


LOSSES: dict[str, Callable[..., Tensor]] = {
    "classes": _classes,
    "answer": _answer,
    "pretraining": _pretraining,
    "clicked": _clicked,
    "first": _first,
    "words": _words,
}


def _momentum(module: nn.Module) -> list[Optimizer]:
    return [torch.optim.SGD(_trained(module), lr=0.01, momentum=0.9, weight_decay=1e-4)]


def _descent(module: nn.Module) -> list[Optimizer]:
    return [torch.optim.SGD(_trained(module), lr=0.01)]


def _adam(module: nn.Module) -> list[Optimizer]:
    return [torch.optim.Adam(_trained(module))]


def _adamw(module: nn.Module) -> list[Optimizer]:
    return [torch.optim.AdamW(_decayed(module), lr=1e-4)]


def _lamb(module: nn.Module) -> list[Optimizer]:
    return [Lamb(_decayed(module))]


def _ftrl_adam(module: nn.Module) -> list[Optimizer]:
    named = list(module.named_parameters())
    wide = [parameter for name, parameter in named if name.startswith("wide")]
    deep = [parameter for name, parameter in named if not name.startswith("wide")]
    return [Ftrl(wide), torch.optim.Adam(deep, lr=3e-4)]


RECIPES: dict[str, Callable[[nn.Module], list[Optimizer]]] = {
    "momentum": _momentum,
    "descent": _descent,
    "adam": _adam,
    "adamw": _adamw,
    "lamb": _lamb,
    "ftrl_adam": _ftrl_adam,
}


def _trained(module: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def _decayed(module: nn.Module) -> list[dict[str, Any]]:
    """Return the parameter groups of BERT's optimiser: biases and normalisations do not decay."""
    trained = _trained(module)
    return [
        {"params": [each for each in trained if each.dim() > 1], "weight_decay": DECAY},
        {"params": [each for each in trained if each.dim() <= 1], "weight_decay": 0.0},
    ]


class TrainingStep:
    """One network with its batch and its optimisers, which can be reset to their initial state."""

    def __init__(
        self,
        module: nn.Module,
        loss: str,
        recipe: str,
        inputs: Sequence[Tensor],
        targets: Sequence[Tensor],
        mixed: torch.dtype | None = None,
        called: nn.Module | None = None,
    ) -> None:
        """mixed: type of the products, while weights stay float32; None for the type of the
        weights. called: wrapper of the module that is called instead of it, for example to
        average its gradients over processes."""
        self.module = module.train()
        self._called = called or module
        self.optimisers = RECIPES[recipe](module)
        self._loss, self._recipe = loss, recipe
        self._inputs, self._targets = inputs, targets
        self._mixed = mixed
        self._device = inputs[0].device.type
        self._scaler = _scaler(self._device, mixed)
        self._first = {name: t.detach().clone() for name, t in module.state_dict().items()}

    def loss(self) -> Tensor:
        """Return the loss of the batch with the current weights."""
        with torch.autocast(self._device, self._mixed, enabled=self._mixed is not None):
            return LOSSES[self._loss](self._called(*self._inputs), *self._targets)

    def step(self) -> Tensor:
        """Do one training step; return the loss before the step."""
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
        loss = self.loss()
        if self._scaler is None:
            loss.backward()
            for optimiser in self.optimisers:
                optimiser.step()
        else:
            self._scaler.scale(loss).backward()
            for optimiser in self.optimisers:
                self._scaler.step(optimiser)
            self._scaler.update()
        return loss.detach()

    def first_change(self, name: str) -> Tensor:
        """Return the change of a parameter in a first step by its present gradient, in float64."""
        parameter = self.module.get_parameter(name)
        ((optimiser, group),) = (
            (optimiser, group)
            for optimiser in self.optimisers
            for group in optimiser.param_groups
            if any(each is parameter for each in group["params"])
        )
        weights, gradient = (dense(each).double() for each in (self.first(name), parameter.grad))
        return first_changes.first_change(optimiser, group, weights, gradient)

    def first(self, name: str) -> Tensor:
        """Return the initial values of a parameter."""
        return self._first[name]

    def exact(self, rounding: torch.dtype | None = None) -> "TrainingStep":
        """Return the same step in float64, from the initial weights.

        rounding: type to which the values between layers are rounded, to find the error that this
        causes; None for no rounding.
        """
        module = copy.deepcopy(self.module).double()
        module.load_state_dict(self._first)
        if rounding is not None:
            _round_layers(module, rounding)
        batch = (doubled(self._inputs), doubled(self._targets))
        return TrainingStep(module, self._loss, self._recipe, *batch)

    @torch.no_grad()
    def restart(self, seed: int = 0) -> None:
        """Restore the initial weights, clear the state of the optimisers, and seed the dropout.

        The state is set to zero in place, so that no timed step allocates it. In a table with a
        sparse gradient only the changed rows are restored.
        """
        trained = dict(self.module.named_parameters())
        for name, values in self.module.state_dict().items():
            first, gradient = self._first[name], getattr(trained.get(name), "grad", None)
            if gradient is not None and gradient.is_sparse:
                rows = gradient._indices()[0]
                values[rows] = first[rows]
            else:
                values.copy_(first)
        for optimiser in self.optimisers:
            for state in optimiser.state.values():
                for remembered in state.values():
                    if isinstance(remembered, Tensor):
                        remembered.zero_()
        torch.manual_seed(seed)


class _Rounded(torch.autograd.Function):
    """Rounding to a type, of the value in the forward pass and of the gradient in the backward
    pass."""

    @staticmethod
    def forward(context: Any, values: Tensor, dtype: torch.dtype) -> Tensor:
        context.dtype = dtype
        return values.to(dtype).to(values.dtype)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return gradient.to(context.dtype).to(gradient.dtype), None


@torch.no_grad()
def _round_layers(module: nn.Module, dtype: torch.dtype) -> None:
    """Make every layer round its output and its gradient, and round the weights of products."""

    def rounded(layer: nn.Module, given: Any, made: Any) -> Any:
        real = isinstance(made, Tensor) and made.is_floating_point()
        return _Rounded.apply(made, dtype) if real else made

    for layer in module.modules():
        if not any(layer.children()):
            layer.register_forward_hook(rounded)
        if isinstance(layer, nn.Linear | nn.Conv2d):
            layer.weight.copy_(layer.weight.to(dtype))


def dense(values: Any) -> Tensor:
    """Return a tensor that may be sparse as a dense one."""
    made: Tensor = values.to_dense() if values.is_sparse else values
    return made


def doubled(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors, with floating-point ones in float64."""
    return [each.double() if each.is_floating_point() else each for each in tensors]


def mixed_type(precision: str, device: str) -> torch.dtype | None:
    """Return the type of the products in a training step, None for the type of the weights.

    Raises Unsupported for a precision that has no training on this device.
    """
    if precision == "tf32" and device == "cpu":
        raise Unsupported("tf32 exists only on NVIDIA GPUs, not on cpu")
    if precision == "float16" and device == "cpu":
        raise Unsupported(
            "float16 gradients need their loss scaled, which torch does on GPUs: on cpu mixed"
            " precision is bfloat16"
        )
    if precision not in PRODUCTS:
        raise Unsupported(f"{precision} has no training steps: one of {', '.join(PRODUCTS)}")
    return PRODUCTS[precision]


def _scaler(device: str, mixed: torch.dtype | None) -> Any:
    """Return the scaler of the loss for float16 gradients, None where none is needed."""
    if mixed is not torch.float16:
        return None
    if device != "cuda":
        return None
    newer = getattr(torch.amp, "GradScaler", None)  # torch 2.3 and later
    return torch.cuda.amp.GradScaler() if newer is None else newer(device)
