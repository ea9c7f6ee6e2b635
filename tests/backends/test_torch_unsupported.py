"""How torch words that a device or a chip lacks an operation, and how it words a fault."""

import pytest

torch = pytest.importorskip("torch")

from deepbench_ops.backends.torch_backend.backend import TorchBackend  # noqa: E402


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
        (AttributeError("'_OpNamespace' 'aten' object has no attribute '_int4pack'"), True),
        (AttributeError("'Kernel' object has no attribute 'run'"), False),
        (IndexError("tensors used as indices must be long, byte or bool tensors"), True),
        (IndexError("index 9 is out of bounds for dimension 0 with size 9"), False),
        (
            RuntimeError(
                "Expected tensor for argument #1 'weight' to have one of the following scalar"
                " types: Half, Float, Double; but got CPUBFloat16Type instead"
            ),
            True,
        ),
    ],
)
def test_a_gap_is_no_fault(error, is_lacking):
    """Gaps are skipped with their reason, faults are seen."""
    assert is_lacking == TorchBackend().lacks(error)


def test_a_missing_operator_is_recognised_as_torch_words_it():
    """The words of the installed release, for a name that no release has."""
    with pytest.raises(AttributeError) as raised:
        torch.ops.aten.no_release_has_this  # noqa: B018
    assert TorchBackend().lacks(raised.value)
