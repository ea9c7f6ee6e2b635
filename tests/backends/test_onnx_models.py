"""ONNX models load in every listed release of the runtimes."""

import onnx
import pytest

from deepbench_ops.backends.families.rnn import inputs
from deepbench_ops.backends.onnx_models import rnn
from deepbench_ops.problems.rnn import Rnn


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
