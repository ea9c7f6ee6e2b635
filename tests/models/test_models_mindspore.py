"""The paper's networks in MindSpore: the same layers, weights and steps as in torch."""

import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")
from deepbench_ops import backends  # noqa: E402
from deepbench_ops.backends import output_check  # noqa: E402
from deepbench_ops.errors import DeepbenchError, Unsupported  # noqa: E402
from deepbench_ops.models import recorded_training_steps  # noqa: E402
from deepbench_ops.models.mindspore.layers import parameters  # noqa: E402
from deepbench_ops.models.network_catalogue import network  # noqa: E402
from deepbench_ops.problems.model import Model  # noqa: E402

COMPARED = ("googlenet", "lstm", "bert_pretraining_128")


@pytest.fixture(scope="module")
def backend():
    return backends.load("mindspore")


def twin(name):
    return Model(name=name, batch=recorded_training_steps.BATCH, whole=False)


@pytest.mark.parametrize("name", COMPARED)
def test_a_step_comes_to_what_torch_comes_to_in_float64(backend, name):
    """Loss and gradients; run twice from the start, as every check does."""
    assert output_check.check(backend, twin(name), "float32", "training_step").ok


@pytest.mark.parametrize("name", COMPARED)
def test_parameters_have_torchs_shapes_in_torchs_order(name):
    pytest.importorskip("torch")
    from deepbench_ops.models.torch_weights import filled, parameter_shapes

    known = network(name)
    ours = [tuple(p.shape) for p, _ in parameters(known.make(known.small, "mindspore"))]
    assert ours == [
        each.shape for each in parameter_shapes(filled(lambda: known.make(known.small)))
    ]


FIRST = """
import time
from deepbench_ops import backends
from deepbench_ops.problems import find
kernel = backends.load("mindspore").build(find("gemm", "m3072_n1500_k1024_NN"), "float32")
taken = []
for _ in range(7):
    begun = time.perf_counter()
    kernel.run()
    kernel.synchronise()
    taken.append(time.perf_counter() - begun)
print(*taken)
"""


def test_a_call_is_over_when_it_is_waited_for_the_first_one_too():
    """In a process of its own. The rest of a call is timed with the next one: a kernel that had
    run once before it was timed took twice as long."""
    said = subprocess.run(
        [sys.executable, "-c", FIRST], capture_output=True, text=True, check=True
    ).stdout
    second, *others = map(float, said.split())
    assert second < 1.6 * statistics.median(others)


@pytest.mark.parametrize("name", COMPARED)
def test_steps_learn_and_a_reset_forgets(backend, name):
    """The optimiser's state, too: the second step depends on it, and the third more."""
    kernel = backend.build(twin(name), "float32", "training_step")
    losses: list[list[float]] = [[], []]
    for goes in losses:
        kernel.reset()
        for _ in range(3):
            kernel.run()
            goes.append(float(kernel.result()[0]))
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert losses[0][2] != pytest.approx(losses[0][0], rel=1e-5)


@pytest.mark.parametrize("name", COMPARED)
def test_the_optimiser_does_what_torchs_does(name):
    """The weights after two steps, of layers and of normalisations."""
    torch = pytest.importorskip("torch")
    from deepbench_ops.models.mindspore.training_steps import TrainingStep, filled, tensors
    from deepbench_ops.models.torch_weights import filled as torch_filled
    from deepbench_ops.models.training_steps import TrainingStep as TorchStep

    known = network(name)
    form = known.small
    batch = form.inputs(4), form.targets(4)
    ours = TrainingStep(filled(known, form, 0), known, *map(tensors, batch))
    ours.without_dropout()
    module = torch_filled(lambda: known.make(form))
    for layer in module.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0
    arrays = ([torch.from_numpy(each) for each in part] for part in batch)
    theirs = TorchStep(module, known.loss, known.recipe, *arrays)
    for _ in range(2):
        ours.step()
        theirs.step()
    trained = [p for p in module.parameters() if p.requires_grad]
    for mine, other in zip(ours.trained, trained, strict=True):
        if "key.bias" in mine.name:
            continue  # its gradient is zero but for rounding, which AdamW turns into whole steps
        off = np.abs(mine.asnumpy() - other.detach().numpy())
        assert np.quantile(off, 0.9) < 1e-5, mine.name


def test_what_is_timed_first_does_not_compile(backend):
    """A long call is timed once, without a warm-up."""
    kernel = backend.build(Model(name="lstm", batch=1), "float32", "training_step")
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        kernel.run()
        kernel.synchronise()
        taken.append(time.perf_counter() - begun)
    assert taken[0] < 5 * min(taken)


def test_a_whole_network_is_judged_by_a_forward_pass(backend):
    kernel = backend.build(Model(name="lstm", batch=2), "float32", "training_step")
    assert output_check.verify_output(kernel).ok


def test_a_step_with_other_weights_is_found_out(backend, monkeypatch):
    """The check is not one that anything passes."""
    from deepbench_ops.backends.mindspore_backend import model

    filled = model.filled
    monkeypatch.setattr(model, "filled", lambda known, form, seed: filled(known, form, seed + 1))
    with pytest.raises(DeepbenchError, match="lstm"):
        output_check.verify(backend, twin("lstm"), "float32", "training_step")


@pytest.mark.parametrize(
    ("name", "precision", "operation", "reason"),
    [
        ("resnet50", "float32", "training_step", "not in mindspore"),
        ("bert_large_128", "float32", "training_step", "LAMB, .* does not have"),
        ("lstm", "float16", "training_step", "float32 only"),
        ("lstm", "float32", "forward", "not in inference"),
    ],
)
def test_what_is_not_there_is_refused_with_the_reason(backend, name, precision, operation, reason):
    with pytest.raises(Unsupported, match=reason):
        backend.build(twin(name), precision, operation)
