"""Recurrent layers: one table over frameworks, cells, operations, precisions, judged by float64."""

import hashlib
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from framework_table import refusals_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, eager, loaded, needed, skip_without

from deepbench_ops import backends
from deepbench_ops.backends import families, output_check
from deepbench_ops.backends.families import rnn
from deepbench_ops.backends.families.rnn_cells import FUSED_ORDER, ORDER
from deepbench_ops.backends.families.rnn_fused_reference import FusedBackward, FusedForward
from deepbench_ops.backends.families.rnn_published_reference import WINDOW, StepwiseForward
from deepbench_ops.backends.kernel import Output
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.rnn import GATES, Rnn
from deepbench_ops.random_operands import ALIGNMENT, round_to

CELLS = tuple(GATES)
PUBLISHED = ("forward", "backward")
HAD = {
    ("numpy", "cpu"): (("float32", "float16"), PUBLISHED),
    ("torch", "cpu"): (("float32", "bfloat16", "float16"), Rnn.operations),
    ("torch", "cuda"): (("float32", "tf32", "bfloat16", "float16"), Rnn.operations),
}
"""Precisions and operations that these have. Of others, those in OTHERS are tested."""
OTHERS = (("float32",), PUBLISHED)
CASES = [
    (name, device, precision, operation)
    for name, device in PLACES
    for precisions, operations in [HAD.get((name, device), OTHERS)]
    for precision in precisions
    for operation in operations
]
SHAPES = st.builds(
    Rnn, st.sampled_from(CELLS), st.integers(1, 40), st.integers(1, 9), st.integers(1, 9)
)
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")


def backend_of(name, device="cpu"):
    """Return a backend that writes into arrays of its own and has recurrent layers, or skip."""
    backend = eager(name, device)
    skip_without(backend, Rnn.family)
    return backend


def built(backend, problem, precision, operation, **more):
    """Return a kernel, or skip where this release or processor has none."""
    try:
        kernel = backend.build(problem, precision, operation, **more)
        kernel.reset()
        kernel.run()
        kernel.synchronise()
    except Unsupported as reason:
        pytest.skip(str(reason))
    except Exception as error:
        if not backend.lacks(error):
            raise
        pytest.skip(str(error))
    return kernel


def worst(kernel):
    """Return (computed - expected) / allowed at the worst entry of all outputs."""
    found = []
    for output in kernel.outputs.values():
        expected, allowed = output.reference.everywhere()
        found.append(np.max(np.abs(output.result() - expected) / allowed))
    return max(found)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("name", "device", "precision", "operation"), CASES)
def test_every_kernel_passes_its_check(name, device, precision, operation, cell):
    """Every entry of a small twin is within the precision's tolerance."""
    backend = backend_of(name, device)
    problem = Rnn(cell, 1760, 16, 50)
    built(backend, families.small(problem), precision, operation)
    assert output_check.check(backend, problem, precision, operation).ok


@pytest.mark.parametrize(("name", "device", "precision", "operation"), CASES)
@settings(max_examples=10, deadline=None)
@given(problem=SHAPES, seed=st.integers(0, 99))
def test_any_shape_is_computed_right(name, device, precision, operation, problem, seed):
    """Both looks agree for all sizes, single units, sequences and steps included."""
    kernel = built(backend_of(name, device), problem, precision, operation, seed=seed)
    assert worst(kernel) <= 1
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    ("name", "device", "precision", "operation"),
    [case for case in CASES if case[-1] == "fused_backward"],
)
def test_a_right_gradient_of_one_step_is_called_right(name, device, precision, operation, cell):
    """Where slopes all but cancel and nothing else is in the sum, they err by the terms' size."""
    backend = backend_of(name, device)
    for seed in range(30):
        kernel = built(backend, Rnn(cell, 40, 1, 1), precision, operation, seed=seed)
        assert output_check.spot_check(kernel).ok, seed


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("name", "device", "precision", "operation"), CASES)
def test_many_steps_pass_the_spot_check(name, device, precision, operation, cell):
    """Entries are judged right where more steps lie before or after them than are followed."""
    problem = Rnn(cell, 48, 3, 2 * WINDOW + 40)
    kernel = built(backend_of(name, device), problem, precision, operation)
    assert output_check.spot_check(kernel, run=False).ok
    assert np.isfinite(kernel.result()).all()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("name", "device", "precision", "operation"), CASES)
