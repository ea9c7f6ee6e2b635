"""ONNX models load in every listed release of the runtimes, and compute in their precision."""

import sys
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from framework_table import ONNX
from installed_frameworks import loaded

from deepbench_ops.backends.families.gemm import inputs as gemm_inputs
from deepbench_ops.backends.families.rnn import inputs
from deepbench_ops.backends.onnx_models import gemm, rnn
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.gated_mlp import GatedMlp
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.rnn import Rnn
from deepbench_ops.problems.softmax import Softmax


@pytest.mark.parametrize("cell", ["vanilla", "lstm", "gru"])
def test_every_node_of_a_recurrence_has_a_name_of_its_own(cell):
    """onnxruntime 1.18.1 to 1.21.0 names a fused node after its first node: without names, two
    fused nodes of a step have the same, and it refuses the model."""
    problem = Rnn(cell=cell, hidden=8, batch=2, timesteps=3)
    drawn = inputs(problem, "float32")
    model = onnx.load_from_string(rnn.model(problem, drawn, "float32", "forward").serialised)
    body = next(a.g for node in model.graph.node for a in node.attribute if a.name == "body")
    for graph in (model.graph, body):
        names = [node.name for node in graph.node]
        assert sorted(set(names) - {""}) == sorted(names)


@pytest.mark.parametrize("name", ONNX)
@pytest.mark.parametrize(
    ("problem", "operation"),
    [
        (Gemm(3, 4, 5), "forward"),
        (Gemm(3, 4, 5), "first_call"),
        (GatedMlp("swiglu", 3, 4, 5), "forward"),
        (Rnn("lstm", 4, 2, 3), "forward"),
        (Rnn("lstm", 4, 2, 3), "fused_forward"),
    ],
)
def test_products_of_float16_are_not_those_of_float32(name, problem, operation):
    """A runtime that would convert the operands refuses them, as it does those of bfloat16."""
    try:
        kernel = loaded(name).build(problem, "float16", operation)
    except Unsupported as reason:
        assert "float16 on this processor" in str(reason)
        return
    kernel.run()
    assert not {"Cast", "Convert"} & set(kernel.implementation().replace(",", " ").split())
    assert "f32" not in kernel.implementation()


def test_onnxruntime_has_operators_of_float16_without_products():
    """These compute in float32 by definition, in every framework."""
    kernel = loaded("onnxruntime").build(Softmax(3, 5), "float16", "forward")
    kernel.run()
    np.testing.assert_allclose(kernel.result().sum(axis=1), 1, rtol=1e-2)


def test_openvino_has_no_float16_where_the_processor_has_none(monkeypatch):
    """Its first releases list float16 on every processor, and compute in float32 where the
    processor cannot multiply it."""
    backend = loaded("openvino")
    module = sys.modules[type(backend).__module__]
    monkeypatch.setattr(module, "processor_flags", lambda: "flags: fma avx2 avx512f avx512_bf16")
    listed = SimpleNamespace(get_property=lambda *_: ["FP32", "FP16", "BF16", "INT8"])
    monkeypatch.setattr(backend, "_core", listed)
    with pytest.raises(Unsupported, match="no float16 on this processor"):
        backend.build(Softmax(3, 5), "float16")


@pytest.mark.parametrize("primitive", ["ref_any_f32", "jit_gemm_FP32"])
def test_openvino_refuses_products_that_it_converts_to_float32(primitive, monkeypatch):
    """It names a primitive of float32 for them, in its first releases in capital letters."""
    backend = loaded("openvino")
    module = sys.modules[type(backend).__module__]
    layers = [("Reorder", "jit_uni_f32"), ("MatMul", primitive)]
    monkeypatch.setattr(module, "_layers", lambda request: layers)
    monkeypatch.setattr(backend, "request", lambda model: None)
    problem = Gemm(3, 4, 5)

    def refuse(precision):
        drawn = gemm_inputs(problem, precision)
        backend.refuse(gemm.model(problem, drawn, precision, "forward"))

    refuse("float32")
    with pytest.raises(Unsupported, match="no MatMul of float16 on this processor"):
        refuse("float16")
