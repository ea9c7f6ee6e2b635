"""Recurrent layers in numpy, step by step: one product a step for all gates, then ufuncs.

All views are made before the first call, and all results are written into buffers, so a step only
calls its operations. A sigmoid is 1/2 + 1/2 tanh(x/2): numpy has a fast tanh but no sigmoid, and
this form cannot overflow. `bench/rnn_steps.py` compares it with the form by exp.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import rnn
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rnn import Rnn
from deepbench_ops.random_operands import aligned_empty

BLOCK_ELEMENTS = 2**16
"""Number of gate entries whose factors a backward pass computes at once."""

PRODUCTS = {
    "float32": "np.matmul through BLAS",
    "float16": "np.matmul by numpy's own loop adding in float32, no BLAS",
}
"""Notes for the record on the products, by precision."""

STEPS = {
    "forward": "a Python loop with one product a step for all gates, ufuncs into buffers",
    "backward": "a Python loop with one product a step, ufuncs into buffers; one product over all"
    " steps for dR",
}


def build(backend: Backend, problem: Rnn, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare a published pass in float32 (BLAS) or float16 (numpy's own, slow loops).

    Raises Unsupported for the operations of a framework's own layer: numpy has none.
    """
    refuse_lacking(precision)
    if operation not in STEPS:
        raise Unsupported("numpy has no recurrent layer of its own: users write the steps")
    drawn = rnn.inputs(problem, precision, seed)
    prepared = (_forward if operation == "forward" else _backward)(drawn)
    if precision == "float32":
        prepared = replace(prepared, implementation=backend.implementation)
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _forward(drawn: RnnInputs) -> Prepared:
    problem, first = drawn.problem, drawn.first_hidden
    states = aligned_empty((problem.timesteps + 1, *first.shape), first.dtype)
    states[0] = first
    output = states[1:]
    return Prepared(
        run=FORWARD[problem.cell](drawn, list(states)),
        reset=partial(output.fill, np.nan),
        output=lambda: output,
        notes={"route": f"{STEPS['forward']}; {PRODUCTS[drawn.precision]}"},
    )


def vanilla_forward(drawn: RnnInputs, h: list[np.ndarray]) -> Callable[[], object]:
    """Return a function that computes h[t + 1] = ReLU(x[t] + h[t]·R) for all steps."""
    matmul, add, maximum = np.matmul, np.add, np.maximum
    r, zero = drawn.recurrent, drawn.recurrent.dtype.type(0)
    steps = list(zip(drawn.products, h[:-1], h[1:], strict=True))

    def run() -> None:
        for x, before, after in steps:
            matmul(before, r, after)
            add(after, x, after)
            maximum(after, zero, out=after)

    return run


def lstm_forward(drawn: RnnInputs, h: list[np.ndarray]) -> Callable[[], object]:
    """Return a function that computes all steps: o, i, f, g from x[t] + h[t]·R; c = f c + i g;
    h[t + 1] = o tanh(c)."""
    matmul, add, multiply, tanh = np.matmul, np.add, np.multiply, np.tanh
    r, first = drawn.recurrent, drawn.first_cell
    size, half = first.shape[1], drawn.recurrent.dtype.type(0.5)
    a = aligned_empty((len(first), 4 * size), r.dtype)
    c, scratch = aligned_empty(first.shape, r.dtype), aligned_empty(first.shape, r.dtype)
    oif = a[:, : 3 * size]
    o, i, f, g = np.split(a, 4, axis=1)
    steps = list(zip(drawn.products, h[:-1], h[1:], strict=True))

    def run() -> None:
        cell = first
        for x, before, after in steps:
            matmul(before, r, a)
            add(a, x, a)
            multiply(oif, half, oif)
            tanh(a, a)
            multiply(oif, half, oif)
            add(oif, half, oif)
            multiply(i, g, scratch)
            multiply(f, cell, c)
            add(c, scratch, c)
            tanh(c, scratch)
            multiply(o, scratch, after)
            cell = c

    return run


