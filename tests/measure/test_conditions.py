"""Run conditions on request: the effect of each axis, and none without a request."""

from pathlib import Path

import pytest
from example_points import point

from deepbench_ops.analysis.fastest_machine_by_kernel import records
from deepbench_ops.analysis.kernel_lines import lines
from deepbench_ops.analysis.machine_summary import family_summaries
from deepbench_ops.asv_adapter import asv_api, configuration_check
from deepbench_ops.asv_adapter.asv_environment import ReleaseEnvironment
from deepbench_ops.backends import output_check
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import FAMILIES, load
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import Selected
from deepbench_ops.run_conditions import CACHE, CONDITIONS, EXECUTION, LAYOUT

ROOT = Path(configuration_check.__file__).parents[2]
PUBLISHED = "release-py3-DEEPBENCH_CACHEwarm-DEEPBENCH_DEVICEcpu"
PLAIN = {"DEEPBENCH_CACHE": "warm", "DEEPBENCH_DEVICE": "cpu"}
ON_REQUEST = [
    pytest.param(condition, value, id=value)
    for condition in CONDITIONS
    if condition.on_request
    for value in condition.values[1:]
]


def environments(tmp_path, **more):
    """Name and variables of every environment that asv makes of the project's configuration."""
    values = configuration_check.load(ROOT / "asv.conf.json")
    values["matrix"]["env_nobuild"] |= more
    values |= {"repo": str(ROOT / values["repo"]), "env_dir": str(tmp_path)}
    found = list(asv_api.environments(asv_api.configuration(values)))
    assert {ReleaseEnvironment} == {type(one) for one in found}
    return [(one.name, one.env_vars) for one in found]


def test_usual_results_keep_their_names(tmp_path):
    """No such axis is in the configuration, and the committed results are named without any."""
    assert [(PUBLISHED, PLAIN)] == environments(tmp_path)
    committed = {path.stem.partition("-")[2] for path in ROOT.glob("results/*/*-*.json")}
    assert PUBLISHED in committed


@pytest.mark.parametrize(("condition", "value"), ON_REQUEST)
def test_the_axis_as_the_configuration_explains_it(tmp_path, condition, value):
    """null and another value give the old name, with its old variables, and a new one."""
    name = condition.variable
    listed = ", ".join(f'"{each}"' for each in condition.values[1:])
    assert f'"{name}": [null, {listed}]' in (ROOT / "asv.conf.json").read_text()
    found = environments(tmp_path, **{name: [None, value]})
    assert (PUBLISHED, PLAIN) in found
    assert PLAIN | {name: value} == dict(found)[f"{PUBLISHED}-{name}{value}"]
    assert 2 == len(found)


@pytest.mark.parametrize(("condition", "value"), ON_REQUEST)
def test_a_value_from_the_shell_alone_is_refused(tmp_path, monkeypatch, condition, value):
    """Its results would bear the name of the usual ones, so it must be an axis."""
    name = condition.variable
    monkeypatch.setenv(name, value)
    with pytest.raises(
        asv_api.UserError, match=rf"{name} is set to '{value}'.*{condition.usual}.*add .* to"
    ):
        environments(tmp_path)
    added = environments(tmp_path, **{name: [value]})
    assert [f"{PUBLISHED}-{name}{value}"] == [name for name, _ in added]


@pytest.mark.parametrize("condition", [CACHE, LAYOUT, EXECUTION])
def test_a_condition_is_usual_unless_the_environment_says_otherwise(monkeypatch, condition):
    """Unset means the usual value, and a misspelt one is refused with those that exist."""
    monkeypatch.delenv(condition.variable, raising=False)
    assert condition.values[0] == condition.asked()
    monkeypatch.setenv(condition.variable, condition.values[-1])
    assert condition.values[-1] == condition.asked()
    monkeypatch.setenv(condition.variable, "nhwc")
    with pytest.raises(DeepbenchError, match=f"'nhwc': one of {', '.join(condition.values)}"):
        condition.asked()


def test_what_has_no_such_layout_is_skipped_with_the_reason():
    """Only convolutions can lie channels-last; others say so instead of ignoring it."""
    assert ["conv"] == [f for f in FAMILIES if "channels_last" in load(f)[0].layouts]
    backend = NumpyBackend()
    backend.layout = "channels_last"
    with pytest.raises(Unsupported, match="gemm problems have no channels_last layout"):
        backend.build(Gemm(m=3, n=4, k=5), "float32")


def test_only_inference_of_whole_models_is_compiled_or_exported():
    """Others, and a model's training step, say so instead of ignoring it."""
    backend = NumpyBackend()
    backend.execution = "compiled"
    runs = {(name, each) for name, kind in TYPES.items() for each in kind.operations}
    refused = set()
    for name, operation in runs:
        problem = load(name)[0]
        with pytest.raises(Unsupported) as reason:
            backend.build(problem, problem.precisions[0], operation)
        if "is run eager alone: DEEPBENCH_EXECUTION=compiled" in str(reason.value):
            refused.add((name, operation))
    assert {("model", "forward")} == runs - refused


@pytest.mark.parametrize(("condition", "value"), ON_REQUEST)
def test_a_check_under_one_condition_does_not_vouch_for_another(condition, value):
    """The record of a passed check distinguishes them."""
    problem, backend = load("conv")[0], NumpyBackend()
    usual = output_check.kind_of(backend, problem, "float32", "forward")
    setattr(backend, condition.name, value)
    assert usual != output_check.kind_of(backend, problem, "float32", "forward")


@pytest.mark.parametrize(("condition", "value"), ON_REQUEST)
def test_lines_of_another_condition_are_lines_of_their_own(condition, value):
    """A kernel under it is another kernel, in no summary, line or record of the usual one."""
    plain, other = point(), point(**{condition.name: value}, seconds=0.5)
    assert plain.kernel != other.kernel
    assert ({}, {condition.name: value}) == (plain.unusual, other.unusual)
    assert [1.0, 0.5] == [line.levels[0] for line in lines([plain, other], [plain.release], 1)]
    member = Selected(plain.set, plain.problem)
    assert [1.0] == [one.seconds for one in records([plain, other], [member], "float32")]
    together = lines([plain, other], [plain.release], 1)
    assert [1] == [one.kernels for one in family_summaries(together, {}, [])]


def test_a_device_is_no_unusual_one():
    """Where a machine is measured on its GPU, its summaries are of the GPU."""
    assert {"device": "cuda"} == point(device="cuda").unusual
    assert point(device="cuda").usual
    assert not point(cache="cold").usual
