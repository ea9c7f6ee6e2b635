"""Layers with a mixture of experts: a table over frameworks and precisions, and wrong routings."""

from dataclasses import replace

import numpy as np
import pytest
from framework_table import loaded_with, refusals_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, eager, products_refused, skip_without
from kernel_checks import accepted, agrees, distinguishes

from deepbench_ops import backends
from deepbench_ops.backends import output_check
from deepbench_ops.backends.families import moe_layer as family
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.moe_layer import MATRICES, MoeLayer

LACKING = {
    ("numpy", "bfloat16"): "no BLAS products in bfloat16",
    ("numpy", "float16"): "no BLAS products in float16",
    ("onnxruntime", "bfloat16"): "no bfloat16",
}
NO_GRADIENTS = {"numpy": "numpy has no gradients", "onnxruntime": "ONNX is a format of trained"}
WITHOUT = ("openvino", "tensorflow")
"""Frameworks that need no such layers."""
PROBLEM = MoeLayer(9, 6, 32, 24, 2)


@pytest.mark.parametrize("operation", MoeLayer.operations)
@pytest.mark.parametrize("activation", MATRICES)
@pytest.mark.parametrize("precision", MoeLayer.precisions)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_every_layer_passes_its_check_or_is_refused(name, device, precision, activation, operation):
    """All entries of a small layer, and of its gradients, are right, or the framework lacks it with
    a reason."""
    backend = loaded_with(name, device, MoeLayer.family, WITHOUT)
    problem = MoeLayer(128, 32, 2048, 768, 8, activation)
    reason = LACKING.get((name, precision))
    if operation == "backward":
        reason = reason or NO_GRADIENTS.get(name)
    if (name, activation) == ("onnxruntime", "relu2"):
        reason = reason or "no relu2"
    reason = reason or products_refused(name, precision, operation)
    if reason:
        with pytest.raises(Unsupported, match=reason):
            output_check.check(backend, problem, precision, operation)
        return
    with refusals_of_others(name):
        found = output_check.check(backend, problem, precision, operation)
    assert (True, True) == (found.ok, found.error <= found.tolerance)


