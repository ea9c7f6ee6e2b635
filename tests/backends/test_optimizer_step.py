"""Steps of optimisers: frameworks and ways; wrong steps; state over many calls; bad sizes."""

import numpy as np
import pytest
from framework_table import ONNX, as_expected, loaded_with, refusals_of_others
from installed_frameworks import PLACES
from kernel_checks import accepted, agrees, verdict

from deepbench_ops import backends
from deepbench_ops.backends import output_check
from deepbench_ops.backends.families import optimizer_step as family
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.optimizer_step import OptimizerStep
from deepbench_ops.problems.problem_ids import problem_of

PROBLEMS = {name: OptimizerStep(name, 3, 17, 29) for name in ("sgd", "adamw", "muon")}


WITHOUT = ("tensorflow", *ONNX)
"""Frameworks that need no steps of optimisers."""


def refused(name, algorithm, operation):
    """Return a part of the reason why a framework has no such step, None where it has one."""
    if name == "numpy" and algorithm == "muon":
        return "numpy has no bfloat16"
    if operation != "step" and (name in ("numpy", "jax") or algorithm == "muon"):
        return "one way to step"
    return None


@pytest.mark.parametrize("operation", OptimizerStep.operations)
@pytest.mark.parametrize("algorithm", PROBLEMS)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_every_kernel_passes_its_check(name, device, algorithm, operation):
    """Parameters and state are right in every way to step, or refused with the reason."""
    loaded_with(name, device, OptimizerStep.family, WITHOUT)
    found = verdict(name, PROBLEMS[algorithm], "float32", operation, device)
    assert as_expected(name, device, found, refused(name, algorithm, operation)), found


def step_of_sgd(drawn, momentum=0.9, rate=family.RATE):
    """Return new parameters and momentum in float64."""
    p, g, m = (np.float64(drawn[name]) for name in ("parameters", "gradients", "momentum"))
    m = momentum * m + g
    return {"": p - rate * m, "momentum": m}


@pytest.mark.parametrize("mistake", [{}, {"momentum": 0.95}, {"momentum": 0}, {"rate": 1.1e-3}])
def test_wrong_steps_of_sgd_are_caught(mistake):
    """Another momentum, none, and another rate are caught."""
    problem = PROBLEMS["sgd"]
    outputs = step_of_sgd(family.inputs(problem, "float32"), **mistake)
    assert (not mistake) == accepted(problem, "step", outputs)


def step_of_adamw(drawn, time=10, decay=family.DECAY, decoupled=True, epsilon=family.EPSILON):
    """Return new parameters and moments in float64."""
    p, g, m, v = (
        np.float64(drawn[name])
        for name in ("parameters", "gradients", "first_moment", "second_moment")
    )
    g = g if decoupled else g + decay * p
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    root = np.sqrt(v / (1 - 0.999**time)) + epsilon
    kept = 1 - family.RATE * decay * decoupled
    new = p * kept - family.RATE * m / (1 - 0.9**time) / root
    return {"": new, "first_moment": m, "second_moment": v}


@pytest.mark.parametrize(
    "mistake",
    [{}, {"time": 11}, {"time": 9}, {"decay": 0}, {"decoupled": False}, {"epsilon": 1e-3}],
)
def test_wrong_steps_of_adamw_are_caught(mistake):
    """The count of steps, the decay, where it goes and epsilon all count."""
    problem = PROBLEMS["adamw"]
    outputs = step_of_adamw(family.inputs(problem, "float32"), **mistake)
    assert (not mistake) == accepted(problem, "step", outputs)


def step_of_muon(drawn, steps=1.0, nesterov=True, decay=family.MUON_DECAY, rounding=True):
    """Return new parameters and momentum, the update scaled by `steps`."""
    p, g, m = (np.float64(drawn[name]) for name in ("parameters", "gradients", "momentum"))
    m = 0.95 * m + 0.05 * g
    update = family.orthogonal(0.05 * g + 0.95 * m if nesterov else m, rounding)
    return {"": p * (1 - family.RATE * decay) - family.RATE * steps * update, "momentum": m}


@pytest.mark.parametrize(
    "mistake", [{}, {"rounding": False}, {"steps": 0}, {"steps": -1}, {"decay": 0}]
)
def test_wrong_steps_of_muon_are_caught(mistake):
    """With and without rounding the step is right; none, its opposite and no decay are caught."""
    problem = PROBLEMS["muon"]
    outputs = step_of_muon(family.inputs(problem, "float32"), **mistake)
    assert (mistake in ({}, {"rounding": False})) == accepted(problem, "step", outputs)


def test_muons_update_is_nearly_orthogonal():
    """All singular values come near 1, as its authors say: between 0.6 and 1.3."""
    drawn = family.inputs(PROBLEMS["muon"], "float32")
    values = np.linalg.svd(family.orthogonal(np.float64(drawn["gradients"]), False))[1]
    assert values.min() > 0.6
    assert values.max() < 1.3


@pytest.mark.parametrize("algorithm", PROBLEMS)
@pytest.mark.parametrize("name", backends.NAMES)
def test_many_calls_stay_finite_and_a_reset_goes_back(name, algorithm):
    """After 500 timed calls all numbers are ordinary, and one step from a reset is right again."""
    if reason := refused(name, algorithm, "step"):
        pytest.skip(reason)
    backend = loaded_with(name, "cpu", OptimizerStep.family, WITHOUT)
    with refusals_of_others(name):
        kernel = backend.build(PROBLEMS[algorithm], "float32", "step")
    for _ in range(500):
        kernel.run()
    for output in kernel.outputs.values():
        size = np.abs(output.result())
        assert 1e-3 < size.mean() < 100
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("algorithm", PROBLEMS)
def test_reference_at_some_entries_is_the_whole_reference(algorithm):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEMS[algorithm], "step")


def test_muon_of_a_vector_is_refused_in_one_line():
    """Muon is for matrices."""
    with pytest.raises(DeepbenchError, match="Muon is for matrices: write two rows"):
        problem_of("optimizer_step", "muon_tensors4_1x100")


def test_bytes_and_flops():
    """SGD moves 5 numbers a parameter, AdamW 7; Muon multiplies three times in each of 5 steps."""
    sgd, adamw, muon = (OptimizerStep(name, 2, 3, 5) for name in PROBLEMS)
    assert (150 * 4, 210 * 4) == (sgd.bytes("float32"), adamw.bytes("float32"))
    assert (120, 420) == (sgd.flops, adamw.flops)
    assert 2 * 5 * (4 * 9 * 5 + 2 * 27) + 270 == muon.flops


def test_a_fused_step_that_a_release_has_on_gpus_alone_is_refused(monkeypatch):
    """torch before 2.4 raises this when an AdamW with fused=True is made of tensors on the CPU."""
    torch = pytest.importorskip("torch")
    reason = "`fused=True` requires all the params to be CUDA, floating point Tensor"

    def refuses(parameters, fused=False, **_):
        raise RuntimeError(reason)

    backend = loaded_with("torch", "cpu", OptimizerStep.family, WITHOUT)
    monkeypatch.setattr(torch.optim, "AdamW", refuses)
    with pytest.raises(Unsupported, match=r"^torch \S+: `fused=True` requires"):
        backend.build(PROBLEMS["adamw"], "float32", "fused_step")
    with pytest.raises(RuntimeError, match=r"^`fused=True` requires"):
        backend.build(PROBLEMS["adamw"], "float32", "step")
