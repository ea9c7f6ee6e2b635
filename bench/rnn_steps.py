"""Compare ways to write a recurrent layer in a framework.

In one process, slices of several ways to compute the same pass alternate, on the same operands.
Prints the median milliseconds of each way, and the median ratio to the first, which is the one that
the suite measures. All forward passes must end in the same hidden state. Backward passes may start
from different activations, because autograd uses those of its own forward pass.

Usage: python bench/rnn_steps.py [--framework torch] [--compile] [--problem lstm_h256_n1_t150]
"""

import argparse
import operator
import os
import statistics
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from tabulate import tabulate

from deepbench_ops import problems
from deepbench_ops.backends import load
from deepbench_ops.backends.families import rnn
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.measure import kernel_measurement, threads

PROBLEMS = (
    "vanilla_h64_n1_t96",
    "vanilla_h1760_n16_t50",
    "lstm_h256_n1_t150",
    "lstm_h1024_n64_t25",
    "gru_h512_n1_t1",
    "gru_h1536_n4_t187",
)
SLICE_SECONDS = 0.02

Ways = dict[str, Callable[[], Any]]
"""Functions that compute the whole pass; a forward pass returns the last hidden state."""


def numpy_forward(drawn: RnnInputs) -> Ways:
    from deepbench_ops.backends.numpy_backend import rnn as ours

    r, cell, size = drawn.recurrent, drawn.problem.cell, drawn.problem.hidden

    def sigmoid(a: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-a))

    def plain() -> np.ndarray:
        h, c, states = drawn.first_hidden, drawn.first_cell, []
        for x in drawn.products:
            p = h @ r
            if cell == "vanilla":
                h = np.maximum(x + p, 0)
            elif cell == "lstm":
                a = x + p
                o, i, f = np.split(sigmoid(a[:, : 3 * size]), 3, axis=1)
                c = f * c + i * np.tanh(a[:, 3 * size :])
                h = o * np.tanh(c)
            else:
                reset, z = np.split(sigmoid((x + p)[:, : 2 * size]), 2, axis=1)
                n = np.maximum(x[:, 2 * size :] + reset * p[:, 2 * size :], 0)
                h = n + z * (h - n)
            states.append(h)
        return states[-1]

    states = np.empty((drawn.problem.timesteps + 1, *drawn.first_hidden.shape), r.dtype)
    states[0] = drawn.first_hidden
    run = ours.FORWARD[cell](drawn, list(states))
    return {
        "buffers, sigmoid by tanh": lambda: (run(), states[-1])[1],
        "plain expressions, sigmoid by exp": plain,
    }


def numpy_backward(drawn: RnnInputs) -> Ways:
    from deepbench_ops.backends.numpy_backend import rnn as ours

    def with_blocks(elements: int) -> Callable[[], Any]:
        default, ours.BLOCK_ELEMENTS = ours.BLOCK_ELEMENTS, elements
        prepared = ours._backward(drawn)
        ours.BLOCK_ELEMENTS = default
        return lambda: (prepared.run(), prepared.result)[1]

    return {
        "factors by blocks": with_blocks(ours.BLOCK_ELEMENTS),
        "factors step by step": with_blocks(1),
        "factors of all steps at once": with_blocks(2**40),
    }


def torch_forward(drawn: RnnInputs, compiled: bool) -> Ways:
    import torch

    from deepbench_ops.backends.torch_backend import rnn as ours
    from deepbench_ops.backends.torch_backend import rnn_steps

    name = f"{drawn.problem.cell}_forward"
    states, arguments = ours.forward_operands(load("torch"), drawn)
    x, first = torch.from_numpy(drawn.products), torch.from_numpy(drawn.first_hidden)
    first_cell, r = torch.from_numpy(drawn.first_cell), torch.from_numpy(drawn.recurrent)
    turned = [
        a.t().contiguous().t() if isinstance(a, torch.Tensor) and a.shape == r.shape else a
        for a in arguments
    ]
    step = torch_step(drawn)

    def loop(one: Callable[..., Any]) -> Callable[[], Any]:
        def run() -> Any:
            h, c, kept = first, first_cell, []
            for now in x:
                h, c = one(now, h, c, r)
                kept.append(h)
            return h

        return torch.no_grad()(run)

    ways = {
        "buffers, TorchScript": lambda: (scripted(name)(*arguments), states[-1])[1],
        "buffers, as it is": lambda: (getattr(rnn_steps, name)(*arguments), states[-1])[1],
        "buffers, R row-major": lambda: (getattr(rnn_steps, name)(*turned), states[-1])[1],
        "plain expressions": loop(step),
    }
    if product := packed_product(drawn):
        ways["plain expressions, R packed"] = loop(torch_step(drawn, product))
    if compiled:
        ways["torch.compile of a step"] = compiled_now(lambda: loop(torch.compile(step)))
        with torch._inductor.config.patch(freezing=True):
            ways["torch.compile of a step, R frozen"] = compiled_now(
                lambda: loop(torch.compile(frozen_step(drawn), dynamic=False))
            )
    return ways


def compiled_now(make: Callable[[], Callable[[], Any]]) -> Callable[[], Any]:
    """Return a way after its compilation, and print how long that took."""
    import torch

    torch.compiler.reset()
    start = time.perf_counter()
    way = make()
    way()
    print(f"torch.compile took {time.perf_counter() - start:.1f} s")
    return way


