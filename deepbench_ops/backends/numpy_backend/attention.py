"""Attention in numpy: a product, a softmax and a product; and the gradients of q, k and v.

All query heads that share a head of keys are one matrix, so each product is one call of np.matmul.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import KEY_GRADIENT, VALUE_GRADIENT, AttentionInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, Values, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED, Attention

Arrays = dict[str, np.ndarray]


def build(
    backend: Backend, problem: Attention, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare attention or its gradients, in float32, or in float16 computed in float32.

    Raises Unsupported for an operation that names an implementation: numpy has none.
    """
    refuse_lacking(precision)
    if operation in FORCED:
        raise Unsupported("numpy has no attention of its own: users write products and a softmax")
    drawn = attention.inputs(problem, precision, seed)
    return prepared(backend, drawn, precision, operation)


def prepared(backend: Backend, drawn: AttentionInputs, precision: str, operation: str) -> Kernel:
    """Return the kernel of attention, or of its gradients, with these operands."""
    problem = drawn.problem
    hidden = ~attention.mask(problem.sq, problem.skv) if problem.causal else None
    names = ("q", "k", "v", "gradient") if operation == "backward" else ("q", "k", "v")
    operands = {name: getattr(drawn, name) for name in names}
    forward = {name: _wide(each, problem) for name, each in operands.items()}
    further: Mapping[str, Values] = {}
    newest: LatestOutput
    if operation == "backward":
        o, p = _forward(forward, hidden, problem)
        newest = LatestOutput(lambda: _backward(_widened(operands, forward), o, p, problem))
        further = {KEY_GRADIENT: lambda: newest.output[1], VALUE_GRADIENT: lambda: newest.output[2]}
    else:
        newest = LatestOutput(lambda: (_forward(_widened(operands, forward), hidden, problem)[0],))
    kind = operands["q"].dtype
    call = newest.run if kind == np.float32 else _narrowing(newest, kind)
    return assemble(
        backend,
        problem,
        precision,
        operation,
        drawn,
        Prepared(
            run=call,
            reset=newest.reset,
            output=lambda: _by_head(newest.output[0], problem),
            further=further,
            notes={
                "route": "np.matmul and ufuncs, in float32",
                "implementation": "math",
                "layout": "(batch, head, token, number)",
                "output": "a new one in every call",
            },
            implementation=backend.implementation,
        ),
    )


def _narrowing(newest: LatestOutput, kind: Any) -> Callable[[], None]:
    """Return a call that computes the outputs and then rounds them to the type `kind`."""

    def run() -> None:
        newest.run()
        newest.output = tuple(each.astype(kind) for each in newest.output)

    return run


def _wide(values: np.ndarray, problem: Any) -> np.ndarray:
    """Return float32 values grouped by head of keys, (b, hkv, rows, size); the rows are all tokens
    of all query heads in the group."""
    grouped = values.reshape(problem.b, problem.hkv, -1, values.shape[-1])
    return grouped.astype(np.float32, copy=False)


def _widened(operands: Arrays, wide: Arrays) -> Arrays:
    """Return the operands in float32; those of another type are converted again."""
    for name, values in operands.items():
        if values.dtype != np.float32:
            np.copyto(wide[name], values.reshape(wide[name].shape))
    return wide


def _by_head(values: np.ndarray, problem: Any) -> np.ndarray:
    """Return an output grouped by head of keys with the axes (b, hq, sq, size)."""
    return values.reshape(problem.b, problem.hq, problem.sq, values.shape[-1])


def _forward(
    given: Arrays, hidden: np.ndarray | None, problem: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs and probabilities."""
    p = np.matmul(given["q"], given["k"].swapaxes(2, 3))
    p *= np.float32(problem.d**-0.5)
    if hidden is not None:
        by_query = p.reshape(problem.b, problem.hq, problem.sq, problem.skv)
        np.copyto(by_query, np.float32(-np.inf), where=hidden)
    p -= p.max(3, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(3, keepdims=True)
    return np.matmul(p, given["v"]), p


def _backward(given: Arrays, o: np.ndarray, p: np.ndarray, problem: Any) -> tuple[np.ndarray, ...]:
    """Return the gradients of q, k and v, from outputs and probabilities of the forward pass."""
    gradient = given["gradient"]
    of_v = np.matmul(p.swapaxes(2, 3), gradient)
    of_scores = np.matmul(gradient, given["v"].swapaxes(2, 3))
    of_scores -= (gradient * o).sum(3, keepdims=True)
    of_scores *= p
    of_scores *= np.float32(problem.d**-0.5)
    of_q = np.matmul(of_scores, given["k"])
    return of_q, np.matmul(of_scores.swapaxes(2, 3), given["q"]), of_v
