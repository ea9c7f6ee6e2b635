"""Change of weights in an optimiser's first step, from its published formula.

In a first step the averages of Adam and LAMB, corrected for their start at zero, are the gradient
and its square, so that no state is needed. Hyperparameters are those of the optimiser's group.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from deepbench_ops.models.optimisers import Ftrl, Lamb

Group = Mapping[str, Any]


def first_change(optimiser: Optimizer, group: Group, weights: Tensor, gradient: Tensor) -> Tensor:
    """Return the change of a whole tensor; weights and gradient in float64, as before the step."""
    return _FORMULAS[type(optimiser)](group, weights, gradient)


def _descent(group: Group, weights: Tensor, gradient: Tensor) -> Tensor:
    """SGD: the momentum is the gradient itself in a first step."""
    return -group["lr"] * (gradient + group["weight_decay"] * weights)


def _adam(group: Group, weights: Tensor, gradient: Tensor) -> Tensor:
    """Adam (Kingma and Ba, 2015, algorithm 1), without weight decay."""
    return -group["lr"] * gradient / (gradient.abs() + group["eps"])


def _adamw(group: Group, weights: Tensor, gradient: Tensor) -> Tensor:
    """AdamW (Loshchilov and Hutter, 2019, algorithm 2)."""
    return _adam(group, weights, gradient) - group["lr"] * group["weight_decay"] * weights


def _lamb(group: Group, weights: Tensor, gradient: Tensor) -> Tensor:
    """LAMB (You et al., 2019, algorithm 2)."""
    update = gradient / (gradient.abs() + group["eps"]) + group["weight_decay"] * weights
    lengths = weights.norm(), update.norm()
    trust = float(lengths[0] / lengths[1]) if min(lengths) > 0 else 1.0
    return -group["lr"] * trust * update


def _ftrl(group: Group, weights: Tensor, gradient: Tensor) -> Tensor:
    """FTRL-Proximal (McMahan et al., 2013, algorithm 1)."""
    linear = gradient - gradient.abs() / group["lr"] * weights
    steepness = (group["beta"] + gradient.abs()) / group["lr"] + group["l2"]
    beyond = linear - linear.sign() * group["l1"]
    after = torch.where(linear.abs() > group["l1"], -beyond / steepness, 0.0)
    return after - weights


_FORMULAS: dict[type[Optimizer], Callable[[Group, Tensor, Tensor], Tensor]] = {
    torch.optim.SGD: _descent,
    torch.optim.Adam: _adam,
    torch.optim.AdamW: _adamw,
    Lamb: _lamb,
    Ftrl: _ftrl,
}