@pytest.mark.parametrize("operation", MoeLayer.operations)
@pytest.mark.parametrize("name", backends.NAMES)
@settings(max_examples=12, deadline=None)
@given(
    tokens=st.integers(1, 20), experts=st.integers(1, 9), top_k=st.integers(1, 9),
    seed=st.integers(0, 99), activation=st.sampled_from(tuple(MATRICES)),
)  # fmt: skip
def test_any_choice_is_computed_right(name, operation, tokens, experts, top_k, seed, activation):
    """Every output is right for any number of experts, all chosen or some without tokens."""
    problem = MoeLayer(tokens, experts, 16, 8, min(top_k, experts), activation)
    if operation == "backward" and name in NO_GRADIENTS:
        pytest.skip(NO_GRADIENTS[name])
    backend = eager(name)
    skip_without(backend, MoeLayer.family)
    with refusals_of_others(name):
        kernel = backend.build(problem, "float32", operation, seed)
    kernel.reset()
    kernel.run()
    for output in kernel.outputs.values():
        expected, allowed = output.reference.everywhere()
        assert np.all(np.abs(output.result() - expected) <= allowed)
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("operation", MoeLayer.operations)
@pytest.mark.parametrize("activation", MATRICES)
def test_reference_at_some_entries_is_the_whole_reference(activation, operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(replace(PROBLEM, activation=activation), operation, "bfloat16")


@given(tokens=st.integers(1, 40), experts=st.integers(2, 40), seed=st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_no_rounding_changes_a_choice(tokens, experts, seed):
    """Chosen logits are larger than all others by the margin, in each precision the same way."""
    problem = MoeLayer(tokens, experts, 16, 8, min(4, experts))
    for precision in MoeLayer.precisions:
        drawn = family.inputs(problem, precision, seed)
        logits = drawn.x.astype(np.float64) @ drawn.router.astype(np.float64).T
        chosen = np.zeros(logits.shape, bool)
        np.put_along_axis(chosen, drawn.chosen, True, axis=1)
        assert {problem.top_k} == set(chosen.sum(axis=1))
        if problem.top_k < experts:
            least = np.where(chosen, logits, np.inf).min(axis=1)
            most = np.where(chosen, -np.inf, logits).max(axis=1)
            assert (least - most).min() > 0.9 * family.MARGIN


def layer(drawn, problem, chosen=None, weights=None, **changed):
    """Return y in float64 with another choice, other weights or other matrices."""
    held = {name: getattr(drawn, name) for name in ("gate", "up", "down")} | changed
    gate, up, down = (held[name].astype(np.float64) for name in ("gate", "up", "down"))
    x = drawn.x.astype(np.float64)
    taken = np.take_along_axis(x @ drawn.router.astype(np.float64).T, drawn.chosen, axis=1)
    p = np.exp(taken) / np.exp(taken).sum(axis=1, keepdims=True)
    p = p if weights is None else weights(p)
    chosen = drawn.chosen if chosen is None else chosen
    y = np.zeros(x.shape)
    for token, experts in enumerate(chosen):
        for place, e in enumerate(experts):
            g = gate[e] @ x[token]
            hidden = g / (1 + np.exp(-g)) * (up[e] @ x[token])
            y[token] += p[token, place] * (down[e] @ hidden)
    return y


def reread(matrices):
    """Return matrices read in the wrong order of axes."""
    return matrices.reshape(matrices.shape[0], matrices.shape[2], -1).transpose(0, 2, 1)


MISTAKES = {
    "tokens to the next expert": lambda d, p: layer(d, p, chosen=(d.chosen + 1) % p.experts),
    "each token to its neighbour's experts": lambda d, p: layer(
        d, p, chosen=np.roll(d.chosen, 1, axis=0)
    ),
    "the best expert alone": lambda d, p: layer(d, p, weights=lambda w: w * [1, 0]),
    "no weights": lambda d, p: layer(d, p, weights=np.ones_like),
    "even weights": lambda d, p: layer(d, p, weights=lambda w: np.full_like(w, 1 / p.top_k)),
    "weights in the wrong order": lambda d, p: layer(d, p, weights=lambda w: w[:, ::-1]),
    "a transposed expert": lambda d, p: layer(d, p, down=reread(d.down)),
    "gate and up exchanged": lambda d, p: layer(d, p, gate=d.up, up=d.gate),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_wrong_layers_are_found_out(precision, mistake):
    """Each mistake fails, at sampled entries too, while the right layer passes."""
    drawn = family.inputs(PROBLEM, precision)
    judge = family.reference(PROBLEM, drawn, precision, "forward")[""]
    assert distinguishes(judge, layer(drawn, PROBLEM), mistake(drawn, PROBLEM))


def gradients(drawn, changed=lambda parts: parts):
    """Return all gradients in float64, from one token and one expert after the other.

    changed: function of the gradients of up·x and of gate·x and of the hidden layer, which may
    spoil one of them.
    """
    x, router, up, down, dy = (
        getattr(drawn, name).astype(np.float64)
        for name in ("x", "router", "up", "down", "gradient")
    )
    made = {"": 0 * x, "router_gradient": 0 * router, "up_gradient": 0 * up}
    made["down_gradient"] = 0 * down
    if drawn.gate is not None:
        made["gate_gradient"] = 0 * up
    for t, experts in enumerate(drawn.chosen):
        powers = np.exp(router[experts] @ x[t])
        p, of_p = powers / powers.sum(), np.zeros(len(experts))
        for place, e in enumerate(experts):
            u = up[e] @ x[t]
            g = None if drawn.gate is None else drawn.gate[e].astype(np.float64) @ x[t]
            share = None if g is None else 1 / (1 + np.exp(-g))
            hidden = np.maximum(u, 0) ** 2 if g is None else g * share * u
            arriving = p[place] * (down[e].T @ dy[t])
            if g is None:
                du, dg = arriving * 2 * np.maximum(u, 0), 0
            else:
                du, dg = arriving * g * share, arriving * u * share * (1 + g * (1 - share))
            of_p[place] = (down[e] @ hidden) @ dy[t]
            du, dg, hidden = changed((du, dg, hidden))
            made["up_gradient"][e] += np.outer(du, x[t])
            made["down_gradient"][e] += p[place] * np.outer(dy[t], hidden)
            made[""][t] += du @ up[e]
            if g is not None:
                made["gate_gradient"][e] += np.outer(dg, x[t])
                made[""][t] += dg @ drawn.gate[e].astype(np.float64)
        logits = p * (of_p - p @ of_p)
        made["router_gradient"][experts] += np.outer(logits, x[t])
        made[""][t] += logits @ router[experts]
    return made


@pytest.mark.parametrize("activation", MATRICES)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_gradients_are_those_of_each_token_and_expert_added_up(precision, activation):
    """As written out here, for a layer with experts that no token chooses."""
    problem = replace(PROBLEM, tokens=3, experts=9, activation=activation)
    drawn = family.inputs(problem, precision)
    assert accepted(problem, "backward", gradients(drawn), precision, drawn)


WRONG_PARTS = {
    "no gradient through up": lambda parts: (0 * parts[0], parts[1], parts[2]),
    "no gradient through the gate": lambda parts: (parts[0], 0 * parts[1], parts[2]),
    "gate and up exchanged": lambda parts: (parts[1], parts[0], parts[2]),
    "a hidden layer that is too large": lambda parts: (parts[0], parts[1], parts[2] * 1.05),
}


@pytest.mark.parametrize("mistake", WRONG_PARTS.values(), ids=WRONG_PARTS)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_wrong_gradients_are_found_out(precision, mistake):
    """Each mistake fails in one output at least."""
    drawn = family.inputs(PROBLEM, precision)
    wrong = gradients(drawn, mistake)
    assert not accepted(PROBLEM, "backward", wrong, precision, drawn)


def test_gradients_without_the_routers_are_found_out():
    """A layer whose choice is taken for a constant has neither part of the router."""
    drawn = family.inputs(PROBLEM, "float32")
    wrong = gradients(drawn)
    wrong["router_gradient"] *= 0
    assert not accepted(PROBLEM, "backward", wrong, "float32", drawn)


def test_work_and_traffic_follow_from_the_sizes():
    """FLOPs are those of router and chosen experts; one token reads top_k experts."""
    problem = MoeLayer(1, 128, 2048, 768, 8)
    expert = 3 * 2048 * 768
    assert 2 * (2048 * 128 + 8 * expert) == problem.flops
    assert 2 * (2048 + 128 * 2048 + 8 * expert) + 2 * 2048 == problem.bytes("bfloat16")
    assert MoeLayer(4096, 128, 2048, 768, 8).busy == pytest.approx(128)
    assert 2 * problem.flops == problem.flops_of("backward")
    read = 2048 + 2048 + 128 * 2048 + 8 * expert + 8 * 2 * 768
    written = 2048 + 128 * 2048 + 128 * expert
    assert 2 * (read + written) == problem.bytes_of("bfloat16", "backward")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"top_k": "9"}, "top-k 9 is above the number of experts, 8"),
        ({"experts": "0"}, "experts is '0': write a whole number from 1"),
        ({"activation": "tanh"}, "no activation is called tanh"),
    ],
)
def test_impossible_layers_are_one_clear_line(given, reason):
    """Zero experts, a top-k above them and unknown activations are refused."""
    text = {"tokens": "4", "experts": "8", "hidden": "64", "intermediate": "64", "top_k": "2"}
    with pytest.raises(DeepbenchError) as found:
        size_checks.problem(
            "moe_layer",
            {
                name: value if name == "activation" else size_checks.size(name, value, MoeLayer)
                for name, value in {**text, **given}.items()
            },
        )
    assert reason in str(found.value)
    assert "\n" not in str(found.value)