def gru_forward(drawn: RnnInputs, h: list[np.ndarray]) -> Callable[[], object]:
    """Return a function that computes all steps: r and z from x[t] + h[t]·R;
    n = ReLU(x[t] + r h[t]·R); h[t + 1] = n + z (h[t] - n)."""
    matmul, add, subtract, multiply = np.matmul, np.add, np.subtract, np.multiply
    tanh, maximum = np.tanh, np.maximum
    r, first = drawn.recurrent, drawn.first_hidden
    size, dtype = first.shape[1], drawn.recurrent.dtype
    half, zero = dtype.type(0.5), dtype.type(0)
    a = aligned_empty((len(first), 3 * size), dtype)
    rz = a[:, : 2 * size]
    reset, update, n = np.split(a, 3, axis=1)
    x_rz, x_n = drawn.products[:, :, : 2 * size], drawn.products[:, :, 2 * size :]
    steps = list(zip(x_rz, x_n, h[:-1], h[1:], strict=True))

    def run() -> None:
        for x_gates, x_output, before, after in steps:
            matmul(before, r, a)
            add(rz, x_gates, rz)
            multiply(rz, half, rz)
            tanh(rz, rz)
            multiply(rz, half, rz)
            add(rz, half, rz)
            multiply(n, reset, n)
            add(n, x_output, n)
            maximum(n, zero, out=n)
            subtract(before, n, after)
            multiply(after, update, after)
            add(after, n, after)

    return run


FORWARD = {"vanilla": vanilla_forward, "lstm": lstm_forward, "gru": gru_forward}


def _backward(drawn: RnnInputs) -> Prepared:
    problem, weights = drawn.problem, drawn.recurrent
    output = aligned_empty(weights.shape, weights.dtype)
    sizes = (problem.timesteps, problem.batch, weights.shape[1])
    gradients = aligned_empty(sizes, weights.dtype)
    # Touch the memory now: a long kernel is timed from its first call on.
    gradients.fill(np.nan)
    carry = BACKWARD[problem.cell](drawn, gradients)
    states = drawn.hidden[:-1].reshape(-1, problem.hidden).T
    flat, matmul = gradients.reshape(-1, weights.shape[1]), np.matmul

    def run() -> None:
        carry()
        matmul(states, flat, output)

    return Prepared(
        run=run,
        reset=partial(output.fill, np.nan),
        output=lambda: output,
        further={rnn.PRODUCT_GRADIENTS: lambda: gradients},
        notes={"route": f"{STEPS['backward']}; {PRODUCTS[drawn.precision]}"},
    )


def vanilla_backward(drawn: RnnInputs, dg: np.ndarray) -> Callable[[], object]:
    """Return a function that computes dg of all steps, from the last to the first:
    dh = dy[t] + dg[t + 1]·R^T; dg[t] = dh where the ReLU's output is positive, else 0."""
    matmul, add, multiply, sign = np.matmul, np.add, np.multiply, np.sign
    turned, dh = drawn.recurrent.T, aligned_empty(dg.shape[1:], dg.dtype)
    steps = list(zip(drawn.upstream[:-1], dg[1:], dg[:-1], strict=True))[::-1]
    last, its_gradient = drawn.upstream[-1], dg[-1]
    passed = drawn.hidden[1:]

    def run() -> None:
        sign(passed, dg)
        multiply(its_gradient, last, its_gradient)
        for upstream, after, here in steps:
            matmul(after, turned, dh)
            add(dh, upstream, dh)
            multiply(here, dh, here)

    return run


