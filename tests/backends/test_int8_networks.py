"""Networks in int8: the kind of quantisation."""

import pytest

torch = pytest.importorskip("torch")

from deepbench_ops.backends.torch_backend import int8_networks  # noqa: E402


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        ({"Conv": 53, "Gemm": 1}, "static"),
        ({"Conv": 1, "MatMul": 72, "Gemm": 1}, "dynamic"),
        ({"MatMul": 72, "Gemm": 2}, "dynamic"),
        ({}, "dynamic"),
    ],
    ids=["ResNet-50", "a vision transformer", "BERT", "no products"],
)
def test_convolutional_networks_are_quantised_statically(operators, expected):
    """A transformer with a convolution for its patches is none of them."""
    assert expected == int8_networks.kind(operators)
