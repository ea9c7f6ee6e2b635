"""Two tests that most families of today's operations have: what each framework answers, and a
reference at single entries. Each function here makes one of them."""

import pytest
from kernel_checks import agrees, verdict

ALL = ("numpy", "torch", "jax", "onnxruntime", "openvino", "tensorflow")
ONNX = ("onnxruntime", "openvino")


def every_operation(*problems):
    """Return each problem with each of its operations."""
    return [(problem, operation) for problem in problems for operation in problem.operations]


def check_of_every_kernel(cases, frameworks=ALL, in_numpy=("float32",), refused=None):
    """Return the test of pairs of problem and operation, over frameworks and precisions.

    in_numpy: precisions that numpy has. refused: function from framework, precision and operation
    to a part of the reason why there is no such kernel, or None; for refusals of this family alone.
    """

    @pytest.mark.parametrize(("problem", "operation"), cases, ids=_name)
    @pytest.mark.parametrize("precision", cases[0][0].precisions)
    @pytest.mark.parametrize("name", frameworks)
    def test(name, precision, problem, operation):
        """Outputs of every operation are right in every precision, or refused with the reason."""
        reason = _usual(name, precision, operation, in_numpy)
        if reason is None and refused is not None:
            reason = refused(name, precision, operation)
        found = verdict(name, problem, precision, operation)
        if reason is None:
            assert "ok" == found
        else:
            assert reason in found[:90]

    return test


def gradients_of_rows_in_16_bits(name, precision, operation):
    """Return the reason why a framework refuses to add up gradients of rows, None for others."""
    inexact = operation == "backward" and precision != "float32"
    return "adds up the gradients of a row" if inexact else None


def entries_agree(cases):
    """Return the test of references, for pairs of problem and operation."""

    @pytest.mark.parametrize(("problem", "operation"), cases, ids=_name)
    def test(problem, operation):
        """Judging a few entries applies the same values and tolerances as judging all."""
        assert agrees(problem, operation)

    return test


def _usual(name, precision, operation, in_numpy):
    if name in ONNX and precision == "bfloat16":
        return f"{name}'s "
    if name == "numpy" and precision not in in_numpy:
        return "numpy "
    if name in ONNX and operation.endswith("backward"):
        return "ONNX is a format of trained networks"
    return None


def _name(value):
    return value if isinstance(value, str) else value.id
