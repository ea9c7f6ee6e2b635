"""Training steps in MindSpore: forward, loss, backward, optimiser.

They are those of `models.training_steps`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.experimental import optim

from deepbench_ops.models.batches import Form
from deepbench_ops.models.mindspore.layers import parameters
from deepbench_ops.models.network_catalogue import Network
from deepbench_ops.models.random_weights import ParameterShape, drawn


def _pretraining(scores: tuple[Tensor, Tensor], words: Tensor, follows: Tensor) -> Tensor:
    guessed, following = scores
    return ops.cross_entropy(guessed, words.flatten()) + ops.cross_entropy(following, follows)


LOSSES: dict[str, Callable[..., Tensor]] = {
    "classes": ops.cross_entropy,
    "pretraining": _pretraining,
}


def _momentum(trained: Sequence[Parameter]) -> Any:
    # From a plain list MindSpore would not decay the weights of normalisations; torch does.
    decayed = [{"params": list(trained), "weight_decay": 1e-4}]
    return nn.Momentum(decayed, learning_rate=0.01, momentum=0.9)


def _adamw(trained: Sequence[Parameter]) -> Any:
    decayed = {"params": [each for each in trained if each.ndim > 1], "weight_decay": 0.01}
    others = {"params": [each for each in trained if each.ndim <= 1], "weight_decay": 0.0}
    return optim.AdamW([decayed, others], lr=1e-4)


RECIPES: dict[str, Callable[[Sequence[Parameter]], Any]] = {
    "momentum": _momentum,
    "adamw": _adamw,
}


REMEMBERED = {nn.Momentum: ("moments",), optim.AdamW: ("exp_avg", "exp_avg_sq", "state_step")}
"""Names of the state of the weights, by class of optimiser."""


def filled(network: Network, form: Form, seed: int) -> nn.Cell:
    """Return a network with the same weights as in torch."""
    cell = network.make(form, "mindspore")
    order = list(parameters(cell))
    wanted = [
        ParameterShape(p.name, tuple(p.shape), 1.0 if scaled else None) for p, scaled in order
    ]
    for (parameter, _), (_, values) in zip(order, drawn(wanted, seed), strict=True):
        parameter.set_data(Tensor(values))
    return cell


class TrainingStep:
    """One network with its batch and its optimiser, which can be reset to their initial state.

    Loss and gradients are compiled into one graph, as users of MindSpore do in training.
    """

    def __init__(
        self, cell: nn.Cell, network: Network, inputs: Sequence[Tensor], targets: Sequence[Tensor]
    ) -> None:
        self.cell = cell.set_train()
        self.trained = [p for p, _ in parameters(cell) if p.requires_grad]
        self.gradients: Sequence[Tensor] = ()
        self._loss = LOSSES[network.loss]
        self._batch = inputs, targets
        self._optimiser = RECIPES[network.recipe](self.trained)
        places = {id(parameter): place for place, parameter in enumerate(self.trained)}
        self._order = [places[id(parameter)] for parameter in self._optimiser.parameters]
        weights = ms.ParameterTuple(self.trained)
        self._backward = ms.jit(ms.value_and_grad(self.loss, None, weights))
        self._first = [(p, p.asnumpy().copy()) for p in self._remembered()]

    def _remembered(self) -> Iterator[Parameter]:
        """Yield all parameters that a step changes: weights, running statistics, optimiser
        state."""
        yield from self.cell.get_parameters()
        for name in REMEMBERED[type(self._optimiser)]:
            kept = getattr(self._optimiser, name)
            yield from [kept] if isinstance(kept, Parameter) else kept

    @property
    def drops(self) -> bool:
        """Whether the network has dropout."""
        return any(isinstance(c, nn.Dropout) and c.p for _, c in self.cell.cells_and_names())

    def loss(self) -> Tensor:
        """Return the loss of the batch with the current weights."""
        inputs, targets = self._batch
        return self._loss(self.cell(*inputs), *targets)

    def step(self) -> Tensor:
        """Do one training step; return the loss before the step."""
        loss, self.gradients = self._backward()
        self._optimiser(tuple(self.gradients[place] for place in self._order))
        return loss

    def restart(self, seed: int = 0) -> None:
        """Restore the initial weights and state, and seed the dropout."""
        for parameter, values in self._first:
            ops.assign(parameter, Tensor(values))  # in place: the compiled graph has its address
        ms.set_seed(seed)

    def without_dropout(self) -> None:
        """Switch dropout off."""
        for _, cell in self.cell.cells_and_names():
            if isinstance(cell, nn.Dropout):
                cell.p = 0.0


def tensors(arrays: Sequence[np.ndarray]) -> list[Tensor]:
    """Return a batch as tensors, with int32 integers, which MindSpore's look-ups and comparisons
    require."""
    return [Tensor(a.astype(np.int32) if a.dtype == np.int64 else a) for a in arrays]
