"""Decisions of the code for GPUs that can be tested without one."""

import numpy as np
import pytest

from deepbench_ops.backends import families
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems import find

pytest.importorskip("torch")

import torch

from deepbench_ops.backends.torch_backend import attention, conv, sparse_gemm
from deepbench_ops.backends.torch_backend.backend import TorchBackend


def passes(dtype, sums):
    """A convolution in 16 bits and in float32; sums: type in which both halves of it are added."""
    drawn = torch.Generator().manual_seed(0)
    x, w = (torch.randn(size, generator=drawn).to(dtype) for size in ((64, 475), (475, 32)))
    wide = x.float() @ w.float()
    halves = (x[:, :200].float() @ w[:200].float()).to(sums), x[:, 200:].float() @ w[200:].float()
    return lambda: (halves[0].float() + halves[1]).to(dtype), lambda: wide


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_algorithm_that_rounds_sums_to_16_bits_is_not_taken(dtype):
    """cuDNN's fastest one may; one that rounds its results alone is kept."""
    assert conv._keeps_wide_sums(*passes(dtype, torch.float32))
    assert not conv._keeps_wide_sums(*passes(dtype, dtype))


def test_attention_without_an_implementation_is_no_fault(monkeypatch):
    """torch 2.11 on a GPU says "Invalid backend"."""

    def choose(*_, **__):
        raise RuntimeError("Invalid backend")

    monkeypatch.setattr(torch, "_fused_sdp_choice", choose)
    q = torch.zeros(1, 1, 2, 4)
    with pytest.raises(Unsupported, match="no such implementation"):
        attention.chosen_implementation(q, q, q)


def test_sparse_products_in_16_bits_are_refused_on_a_gpu():
    """cuSPARSE rounds sums of them to 16 bits."""
    backend = TorchBackend()
    backend.device = "cuda"
    problem = families.small(find("sparse_gemm", "m7680_n2_k2560_NN_sparsity0.95"))
    with pytest.raises(Unsupported, match="cuSPARSE, which rounds sums"):
        sparse_gemm.build(backend, problem, "bfloat16", "forward", 0)


def test_jax_keeps_float32_sums_of_products_with_a_vector_on_a_gpu():
    """XLA computes these as multiplications and a sum, each in the type of the result."""
    pytest.importorskip("jax")
    from deepbench_ops.backends.jax_backend.backend import JaxBackend

    backend = JaxBackend()
    kinds = [np.dtype(backend.type_of_sums("float16", *sizes)) for sizes in ((1, 64), (2, 64))]
    assert [np.float16, np.float16] == kinds
    backend.device = "cuda"
    kinds = [np.dtype(backend.type_of_sums("float16", *sizes)) for sizes in ((1, 64), (2, 64))]
    assert [np.float32, np.float16] == kinds


def test_cudnns_missing_attention_in_jax_is_no_fault():
    pytest.importorskip("jax")
    from deepbench_ops.backends.jax_backend.backend import JaxBackend

    assert JaxBackend().lacks(ValueError("Unsupported dtype for inputs."))
    assert not JaxBackend().lacks(ValueError("Unsupported shape"))
