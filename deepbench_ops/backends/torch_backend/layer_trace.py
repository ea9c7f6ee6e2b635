"""Layers of a step that are problems of a family: which of them makes each call, either way.

Forward, torch's hooks of all modules say which layer runs. Its nodes in the graph of gradients are
found when it returns, and say so when they run backward.
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
"""Name of the nodes that belong to a weight, which several layers may share."""
OF_INPUT = ("backward_input", "backward_data")
"""Operations that make a gradient which the first layer of a network does not need."""


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of a layer in one direction; each is its own, however alike two are.

    operations: those of its family that this direction consists of; () where the family times none.
    """

    problem: Problem
    direction: str
    operations: tuple[str, ...]


class LayerTrace:
    """Context in which `current` is the outermost layer that runs, forward or backward."""

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
        """Make `call` current while a node of the graph of gradients runs."""
        if not hasattr(node, "register_prehook"):
            raise Unsupported("a training step is listed by families from torch 2.0 on")

        def begins(gradients: object) -> None:
            self.current = call

        def ends(made: object, gradients: object) -> None:
            self.current = None

        self._hooks.callback(node.register_prehook(begins).remove)
        self._hooks.callback(node.register_hook(ends).remove)


def _backward(problem: Problem, wanted: bool) -> tuple[str, ...]:
    """Return the operations of a backward pass, without the gradient of inputs if not wanted."""
    return tuple(
        each
        for each in problem.operations
        if each.startswith(BACKWARD) and (wanted or each not in OF_INPUT)
    )


def _nodes_between(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Iterator[Any]:
    """Yield the nodes of the graph of gradients that lead from outputs back to inputs."""
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