def test_a_second_run_has_the_same_result(name, device, precision, operation, cell):
    """A run leaves its operands as they were, and a reset makes its output unusable."""
    kernel = built(backend_of(name, device), Rnn(cell, 33, 4, 7), precision, operation)
    first = kernel.result()
    kernel.run()
    kernel.synchronise()
    np.testing.assert_array_equal(first, kernel.result())
    kernel.reset()
    if not operation.startswith("fused"):
        assert np.isnan(kernel.result()).all()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("operation", PUBLISHED)
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_frameworks_agree(precision, operation, cell):
    """numpy and torch get the same operands and have the same result within the tolerance."""
    problem = Rnn(cell, 31, 4, 6)
    ours = built(loaded("numpy"), problem, precision, operation, seed=5)
    theirs = built(loaded("torch"), problem, precision, operation, seed=5)
    _, allowed = ours.reference.everywhere()
    assert np.all(np.abs(ours.result() - theirs.result()) <= 2 * allowed)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", backends.NAMES)
def test_states_and_gradients_neither_explode_nor_die(name, precision, cell):
    """After 1500 steps states and gradients are as large as after the first hundred."""
    problem = Rnn(cell, 64, 2, 1500)
    for operation, output in (("forward", ""), ("backward", rnn.PRODUCT_GRADIENTS)):
        steps = built(backend_of(name), problem, precision, operation).outputs[output].result()
        assert np.isfinite(steps).all()
        ratio = steps[-100:].std() / steps[:100].std()
        assert (operation, True) == (operation, bool(0.3 < ratio < 3))
        assert steps.std() > 0.02


def torch_recurrence(drawn, weights):
    """Return the hidden states of the published recurrence in torch, and all that it leaves.

    Written from the published description, for autograd to go back through.
    """
    import torch

    cell, size = drawn.problem.cell, drawn.problem.hidden
    h, c = (torch.from_numpy(x.astype(float)) for x in (drawn.first_hidden, drawn.first_cell))
    left = {"hidden": [h], "gates": [], "cells": [c], "output_products": []}
    for x in torch.from_numpy(drawn.products.astype(float)):
        p = h @ weights
        if cell == "vanilla":
            h = torch.relu(x + p)
        elif cell == "lstm":
            o, i, f = torch.sigmoid((x + p)[:, : 3 * size]).chunk(3, 1)
            g = torch.tanh((x + p)[:, 3 * size :])
            c = f * c + i * g
            h = o * torch.tanh(c)
            left["gates"].append(torch.cat([o, i, f, g], 1))
            left["cells"].append(c)
        else:
            r, z = torch.sigmoid((x + p)[:, : 2 * size]).chunk(2, 1)
            n = torch.relu(x[:, 2 * size :] + r * p[:, 2 * size :])
            h = (1 - z) * n + z * h
            left["gates"].append(torch.cat([r, z, n], 1))
            left["output_products"].append(p[:, 2 * size :])
        left["hidden"].append(h)
    return {name: torch.stack(parts) for name, parts in left.items() if parts}


