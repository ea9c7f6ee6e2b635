"""Optimisers of the published tables that torch does not have."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer


class Lamb(Optimizer):
    """LAMB (You et al., 2019, arXiv:1904.00962, algorithm 2): Adam's step, scaled for each tensor.

    The step of each tensor gets the norm of the tensor, unless one of both norms is zero.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(parameters, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update every tensor that has a gradient."""
        for group in self.param_groups:
            for weights in group["params"]:
                if weights.grad is not None:
                    _lamb(weights, weights.grad, self.state[weights], group)


def _lamb(weights: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    if not state:
        state["step"] = torch.zeros(())
        state["mean"] = torch.zeros_like(weights)
        state["square"] = torch.zeros_like(weights)
    state["step"] += 1
    step = float(state["step"])
    first, second = group["betas"]
    mean, square = state["mean"], state["square"]
    mean.mul_(first).add_(gradient, alpha=1 - first)
    square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
    spread = (square / (1 - second**step)).sqrt_().add_(group["eps"])
    update = (mean / (1 - first**step)).div_(spread).add_(weights, alpha=group["weight_decay"])
    length, step_length = weights.norm(), update.norm()
    trust = torch.where((length > 0) & (step_length > 0), length / step_length, 1.0)
    weights.sub_(update.mul_(trust * group["lr"]))


class Ftrl(Optimizer):
    """FTRL-Proximal (McMahan et al., 2013, doi:10.1145/2487575.2488200, algorithm 1).

    A weight stays exactly zero until the sum of its gradients exceeds `l1`.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 0.05,
        beta: float = 1.0,
        l1: float = 1e-8,
        l2: float = 1e-8,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "beta": beta, "l1": l1, "l2": l2})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update every tensor that has a gradient."""
        for group in self.param_groups:
            for weights in group["params"]:
                if weights.grad is not None:
                    _ftrl(weights, weights.grad, self.state[weights], group)


def _ftrl(weights: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    if not state:
        state["linear"] = torch.zeros_like(weights)
        state["square"] = torch.zeros_like(weights)
    linear, square, rate = state["linear"], state["square"], group["lr"]
    before = square.sqrt()
    square.addcmul_(gradient, gradient)
    after = square.sqrt()
    linear.add_(gradient).sub_((after - before).div_(rate).mul_(weights))
    beyond = (linear.abs() - group["l1"]).clamp_(min=0).mul_(linear.sign())
    weights.copy_(beyond.neg_().div_((after + group["beta"]).div_(rate).add_(group["l2"])))