def frozen_step(drawn: RnnInputs) -> Any:
    """Return a step with R as a parameter, which torch's compiler may then pack as a constant."""
    import torch

    r, step = torch.from_numpy(drawn.recurrent), torch_step(drawn)

    class Step(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.r = torch.nn.Parameter(r, requires_grad=False)

        def forward(self, x: Any, h: Any, c: Any, _: Any) -> Any:
            return step(x, h, c, self.r)

    return Step().eval()


def packed_product(drawn: RnnInputs) -> Callable[..., Any] | None:
    """Return a function for h·R with R packed in advance; None if torch lacks the operator.

    torch's compiler calls it for frozen weights; it is no part of torch's public interface.
    """
    import torch

    try:
        reorder, linear = torch.ops.mkl._mkl_reorder_linear_weight, torch.ops.mkl._mkl_linear
        turned = torch.from_numpy(drawn.recurrent).t().contiguous()
        packed = reorder(turned, drawn.problem.batch)
    except (AttributeError, NotImplementedError, RuntimeError):
        return None
    return lambda h, r: linear(h, packed, turned, None, len(h))


def torch_step(
    drawn: RnnInputs, product: Callable[..., Any] = operator.matmul
) -> Callable[..., Any]:
    import torch

    cell, size = drawn.problem.cell, drawn.problem.hidden

    def step(x: Any, h: Any, c: Any, r: Any) -> Any:
        p = product(h, r)
        if cell == "vanilla":
            return torch.relu(x + p), c
        if cell == "lstm":
            a = x + p
            o, i, f = torch.sigmoid(a[:, : 3 * size]).chunk(3, 1)
            c = f * c + i * torch.tanh(a[:, 3 * size :])
            return o * torch.tanh(c), c
        reset, z = torch.sigmoid((x + p)[:, : 2 * size]).chunk(2, 1)
        n = torch.relu(x[:, 2 * size :] + reset * p[:, 2 * size :])
        return n + z * (h - n), c

    return step


def torch_backward(drawn: RnnInputs) -> Ways:
    import torch

    from deepbench_ops.backends.torch_backend import rnn as ours
    from deepbench_ops.backends.torch_backend import rnn_steps

    name = f"{drawn.problem.cell}_backward"
    _, output, arguments = ours.backward_operands(load("torch"), drawn)
    *others, block = arguments
    steps = drawn.problem.timesteps
    r = torch.from_numpy(drawn.recurrent).requires_grad_()
    h, c, states = torch.from_numpy(drawn.first_hidden), torch.from_numpy(drawn.first_cell), []
    for x in torch.from_numpy(drawn.products):
        h, c = torch_step(drawn)(x, h, c, r)
        states.append(h)
    whole, upstream = torch.stack(states), torch.from_numpy(drawn.upstream)
    loop = getattr(rnn_steps, name)
    return {
        "by hand, TorchScript": lambda: (scripted(name)(*others, block), output)[1],
        "by hand, as it is": lambda: (loop(*others, block), output)[1],
        "by hand, factors step by step": lambda: (loop(*others, 1), output)[1],
        "by hand, factors of all steps at once": lambda: (loop(*others, steps), output)[1],
        "autograd, graph retained": lambda: torch.autograd.grad(
            whole, r, upstream, retain_graph=True
        ),
    }


@cache
def scripted(name: str) -> Callable[..., Any]:
    import torch

    from deepbench_ops.backends.torch_backend import rnn_steps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.script(getattr(rnn_steps, name))


def demand_agreement(ways: Ways) -> None:
    """Raise AssertionError unless all ways end in the same hidden state as the first."""
    first, *others = (np.asarray(way()) for way in ways.values())
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-4)


def seconds(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def compare(ways: Ways, slices: int) -> dict[str, list[float]]:
    """Return the seconds per call of alternating slices, whose order is reversed every time."""
    threads.unpin()  # a thread pool that is made now must not be bound to one core
    calls = {
        name: max(1, round(SLICE_SECONDS / min(seconds(way, 1) for _ in range(4))))
        for name, way in ways.items()
    }
    threads.pin(threads.wanted())
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for index in range(slices):
        for name in list(ways)[:: 1 if index % 2 else -1]:
            taken[name].append(seconds(ways[name], calls[name]))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=("numpy", "torch"), default="torch")
    parser.add_argument("--problem", action="append", help="an id; may be repeated")
    parser.add_argument("--slices", type=int, default=9)
    parser.add_argument("--compile", action="store_true", help="torch.compile too (slow to start)")
    arguments = parser.parse_args()

    os.environ["DEEPBENCH_FRAMEWORK"] = arguments.framework
    kernel_measurement.preload(calibrating=False)
    load(arguments.framework).set_threads(threads.wanted())
    print(f"{arguments.framework}, {threads.wanted()} threads, {arguments.slices} slices each")
    for id in arguments.problem or PROBLEMS:
        drawn = rnn.inputs(problems.find("rnn", id), "float32")
        passes: dict[str, Ways]
        if arguments.framework == "numpy":
            passes = {"forward": numpy_forward(drawn), "backward": numpy_backward(drawn)}
        else:
            passes = {
                "forward": torch_forward(drawn, arguments.compile),
                "backward": torch_backward(drawn),
            }
        demand_agreement(passes["forward"])
        rows = []
        for operation, ways in passes.items():
            taken = compare(ways, arguments.slices)
            ours = next(iter(taken.values()))
            for name, times in taken.items():
                ratio = statistics.median(b / a for a, b in zip(ours, times, strict=True))
                rows.append([operation, name, 1e3 * statistics.median(times), ratio])
        head = [id, "way", "ms", "/ first"]
        print(tabulate(rows, headers=head, floatfmt=("", "", ".3f", ".3f")), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