@pytest.mark.parametrize("cell", CELLS)
def test_truth_is_the_published_recurrence_and_its_gradient(cell):
    """The judge agrees with a recurrence written in torch, and, given its output, with
    autograd's gradient of the recurrent weights."""
    torch = pytest.importorskip("torch")
    drawn = rnn.inputs(Rnn(cell, 19, 3, 8), "float32", 3)
    weights = torch.from_numpy(drawn.recurrent.astype(float)).requires_grad_()
    left = torch_recurrence(drawn, weights)
    states = left["hidden"][1:]
    upstream = torch.from_numpy(drawn.upstream.astype(float))
    expected = torch.autograd.grad(states, weights, upstream)[0].numpy()
    np.testing.assert_allclose(
        states.detach().numpy(), StepwiseForward(drawn).everywhere()[0], atol=1e-12
    )
    vars(drawn).update({name: values.detach().numpy() for name, values in left.items()})
    found = reference_of(drawn, "backward")[""].everywhere()[0]
    np.testing.assert_allclose(expected, found, atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
def test_truth_of_a_whole_layer_is_torch_in_float64(cell):
    """The judges of a vendor's layer agree with torch's own in float64, gradients included."""
    torch = pytest.importorskip("torch")
    size = 19
    drawn = rnn.inputs(Rnn(cell, size, 3, 8), "float32", 3)
    kind = {"vanilla": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
    layer = kind(size, size, dtype=torch.float64)
    weights = [layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0]
    with torch.no_grad():
        for own, values in zip(weights, drawn.layer, strict=True):
            own.copy_(torch.from_numpy(values))
    wide = [torch.from_numpy(x.astype(float)) for x in (drawn.first_hidden, drawn.first_cell)]
    first = tuple(x[None] for x in wide) if cell == "lstm" else wide[0][None]
    states = layer(torch.from_numpy(drawn.sequence.astype(float)), first)[0]
    upstream = torch.from_numpy(drawn.upstream.astype(float))
    w_in, w_hidden, b_in, b_hidden = torch.autograd.grad(states, weights, upstream)
    expected = torch.cat([w_in.t(), b_in[None], w_hidden.t(), b_hidden[None]]).numpy()
    found = FusedForward(drawn).everywhere()[0]
    np.testing.assert_allclose(states.detach().numpy(), found, atol=1e-12)
    np.testing.assert_allclose(expected, FusedBackward(drawn).everywhere()[0], atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(problem=SHAPES, operation=st.sampled_from(Rnn.operations))
def test_reference_at_some_entries_is_the_whole_reference(problem, operation):
    """Computed from the true states of a step before, an entry is that of the whole reference."""
    drawn = rnn.inputs(problem, "float32", 4)
    judges = reference_of(drawn, operation)
    true = {name: judge.everywhere()[0] for name, judge in judges.items()}
    true[rnn.HIDDEN_STATES] = FusedForward(drawn).everywhere()[0]
    own = {name: reader(values) for name, values in true.items()}
    for name, judge in rnn.reference_from(problem, drawn, "float32", operation, own).items():
        index = output_check._entries(judge.shape, 7, seed=1)
        exact = operation != "fused_backward"  # which is made in float32
        found = judge.at(index)[0]
        np.testing.assert_allclose(true[name][index], found, atol=1e-12 if exact else 1e-4)


def reader(values):
    """Return the function that reads a kernel's own values."""
    return lambda index: values[index].copy()


def rounded(values, precision):
    return round_to(values.astype(np.float32), precision).astype(float)


def forward_with(drawn, mistake=""):
    """Return the hidden states (T, N, H) of a forward pass in float64, with one mistake."""
    cell, size = drawn.problem.cell, drawn.problem.hidden
    r = drawn.recurrent.astype(float)
    products = drawn.products.astype(float)
    if mistake == "R is turned":
        parts = np.split(r, drawn.problem.gates, axis=1)
        r = np.concatenate([part.T for part in parts], axis=1)
    elif mistake == "a unit is left out of the product":
        r[-1] = 0
    elif mistake in ("R is rounded to tf32", "R is rounded to bfloat16"):
        r = rounded(r, mistake.split()[-1])
    elif mistake == "two gates are swapped":
        parts = np.split(r, drawn.problem.gates, axis=1)
        r = np.concatenate([parts[1], parts[0], *parts[2:]], axis=1)
    elif mistake == "the input comes a step late":
        products = np.roll(products, 1, axis=0)
    h, c = drawn.first_hidden.astype(float), drawn.first_cell.astype(float)
    if mistake == "the first state is zero":
        h, c = 0 * h, 0 * c
    out = np.tanh if mistake == "tanh for ReLU" else lambda a: np.maximum(a, 0)
    states = []
    for t, x in enumerate(products):
        if mistake == "nothing is carried on":
            h, c = drawn.first_hidden.astype(float), drawn.first_cell.astype(float)
        p = (rounded(h, mistake.split()[-1]) if "states are rounded" in mistake else h) @ r
        if cell == "vanilla":
            h = out(x + p)
        elif cell == "lstm":
            peephole = 0.1 * c if mistake == "peepholes" else 0
            a = x + p
            o, i, f = np.split(1 / (1 + np.exp(-a[:, : 3 * size])), 3, axis=1)
            i = 1 / (1 + np.exp(-(a[:, size : 2 * size] + peephole)))
            before = drawn.first_cell if mistake == "the cell state is not carried on" else c
            c = f * before + i * np.tanh(a[:, 3 * size :])
            h = o * (c if mistake == "no tanh of the cell state" else np.tanh(c))
        else:
            reset, z = np.split(1 / (1 + np.exp(-(x + p)[:, : 2 * size])), 2, axis=1)
            late = p[:, 2 * size :]
            if mistake == "reset before the product":
                inside = (reset * h) @ r[:, 2 * size :]
            else:
                inside = reset * late
            n = out(x[:, 2 * size :] + inside)
            z = 1 - z if mistake == "z is turned round" else z
            h = (1 - z) * n + z * h
        if mistake == "the last sequence is left out":
            h = np.concatenate([h[:-1], h[:1]])
        if mistake == "the last step is left out" and t == len(products) - 1:
            h = states[-1]
        states.append(h)
    return np.stack(states)


FORWARD_MISTAKES = [
    *product(
        CELLS,
        (
            "R is turned",
            "a unit is left out of the product",
            "R is rounded to tf32",
            "R is rounded to bfloat16",
            "states are rounded to bfloat16",
            "the input comes a step late",
            "the first state is zero",
            "nothing is carried on",
            "the last sequence is left out",
            "the last step is left out",
        ),
    ),
    *product(("vanilla", "gru"), ("tanh for ReLU",)),
    *product(("lstm", "gru"), ("two gates are swapped",)),
    ("lstm", "peepholes"),
    ("lstm", "no tanh of the cell state"),
    ("lstm", "the cell state is not carried on"),
    ("gru", "reset before the product"),
    ("gru", "z is turned round"),
]


def backward_with(drawn, mistake=""):
    """Return (dR, gradients of the products) of a backward pass in float64, with one mistake."""
    cell, steps = drawn.problem.cell, drawn.problem.timesteps
    r, upstream, h = (x.astype(float) for x in (drawn.recurrent, drawn.upstream, drawn.hidden))
    if mistake == "R is rounded to tf32":
        r = rounded(r, "tf32")
    elif mistake == "R is not turned":
        parts = np.split(r, drawn.problem.gates, axis=1)
        r = np.concatenate([part.T for part in parts], axis=1)
    turned = 0 * r.T if mistake == "nothing is carried back" else r.T
    found = np.zeros((steps, drawn.problem.batch, r.shape[1]))
    passed = dc = 0 * upstream[0]
    after = found[0]
    for t in reversed(range(steps)):
        carried = rounded(after, "tf32") if "gradients are rounded" in mistake else after
        dh = upstream[t] + carried @ turned + passed
        if mistake == "only the last step has a gradient" and t < steps - 1:
            dh -= upstream[t]
        if cell == "vanilla":
            after = dh * (1 if mistake == "the ReLU has no slope" else h[t + 1] > 0)
        elif cell == "lstm":
            o, i, f, g = np.split(drawn.gates[t].astype(float), 4, axis=1)
            squashed = np.tanh(drawn.cells[t + 1].astype(float))
            dc = dc + dh * o * (1 - squashed**2)
            before = drawn.cells[t + (mistake == "the new cell state for the old")]
            parts = [
                dh * squashed * o * (1 - o),
                dc * g * i * (1 - i),
                dc * before * f * (1 - f),
                dc * i * (1 - (0 if mistake == "tanh has no slope" else g**2)),
            ]
            after = np.concatenate(parts, axis=1)
            dc = 0 * dc if mistake == "the cell state carries nothing back" else dc * f
        else:
            reset, z, n = np.split(drawn.gates[t].astype(float), 3, axis=1)
            into_n = dh * (1 - z) * (n > 0)
            by_r = into_n if mistake == "the reset gate is left out" else into_n * reset
            by_reset = into_n * drawn.output_products[t] * reset * (1 - reset)
            after = np.concatenate([by_reset, dh * (h[t] - n) * z * (1 - z), by_r], axis=1)
            passed = 0 * dh if mistake == "nothing passes by the product" else dh * z
        found[t] = after
    summed, states = found.copy(), h[:-1]
    if mistake == "the new state for the old in the sum":
        states = h[1:]
    elif mistake == "the first step is not summed":
        summed[0] = 0
    elif mistake == "the last step is not summed":
        summed[-1] = 0
    elif mistake == "a sequence is not summed":
        summed[:, -1] = 0
    elif mistake == "gradients are rounded to tf32":
        summed = rounded(found, "tf32")
    return np.einsum("tnh,tng->hg", states, summed), found


BACKWARD_MISTAKES = [
    *product(
        CELLS,
        (
            "R is rounded to tf32",
            "R is not turned",
            "nothing is carried back",
            "only the last step has a gradient",
            "the new state for the old in the sum",
            "the first step is not summed",
            "the last step is not summed",
            "a sequence is not summed",
            "gradients are rounded to tf32",
        ),
    ),
    ("vanilla", "the ReLU has no slope"),
    ("lstm", "the new cell state for the old"),
    ("lstm", "tanh has no slope"),
    ("lstm", "the cell state carries nothing back"),
    ("gru", "the reset gate is left out"),
    ("gru", "nothing passes by the product"),
]


def wrong_forward(drawn, kernel, mistake):
    states = forward_with(drawn, mistake)
    return replace(
        kernel,
        run=lambda: None,
        result=lambda: states,
        peek=lambda index: states[index],
        reference=replace(kernel.reference, own=lambda index: states[index].copy()),
    )


def wrong_backward(drawn, kernel, mistake):
    gradient, steps = backward_with(drawn, mistake)
    judges = rnn.reference_from(
        drawn.problem, drawn, drawn.precision, "backward", {rnn.PRODUCT_GRADIENTS: reader(steps)}
    )
    return replace(
        kernel,
        run=lambda: None,
        result=lambda: gradient,
        peek=reader(gradient),
        reference=judges[""],
        further={
            rnn.PRODUCT_GRADIENTS: Output(
                lambda: steps, reader(steps), judges[rnn.PRODUCT_GRADIENTS]
            )
        },
    )


@pytest.mark.parametrize(
    ("operation", "cell", "mistake"),
    [
        *(("forward", *case) for case in FORWARD_MISTAKES),
        *(("backward", *case) for case in BACKWARD_MISTAKES),
    ],
)
def test_wrong_kernels_are_found_out(operation, cell, mistake, monkeypatch):
    """Each mistake fails both looks, while the right pass in the same guise passes them."""
    problem = Rnn(cell, 120, 6, 9)
    guise = {"forward": wrong_forward, "backward": wrong_backward}[operation]

    def guised(small, mistake):
        drawn = rnn.inputs(small, "float32", 0)
        return guise(drawn, loaded("numpy").build(small, "float32", operation), mistake)

    class Wrong(type(loaded("numpy"))):
        def build(self, small, *_):
            return guised(small, self.mistake)

    monkeypatch.setattr(output_check, "_passed", RunCache("here"))
    Wrong.mistake = ""
    assert output_check.check(Wrong(), problem, "float32", operation).ok
    assert output_check.spot_check(guised(problem, "")).ok
    Wrong.mistake = mistake
    with pytest.raises(DeepbenchError, match=f"{operation} {cell}_h37_n5_t5 computes a wrong"):
        output_check.verify(Wrong(), problem, "float32", operation)
    with pytest.raises(DeepbenchError, match=f"{problem.id} computes a wrong"):
        output_check.verify_output(guised(problem, mistake))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    ("operation", "rounding"),
    [("forward", "states are rounded to tf32"), ("backward", "gradients are rounded to tf32")],
)
def test_tf32_may_round_what_it_multiplies(operation, rounding, cell):
    """A rounding that is a mistake in float32 is right in tf32, and passes both looks there."""
    guise = {"forward": wrong_forward, "backward": wrong_backward}[operation]
    for seed in range(5):
        drawn = rnn.inputs(Rnn(cell, 37, 5, 5), "tf32", seed)
        kernel = loaded("numpy").build(drawn.problem, "float32", operation)
        judge = reference_of(drawn, operation)[""]
        kernel = guise(drawn, replace(kernel, reference=judge), rounding)
        assert 0.02 < worst(kernel) <= 1
        assert output_check.spot_check(kernel).ok


def reference_of(drawn, operation):
    """Return the references of an operation by output."""
    return rnn.reference(drawn.problem, drawn, drawn.precision, operation)


FUSED_MISTAKES = {
    "no input bias": lambda layer: layer.bias_ih_l0.zero_(),
    "no recurrent bias": lambda layer: layer.bias_hh_l0.zero_(),
    "an input is left out": lambda layer: layer.weight_ih_l0[:, -1].zero_(),
    "input weights rounded": lambda layer: layer.weight_ih_l0.copy_(
        layer.weight_ih_l0.bfloat16().float()
    ),
    "recurrent weights rounded": lambda layer: layer.weight_hh_l0.copy_(
        layer.weight_hh_l0.bfloat16().float()
    ),
}


@pytest.mark.parametrize("operation", ["fused_forward", "fused_backward"])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("mistake", FUSED_MISTAKES.values(), ids=FUSED_MISTAKES)
def test_a_layer_with_other_weights_is_found_out(operation, cell, mistake, monkeypatch):
    """A vendor's layer that computes with anything but the drawn weights fails both looks."""
    torch = pytest.importorskip("torch")
    from deepbench_ops.backends.torch_backend import rnn_fused

    right = rnn_fused._layer

    def wrong(backend, drawn):
        layer, operands = right(backend, drawn)
        with torch.no_grad():
            mistake(layer)
        return layer, operands

    monkeypatch.setattr(rnn_fused, "_layer", wrong)
    backend, problem = loaded("torch"), Rnn(cell, 64, 6, 9)
    assert not output_check.check(backend, problem, "float32", operation).ok
    kernel = backend.build(problem, "float32", operation)
    assert not output_check.spot_check(kernel).ok


@pytest.mark.parametrize(
    ("name", "precision", "operation", "reason"),
    [
        ("numpy", "bfloat16", "forward", "numpy has no bfloat16"),
        ("numpy", "tf32", "backward", "numpy has no tf32"),
        ("numpy", "float32", "fused_forward", "numpy has no recurrent layer of its own"),
        ("numpy", "int8", "forward", "no recurrent layer in int8 is published"),
        ("torch", "int8", "fused_forward", "dynamically quantised layer keeps states"),
        ("torch", "tf32", "forward", "tf32 exists only on NVIDIA GPUs"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(name, precision, operation, reason):
    """An operation that a framework lacks raises Unsupported, which says why."""
    with pytest.raises(Unsupported, match=reason):
        loaded(name).build(Rnn("lstm", 8, 2, 3), precision, operation)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("operation", PUBLISHED)
@pytest.mark.parametrize("name", backends.NAMES)
def test_a_first_run_finds_every_page_of_its_results_touched(name, operation, cell):
    """Results are not-a-number before the first run, so that it pays for no fresh memory."""
    backend = backend_of(name)
    with refusals_of_others(name):
        kernel = backend.build(Rnn(cell, 16, 2, 3), "float32", operation)
    kernel.reset()
    for output in kernel.outputs.values():
        assert np.isnan(output.result()).all()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("operation", PUBLISHED)
def test_float32_numpy_runs_in_its_buffers(operation, cell):
    """No run allocates anything near the size of the weights, so BLAS got them as they lie.

    A run allocates the buffers of numpy's ufuncs alone, 32 KiB for each strided operand.
    """
    problem = Rnn(cell, 384, 24, 12)
    kernel = loaded("numpy").build(problem, "float32", operation)
    kernel.run()
    tracemalloc.start()
    kernel.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**17 < 4 * problem.hidden**2


@pytest.mark.parametrize("operation", Rnn.operations)
def test_work_traffic_and_notes_are_the_operations_own(operation):
    """A kernel reports the FLOPs and bytes of its operation and says what was done how."""
    problem = Rnn("gru", 12, 3, 4)
    kernel = loaded("torch").build(problem, "float32", operation)
    expected = (problem.flops_of(operation), problem.bytes_of("float32", operation))
    assert expected == (kernel.flops, kernel.bytes)
    assert {"inputs", "layout", "padding", "route"} <= set(kernel.notes)
    assert f"torch cpu float32 {operation} {problem.id}" == kernel.label


@pytest.mark.parametrize("cell", CELLS)
def test_operands_are_aligned_and_rounded(cell):
    """Operands start at multiples of 64 bytes and hold values of the precision only."""
    drawn = rnn.inputs(Rnn(cell, 7, 3, 4), "bfloat16")
    for name in OPERANDS:
        values = getattr(drawn, name)
        assert (name, 0) == (name, values.ctypes.data % ALIGNMENT)
        np.testing.assert_array_equal(round_to(values.copy(), "bfloat16"), values)


OPERANDS = (
    "recurrent",
    "products",
    "first_hidden",
    "first_cell",
    "upstream",
    "hidden",
    "gates",
    "cells",
    "output_products",
    "sequence",
)


@pytest.mark.parametrize(
    ("cell", "precision", "expected"),
    [
        ("vanilla", "float32", "f8942f4c9a"),
        ("lstm", "bfloat16", "4b3a9b87e8"),
        ("gru", "float16", "e17c1c0593"),
    ],
)
def test_inputs_are_the_same_for_ever(cell, precision, expected):
    """A seed gives these very operands in every release of numpy."""
    drawn = rnn.inputs(Rnn(cell, 9, 4, 5), precision, 7)
    arrays = [*(getattr(drawn, name) for name in OPERANDS), *drawn.layer]
    stored = b"".join(array.tobytes() for array in arrays)
    assert expected == hashlib.sha1(stored).hexdigest()[:10]


@pytest.mark.parametrize("cell", CELLS)
def test_gates_are_stored_in_one_order_or_the_other(cell):
    """Both orders name the same gates, one for each recurrent product that is counted."""
    assert set(ORDER[cell]) == set(FUSED_ORDER[cell])
    assert GATES[cell] == len(ORDER[cell])


def test_a_fused_layer_is_made_without_sympy():
    """Importing it, as torch does for empty parameters, takes longer than all else."""
    needed("torch")
    text = """
import sys
from deepbench_ops import problems
from deepbench_ops.backends import output_check, load
problem = problems.load("rnn")[0]
assert output_check.check(load("torch", "cpu"), problem, "float32", "fused_forward").ok
assert "sympy" not in sys.modules
"""
    assert 0 == subprocess.run([sys.executable, "-c", text]).returncode
