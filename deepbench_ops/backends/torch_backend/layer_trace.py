"""Trace of the layers of a step: the layer that makes each call, forward and backward.

Only layers whose calls are problems of a family count. In the forward pass torch's hooks of all
modules report which layer runs. When a layer returns, the trace adds hooks to its nodes in
autograd's graph, which report the layer in the backward pass.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.modules import module as every_module
from torch.utils._pytree import tree_flatten

from deepbench_ops.backends.torch_backend.layer_problems import problem_of
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem

FORWARD, BACKWARD = "forward", "backward"
LEAF = "AccumulateGrad"
"""Name of the nodes of weights, which several layers may share."""

OF_INPUT = ("backward_input", "backward_data")
"""Operations that compute the gradient of a layer's input, which a first layer does not need."""


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of a layer in one direction; two calls are never equal.

    direction: FORWARD or BACKWARD. operations: operations of the problem's family that make up this
    direction; () where the family has none.
    """

    problem: Problem
    direction: str
    operations: tuple[str, ...]


class LayerTrace:
    """Context in which `current` is the call of the outermost layer that runs, None for none."""

    def __init__(self) -> None:
        self.current: LayerCall | None = None
        self._open: list[nn.Module] = []
        self._hooks = ExitStack()

    def __enter__(self) -> "LayerTrace":
        before = every_module.register_module_forward_pre_hook(self._begins)
        after = every_module.register_module_forward_hook(self._ends)
        for hook in (before, after):
            self._hooks.callback(hook.remove)
        return self

    def __exit__(self, *raised: object) -> None:
        self._hooks.close()
        self.current = None

    def _begins(self, layer: nn.Module, given: tuple[Any, ...]) -> None:
        if self.current is not None:
            return
        problem = problem_of(layer, given)
        if problem is not None:
            self._open.append(layer)
            self.current = LayerCall(problem, FORWARD, problem.operations[:1])

    def _ends(self, layer: nn.Module, given: tuple[Any, ...], made: Any) -> None:
        if self.current is None or self._open[-1] is not layer:
            return
        self._open.pop()
        problem, self.current = self.current.problem, None
        inputs = _tensors(given)
        wanted = any(each.requires_grad for each in inputs)
        back = LayerCall(problem, BACKWARD, _backward(problem, wanted))
        for node in _nodes_between(inputs, _tensors(made)):
            self._watch(node, back)

    def _watch(self, node: Any, call: LayerCall) -> None:
        """Make `call` the current one while a node of autograd's graph runs."""
        if not hasattr(node, "register_prehook"):
            raise Unsupported("torch before 2.0 cannot list a training step by families")

        def begins(gradients: object) -> None:
            self.current = call

        def ends(made: object, gradients: object) -> None:
            self.current = None

        self._hooks.callback(node.register_prehook(begins).remove)
        self._hooks.callback(node.register_hook(ends).remove)


def _backward(problem: Problem, wanted: bool) -> tuple[str, ...]:
    """Return the operations of a backward pass. wanted: whether with the gradient of the input."""
    return tuple(
        each
        for each in problem.operations
        if each.startswith(BACKWARD) and (wanted or each not in OF_INPUT)
    )


def _nodes_between(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Iterator[Any]:
    """Yield the nodes of autograd's graph between outputs and inputs."""
    seen = {each.grad_fn for each in inputs}
    left = [each.grad_fn for each in outputs]
    while left:
        node = left.pop()
        if node is None or node in seen or node.name().endswith(LEAF):
            continue
        seen.add(node)
        yield node
        left += [before for before, _ in node.next_functions]


def _tensors(values: object) -> list[Tensor]:
    return [each for each in tree_flatten(values)[0] if isinstance(each, Tensor)]
