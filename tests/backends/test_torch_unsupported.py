"""How torch words that a device or a chip lacks an operation, and how it words a fault."""

import pytest

pytest.importorskip("torch")

from deepbench_ops.backends.torch_backend.backend import TorchBackend


@pytest.mark.parametrize(
    ("error", "is_lacking"),
    [
        (RuntimeError("torch._scaled_mm is only supported on CUDA devices with compute"), True),
        (ValueError("torch._scaled_grouped_mm is only supported on CUDA devices with"), True),
        (NotImplementedError("offsets in the sparse layout"), True),
        (RuntimeError("CUDA error: no kernel image is available for execution"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("expected 2D tensors"), False),
        (KeyError("not supported"), False),
    ],
)
def test_a_gap_is_no_fault(error, is_lacking):
    """Gaps are skipped with their reason, faults are seen."""
    assert is_lacking == TorchBackend().lacks(error)