def lstm_backward(drawn: RnnInputs, dg: np.ndarray) -> Callable[[], object]:
    """Return a function that computes dg of all steps, from the last to the first.

    dc += dh o (1 - tanh(c)²). The gradient of a gate is dh or dc times a factor that does not
    depend on the gradients.
    """
    matmul, add, subtract, multiply, tanh = np.matmul, np.add, np.subtract, np.multiply, np.tanh
    turned, upstream, cells = drawn.recurrent.T, drawn.upstream, drawn.cells
    steps, batch, size = upstream.shape
    dtype, one = dg.dtype, drawn.recurrent.dtype.type(1)
    dh, dc, left = (aligned_empty((batch, size), dtype) for _ in range(3))
    shared = dc[:, None, :]
    block = min(steps, max(1, BLOCK_ELEMENTS // dg[0].size))
    to_c = aligned_empty((block, batch, size), dtype)
    rest = aligned_empty((block, batch, size), dtype)
    forget = drawn.gates[:, :, 2 * size : 3 * size]
    dg_o = dg[:, :, :size]
    dg_ifg = dg.reshape(steps, batch, 4, size)[:, :, 1:]
    blocks = [(max(end - block, 0), end) for end in range(steps, 0, -block)]

    def factors(start: int, end: int) -> None:
        o, i, f, g = np.split(drawn.gates[start:end], 4, axis=2)
        for_o, for_i, for_f, for_g = np.split(dg[start:end], 4, axis=2)
        squashed, other = to_c[: end - start], rest[: end - start]
        tanh(cells[start + 1 : end + 1], squashed)
        multiply(o, squashed, for_o)
        multiply(for_o, squashed, squashed)
        subtract(o, squashed, squashed)
        subtract(one, o, other)
        multiply(for_o, other, for_o)
        multiply(i, g, for_i)
        multiply(for_i, g, for_g)
        subtract(i, for_g, for_g)
        subtract(one, i, other)
        multiply(for_i, other, for_i)
        multiply(cells[start:end], f, for_f)
        subtract(one, f, other)
        multiply(for_f, other, for_f)

    def run() -> None:
        for start, end in blocks:
            factors(start, end)
            for t in range(end - 1, start - 1, -1):
                if t == steps - 1:
                    dh[...] = upstream[t]
                    multiply(dh, to_c[t - start], dc)
                else:
                    matmul(dg[t + 1], turned, dh)
                    add(dh, upstream[t], dh)
                    multiply(dh, to_c[t - start], dc)
                    add(dc, left, dc)
                multiply(dg_o[t], dh, dg_o[t])
                multiply(dg_ifg[t], shared, dg_ifg[t])
                multiply(dc, forget[t], left)

    return run


def gru_backward(drawn: RnnInputs, dg: np.ndarray) -> Callable[[], object]:
    """Return a function that computes dg of all steps, from the last to the first.

    The gradient of a gate is dh times a factor that does not depend on the gradients. dh z is added
    to the hidden state's gradient of the step before.
    """
    matmul, add, subtract, multiply, sign = np.matmul, np.add, np.subtract, np.multiply, np.sign
    turned, upstream, hidden = drawn.recurrent.T, drawn.upstream, drawn.hidden
    steps, batch, size = upstream.shape
    dtype, one = dg.dtype, drawn.recurrent.dtype.type(1)
    dh, passed = (aligned_empty((batch, size), dtype) for _ in range(2))
    shared = dh[:, None, :]
    block = min(steps, max(1, BLOCK_ELEMENTS // dg[0].size))
    rest = aligned_empty((block, batch, size), dtype)
    update = drawn.gates[:, :, size : 2 * size]
    dg_each = dg.reshape(steps, batch, 3, size)
    blocks = [(max(end - block, 0), end) for end in range(steps, 0, -block)]

    def factors(start: int, end: int) -> None:
        r, z, n = np.split(drawn.gates[start:end], 3, axis=2)
        for_r, for_z, for_n = np.split(dg[start:end], 3, axis=2)
        other = rest[: end - start]
        subtract(one, z, other)
        sign(n, for_n)
        multiply(for_n, other, for_n)
        subtract(hidden[start:end], n, for_z)
        multiply(for_z, z, for_z)
        multiply(for_z, other, for_z)
        multiply(for_n, r, for_n)
        subtract(one, r, other)
        multiply(for_n, drawn.output_products[start:end], for_r)
        multiply(for_r, other, for_r)

    def run() -> None:
        for start, end in blocks:
            factors(start, end)
            for t in range(end - 1, start - 1, -1):
                if t == steps - 1:
                    dh[...] = upstream[t]
                else:
                    multiply(dh, update[t + 1], passed)
                    matmul(dg[t + 1], turned, dh)
                    add(dh, passed, dh)
                    add(dh, upstream[t], dh)
                multiply(dg_each[t], shared, dg_each[t])

    return run


BACKWARD = {"vanilla": vanilla_backward, "lstm": lstm_backward, "gru": gru_backward}
