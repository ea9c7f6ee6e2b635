"""Setup of the tests of kernels: torch has all implementations of attention enabled."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def every_implementation_of_attention() -> Iterator[None]:
    """A kernel of one implementation disables the others in this process. Kernels enable them when
    they are reset; tests that call torch themselves need it as well."""
    yield
    if "torch" in sys.modules:
        from deepbench_ops.backends.torch_backend import tensors

        tensors.enable_attention()
