"""Kernels run once and judged by their references: for tables over frameworks and wrong kernels."""

import numpy as np
from installed_frameworks import loaded

from deepbench_ops.errors import Unsupported


def built(name, problem, precision, operation, device="cpu", seed=0):
    """Return the kernel; None where the framework lacks it, or says so when it is run."""
    backend = loaded(name, device)
    try:
        return backend.build(problem, precision, operation, seed)
    except Unsupported:
        return None
    except Exception as error:
        if backend.lacks(error):
            return None
        raise


def ran(kernel):
    """Return the kernel after one run from its initial state."""
    kernel.reset()
    kernel.run()
    kernel.synchronise()
    return kernel


def accepts(reference, values):
    """Return whether a reference allows every entry of an array."""
    expected, allowed = reference.everywhere()
    assert expected.shape == values.shape
    return bool(np.all(np.abs(values - expected) <= allowed))


def judged(kernel):
    """Return whether every entry of every output is within the tolerance."""
    return all(accepts(each.reference, each.result()) for each in kernel.outputs.values())


def agrees_with_itself(reference, seed=0):
    """Return whether values and limits are the same at single entries as everywhere.

    Values may differ by a millionth of their limit: where terms cancel, as for one key alone, the
    order of a sum decides whether the rest is 0.
    """
    random = np.random.default_rng(seed)
    index = tuple(random.integers(0, size, 20) for size in reference.shape)
    (values, limits), (few, few_limits) = reference.everywhere(), reference.at(index)
    np.testing.assert_allclose(few_limits, limits[index], rtol=1e-6, atol=1e-30)
    differences = np.abs(np.subtract(few, values[index]))
    return bool(np.all(differences <= 1e-6 * np.maximum(np.abs(few), few_limits)))
