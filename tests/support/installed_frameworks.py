"""Frameworks and programs that a test needs; if one is missing it is skipped, with the reason."""

import ctypes
import importlib.util
import shutil
from functools import cache
from itertools import product

import pytest

from deepbench_ops import backends
from deepbench_ops.backends import framework_list
from deepbench_ops.backends.functional import CpuBackend
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure import cuda_driver
from deepbench_ops.problems.gemm import Gemm


def loaded(name, device="cpu"):
    """Return a backend, or skip with the reason that makes it unavailable here."""
    for library in (name, *framework_list.found()[0][name].companions):
        pytest.importorskip(library)
    try:
        return backends.load(name, device)
    except Unsupported as reason:
        pytest.skip(str(reason))


EVERY_PLACE = tuple(product(backends.NAMES, backends.DEVICES))
"""Every framework on every device."""


def _may_be_here(name, device):
    """Return whether a framework is installed, and no driver that its device needs is missing."""
    libraries = (name, *framework_list.found()[0][name].companions)
    installed = all(importlib.util.find_spec(each) for each in libraries)
    return installed and (device != "cuda" or _has_nvidia_driver())


@cache
def _has_nvidia_driver():
    try:
        ctypes.CDLL(cuda_driver.LIBRARY)
    except OSError:
        return False
    return True


PLACES = tuple(place for place in EVERY_PLACE if _may_be_here(*place))
"""Places of the tables over frameworks. Each of the others would be skipped thousands of times:
tests/backends/test_absent_places.py skips it once, with the reason."""


def eager(name, device="cpu"):
    """Return a backend that writes into arrays of its own, or skip: the others compile for each
    shape, and test_compiled_backends.py tests them."""
    backend = loaded(name, device)
    if _returns_new_arrays(backend):
        pytest.skip(f"{name} returns new arrays: test_compiled_backends.py tests it")
    return backend


def functional(name):
    """Return a backend that returns new arrays, or skip."""
    backend = loaded(name)
    if not _returns_new_arrays(backend):
        pytest.skip(f"{name} writes into arrays of its own")
    return backend


def _returns_new_arrays(backend):
    return backend.compiles or isinstance(backend, CpuBackend)


@cache
def lacks(name, precision):
    """Return whether a framework has no products of a precision on this processor."""
    try:
        loaded(name).build(Gemm(m=2, n=2, k=2), precision)
    except Unsupported:
        return True
    return False


def lacking_precisions(name, table, usual):
    """Return the precisions that a framework lacks by a table; of openvino, which has 16 bits on
    some processors only, also those that it lacks on this one."""
    found = table.get(name, usual)
    if name != "openvino":
        return found
    return found | {each for each in ("bfloat16", "float16") if lacks(name, each)}


def products_refused(name, precision, operation):
    """Return the reason why onnxruntime, which has some operators of float16, has no product of it
    on this processor; None for others."""
    refused = (name, precision) == ("onnxruntime", "float16") and lacks(name, precision)
    if operation.endswith("backward") or not refused:
        return None
    return "onnxruntime's CPUExecutionProvider has no products of float16"


def skip_without(backend, family):
    """Skip where a framework has no kernels of a family."""
    if backend.builder(family) is None:
        pytest.skip(f"{backend.name} has no kernels of {family}")


def needed(library, program=None):
    """Skip where a library, or a program on the path, is not installed."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
