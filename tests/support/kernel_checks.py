"""Judging of kernels and of outputs made by hand, with the references of a family."""

import numpy as np
from installed_frameworks import loaded

from deepbench_ops.backends import families, output_check
from deepbench_ops.errors import Unsupported


def verdict(name, problem, precision, operation, device="cpu"):
    """Return "ok", "wrong", or the reason why a framework has no such kernel."""
    backend = loaded(name, device)
    try:
        found = output_check.check(backend, problem, precision, operation)
        kernel = backend.build(families.small(problem), precision, operation)
    except Unsupported as reason:
        return str(reason)
    return "ok" if found.ok and output_check.spot_check(kernel).ok else "wrong"


def accepted(problem, operation, outputs, precision="float32", drawn=None):
    """Return whether the check of a problem takes these outputs, by their names, for right."""
    drawn = drawn or families.module_of(problem).inputs(problem, precision)
    references = families.references(problem, drawn, precision, operation)
    assert set(references) == set(outputs)
    return all(
        bool(np.all(np.abs(outputs[name] - expected) <= allowed))
        for name, (expected, allowed) in (
            (name, each.everywhere()) for name, each in references.items()
        )
    )


def agrees(problem, operation, precision="float32"):
    """Return whether each reference is the same at some entries as everywhere."""
    drawn = families.module_of(problem).inputs(problem, precision)
    for each in families.references(problem, drawn, precision, operation).values():
        index = output_check._entries(each.shape, 9, seed=1)
        for whole, some in zip(each.everywhere(), each.at(index), strict=True):
            np.testing.assert_allclose(whole[index], some, rtol=1e-9, atol=1e-12)
    return True


def distinguishes(reference, right, wrong):
    """Return whether a reference takes right outputs, and refuses wrong ones everywhere as well as
    at the entries of a spot check."""
    expected, allowed = reference.everywhere()
    off = np.abs(wrong - expected)
    index = output_check._entries(reference.shape, output_check.ENTRIES, seed=0)
    return bool(
        np.all(np.abs(right - expected) <= allowed)
        and not np.all(off <= allowed)
        and not np.all(off[index] <= reference.at(index)[1])
    )
