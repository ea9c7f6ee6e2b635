"""Tables over frameworks and devices, and two tests that most families of modern operations have:
the answer of each framework, and a reference at single entries."""

from contextlib import contextmanager

import pytest
from installed_frameworks import PLACES, lacks, loaded, skip_without
from kernel_checks import agrees, verdict

from deepbench_ops.errors import Unsupported

LISTED = ("numpy", "torch", "jax", "onnxruntime", "openvino", "tensorflow")
"""Frameworks whose refusals these tests know. Of others, a new one without an entry here included,
those kernels are tested that there are."""
ONNX = ("onnxruntime", "openvino")

NO_GRADIENTS = "ONNX is a format of trained networks"
"""Beginning of the reason why frameworks that run ONNX models have no backward passes."""


def loaded_with(name, device, family, without=()):
    """Return a backend with kernels of a family, or skip where it is not here.

    without: listed frameworks that may lack the family, as those that are not listed may.
    """
    backend = loaded(name, device)
    if name not in LISTED or name in without:
        skip_without(backend, family)
    return backend


@contextmanager
def refusals_of_others(name):
    """Skip where a framework that is not listed refuses a kernel, with its reason."""
    try:
        yield
    except Unsupported as reason:
        if name in LISTED:
            raise
        pytest.skip(str(reason))


def as_expected(name, device, found, reason):
    """Return whether a verdict is right: no framework computes a wrong result, and a listed one
    refuses kernels that it lacks.

    reason: part of the listed framework's reason, or a tuple of several, any one of them; None
    where it has the kernel. A device other than the processor may have kernels that the processor
    lacks.
    """
    if "wrong" == found or name not in LISTED:
        return "wrong" != found
    if "ok" == found:
        return reason is None or device != "cpu"
    reasons = (reason,) if isinstance(reason, str) else reason or ()
    return any(each in found[:90] for each in reasons)


def every_operation(*problems):
    """Return each problem with each of its operations."""
    return [(problem, operation) for problem in problems for operation in problem.operations]


def check_of_every_kernel(cases, without=(), in_numpy=("float32",), refused=None):
    """Return the test of pairs of problem and operation, over frameworks, devices and precisions.

    without: listed frameworks that may lack the family. in_numpy: precisions that numpy has.
    refused: function from framework, precision and operation to a part of the reason why there is
    no such kernel, or None; for refusals of this family alone.
    """

    @pytest.mark.parametrize(("problem", "operation"), cases, ids=_name)
    @pytest.mark.parametrize("precision", cases[0][0].precisions)
    @pytest.mark.parametrize(("name", "device"), PLACES)
    def test(name, device, precision, problem, operation):
        """Outputs of every operation are right in every precision, or refused with the reason."""
        loaded_with(name, device, problem.family, without)
        reason = _usual(name, precision, operation, in_numpy)
        if reason is None and refused is not None:
            reason = refused(name, precision, operation)
        found = verdict(name, problem, precision, operation, device)
        assert as_expected(name, device, found, reason), found

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
    half = precision == "float16" and name == "openvino"
    if name in ONNX and (half or precision == "bfloat16") and lacks(name, precision):
        return (f"{name}'s ", NO_GRADIENTS) if operation.endswith("backward") else f"{name}'s "
    if name == "mindspore" and precision == "bfloat16":
        return "mindspore has no product of bfloat16"
    if name == "mindspore" and operation.endswith("backward"):
        return "mindspore computes gradients together with the forward pass"
    if name == "numpy" and precision not in in_numpy:
        return "numpy "
    if name in ONNX and operation.endswith("backward"):
        return NO_GRADIENTS
    return None


def _name(value):
    return value if isinstance(value, str) else value.id
