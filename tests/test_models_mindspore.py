"""The paper's networks in MindSpore: the same layers, weights and steps as in torch."""

import pytest

ms = pytest.importorskip("mindspore")
from deepbench_ops import backends  # noqa: E402
from deepbench_ops.backends import check  # noqa: E402
from deepbench_ops.errors import DeepbenchError, Unsupported  # noqa: E402
from deepbench_ops.models import twins  # noqa: E402
from deepbench_ops.models.catalogue import network  # noqa: E402
from deepbench_ops.models.mindspore.layers import parameters  # noqa: E402
from deepbench_ops.problems.model import Model  # noqa: E402

COMPARED = ("googlenet", "lstm", "bert_pretraining_128")


@pytest.fixture(scope="module")
def backend():
    return backends.load("mindspore")


def twin(name):
    return Model(name=name, batch=twins.BATCH, whole=False)


@pytest.mark.parametrize("name", COMPARED)
def test_a_step_comes_to_what_torch_comes_to_in_float64(backend, name):
    """Loss and gradients; run twice from the start, as every check does."""
    assert check.check(backend, twin(name), "float32", "training_step").ok


@pytest.mark.parametrize("name", COMPARED)
def test_parameters_have_torchs_shapes_in_torchs_order(name):
    pytest.importorskip("torch")
    from deepbench_ops.models.weights import filled, wanted

    known = network(name)
    ours = [tuple(p.shape) for p, _ in parameters(known.make(known.small, "mindspore"))]
    assert ours == [each.shape for each in wanted(filled(lambda: known.make(known.small)))]


@pytest.mark.parametrize("name", COMPARED)
def test_steps_learn_and_a_reset_forgets(backend, name):
    kernel = backend.build(twin(name), "float32", "training_step")
    losses = []
    for _ in range(3):
        kernel.run()
        losses.append(kernel.result()[0])
    kernel.reset()
    kernel.run()
    assert kernel.result()[0] == pytest.approx(losses[0], rel=1e-6)
    assert losses[2] != pytest.approx(losses[0], rel=1e-6)


def test_a_step_with_other_weights_is_found_out(backend, monkeypatch):
    """The check is not one that anything passes."""
    from deepbench_ops.backends.mindspore_backend import model

    filled = model.filled
    monkeypatch.setattr(model, "filled", lambda known, form, seed: filled(known, form, seed + 1))
    with pytest.raises(DeepbenchError, match="lstm"):
        check.verify(backend, twin("lstm"), "float32", "training_step")


@pytest.mark.parametrize(
    ("name", "precision", "operation", "reason"),
    [
        ("resnet50", "float32", "training_step", "not written in mindspore"),
        ("lstm", "float16", "training_step", "float32 alone"),
        ("lstm", "float32", "forward", "not served"),
    ],
)
def test_what_is_not_there_is_refused_with_the_reason(backend, name, precision, operation, reason):
    with pytest.raises(Unsupported, match=reason):
        backend.build(twin(name), precision, operation)
