"""Layers of a step by family: which calls are whose, forward and backward, and their FLOPs."""

import pytest

from deepbench_ops.backends import families
from deepbench_ops.models.network_catalogue import NETWORKS
from deepbench_ops.problems.model import Model

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from deepbench_ops.backends.torch_backend import operator_trace  # noqa: E402
from deepbench_ops.backends.torch_backend.backend import TorchBackend  # noqa: E402
from deepbench_ops.backends.torch_backend.layer_problems import problem_of  # noqa: E402
from deepbench_ops.backends.torch_backend.layer_trace import LayerTrace  # noqa: E402
from deepbench_ops.measure import step_breakdown  # noqa: E402

TODAY = ["llama_1b_prefill_128", "llama_1b_decode_512", "llama_1b_4layers_128", "vit_b16"]
TODAY += ["qwen3_30b_a3b_layer_128"]
PASSES = [(name, "forward") for name in TODAY]
PASSES += [(name, "training_step") for name in TODAY if not NETWORKS[name].untrained]
PRODUCTS = {"linear_layer", "gated_mlp", "attention", "attention_decode", "grouped_conv"}
"""Families whose FLOPs are those of their products, which operations count as well."""


def traced(step):
    """Return the operations of a step, with the layers that made their calls."""
    with LayerTrace() as layers:
        found = operator_trace.operations(step, lambda: layers.current)
    assert layers.current is None
    return found


def layers_of(found):
    """Return FLOPs that operations count, by the call of a layer; None for those outside."""
    counted = {}
    for operation in found:
        for layer in operation.layers:
            counted[layer] = counted.get(layer, 0) + operation.flops
    return counted


def twin(name, operation):
    """Return the kernel of a small twin's step, which has run once."""
    small = families.small(Model(name, 2))
    kernel = TorchBackend().build(small, "float32", operation)
    kernel.run()
    kernel.reset()
    return kernel


@pytest.mark.parametrize(("name", "operation"), PASSES)
def test_operations_of_a_layer_have_the_flops_of_its_problem(name, operation):
    """Forward and backward, of each call of a layer that multiplies; nothing multiplies outside."""
    counted = layers_of(traced(twin(name, operation).run))
    assert 0 == counted.pop(None, 0)
    kinds = {(layer.problem.family, layer.direction) for layer in counted}
    directions = ["forward"] if operation == "forward" else ["forward", "backward"]
    assert {("linear_layer", each) for each in directions} <= kinds
    for layer, flops in counted.items():
        if layer.problem.family in PRODUCTS:
            expected = sum(layer.problem.flops_of(each) for each in layer.operations)
            assert (layer.problem.id, expected) == (layer.problem.id, flops)


@pytest.mark.parametrize(
    ("name", "operation", "calls"),
    [
        (
            "llama_1b_4layers_128",
            "training_step",
            {
                "attention": (2, 2),
                "cross_entropy": (1, 1),
                "embedding": (1, 1),
                "gated_mlp": (2, 2),
                "linear_layer": (9, 9),
                "rms_norm": (5, 5),
                "rope": (2, 2),
            },
        ),
        (
            "qwen3_30b_a3b_layer_128",
            "forward",
            {
                "attention": (1, 0),
                "linear_layer": (4, 0),
                "moe_layer": (1, 0),
                "rms_norm": (4, 0),
                "rope": (1, 0),
            },
        ),
        (
            "vit_b16",
            "training_step",
            {
                "attention": (2, 2),
                "cross_entropy": (1, 1),
                "gelu": (2, 2),
                "grouped_conv": (1, 1),
                "layer_norm": (5, 5),
                "linear_layer": (13, 13),
            },
        ),
    ],
)
def test_a_step_calls_each_family_as_often_as_its_network_has_layers(name, operation, calls):
    """Two layers in each twin; backward as often as forward."""
    counted = layers_of(traced(twin(name, operation).run))
    counted.pop(None, None)
    found = {}
    for layer in counted:
        forward, backward = found.get(layer.problem.family, (0, 0))
        found[layer.problem.family] = (
            forward + (layer.direction == "forward"),
            backward + (layer.direction == "backward"),
        )
    assert calls == found


def test_a_first_layer_makes_no_gradient_of_its_input():
    """Neither does its backward pass count one; the next layer's does."""
    network = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))
    found = layers_of(traced(lambda: network(torch.ones(3, 8)).sum().backward()))
    backward = [each.operations for each in found if each and each.direction == "backward"]
    assert [("backward_input", "backward_weight"), ("backward_weight",)] == sorted(backward)


def test_calls_are_counted_once_in_operations_and_in_families():
    """All seconds of operations are seconds of families, and calls of layers are their own."""
    found = traced(twin("vit_b16", "forward").run)
    profiled = [[[1.0] * operation.calls for operation in found]] * 3
    parts = step_breakdown.family_shares(found, profiled)
    assert sum(operation.calls for operation in found) == sum(part.inside for part in parts)
    outside = {part.name: part.calls for part in parts if part.problem is None}
    named = [op for op in found if op.name == "cat"]
    assert sum(op.calls for op in named) == outside["cat"]
    gelu = next(part for part in parts if part.problem and part.problem.family == "gelu")
    assert (2, ("forward",)) == (gelu.calls, gelu.operations)


@pytest.mark.parametrize(
    ("layer", "given", "id"),
    [
        (nn.Linear(5, 7), (torch.ones(2, 3, 5),), "linear_m6_n7_k5_bias"),
        (nn.Embedding(11, 4), (torch.ones(2, 3).long(),), "embedding_tokens6_vocabulary11_size4"),
        (nn.LayerNorm(6), (torch.ones(4, 2, 6),), "layer_norm_tokens8_hidden6"),
        (nn.GELU(), (torch.ones(4, 2, 6),), "gelu_batch8_columns6"),
        (nn.Softmax(-1), (torch.ones(4, 6),), "softmax_batch4_columns6"),
        (
            nn.CrossEntropyLoss(),
            (torch.ones(4, 9), torch.ones(4).long()),
            "cross_entropy_tokens4_vocabulary9",
        ),
        (
            nn.Conv2d(3, 8, 4, 4),
            (torch.ones(2, 3, 8, 12),),
            "groups1_w12_h8_c3_n2_k8_r4_s4_pad0_stride4",
        ),
        (
            nn.Conv2d(3, 8, (3, 5), padding=(1, 2)),
            (torch.ones(2, 3, 8, 12),),
            "w12_h8_c3_n2_k8_r3_s5_pad2_1_stride1_1",
        ),
    ],
)
def test_a_layer_of_torch_is_the_problem_of_its_shapes(layer, given, id):
    """With the shapes in the order of the family's id."""
    assert id == problem_of(layer, given).id


@pytest.mark.parametrize(
    ("layer", "given"),
    [
        (nn.LayerNorm((2, 6)), torch.ones(4, 2, 6)),
        (nn.GELU("tanh"), torch.ones(4, 6)),
        (nn.Softmax(0), torch.ones(4, 6)),
        (nn.Conv2d(3, 8, 3, dilation=2), torch.ones(2, 3, 8, 12)),
        (nn.ReLU(), torch.ones(4)),
    ],
)
def test_a_layer_that_no_family_has_is_none(layer, given):
    """Such as a norm over two axes, and another form of GELU."""
    assert problem_of(layer, (given,)) is None
