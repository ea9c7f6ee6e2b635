"""Points of an asv run that join a history: which, where, and that the run leaves them out."""

import math
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import ClassVar

import pytest
from asv.util import UserError

from deepbench_ops import project
from deepbench_ops.asv_adapter import (
    asv_environment,
    history_join,
    machine_entry,
    run_forecast,
    run_hooks,
)
from deepbench_ops.asv_adapter.run_progress import duration_text
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.releases import release_table
from deepbench_ops.storage import ensemble_round_files, measured_rounds

TASK = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")
SERVER = ("gemm.InferenceServer.kernel_forward", ("m35_n700_k2048_NN", "float32"))
NUMPY = next(release for release in release_table.load() if release.name == "numpy-2.3.0")
TORCH = next(release for release in release_table.load() if release.framework == "torch")


@pytest.fixture
def conf(monkeypatch, tmp_path):
    """A project whose machine m has a history of numpy with one kernel."""
    results = tmp_path / "results"
    line = {
        **{"family": "gemm", "problem": TASK.problem, "precision": "float32"},
        **{"operation": "forward", "round": "1-0", "version": "1", "started_at": 1, "ended_at": 2},
        **{"anchor": "numpy-2.2.6", "seconds": {"numpy-2.2.6": [1.0]}, "reasons": {}},
    }
    measured_rounds.add(ensemble_round_files.path_of(results / "m", "numpy"), {}, [line])
    monkeypatch.setattr(project, "results", lambda: results)
    monkeypatch.setattr(machine_entry, "default_name", lambda: "m")
    known = {release.hash: release for release in release_table.load()}
    monkeypatch.setattr(
        history_join, "get_repo", lambda conf: SimpleNamespace(release=known.__getitem__)
    )
    asked = []

    def measure(joining):
        asked.append(joining)
        return {release.name: set(joining.tasks) for release in joining.releases}

    joiner = history_join.Joiner(measure, lambda joining: dict.fromkeys(joining.tasks, 900.0))
    monkeypatch.setattr(history_join, "_joiner", [joiner])
    return SimpleNamespace(results_dir=str(results), asked=asked)


def test_kernels_of_the_history_are_left_out_of_the_run(conf):
    """In every set that the patterns pick; a framework without a history is measured as always."""
    asked = {"bench": ["InferenceServer"]}
    (plan,) = found = history_join.plans(conf, [NUMPY.hash, TORCH.hash], asked)
    assert ([], {NUMPY.hash: {SERVER}}) == (conf.asked, plan.expected)
    assert {NUMPY.hash: {SERVER}} == history_join.measured(found)
    (joining,) = conf.asked
    assert ("numpy", [NUMPY], [TASK]) == (joining.framework, joining.releases, joining.tasks)


def test_what_cannot_join_now_is_measured_as_always(conf, monkeypatch):
    """Without a forecast: caches are cold, or no other release of the history can run."""
    measure = history_join._joiner[0].measure
    monkeypatch.setattr(history_join, "_joiner", [history_join.Joiner(measure, lambda _: {})])
    assert [] == history_join.plans(conf, [NUMPY.hash], {})


@pytest.mark.parametrize(
    "options",
    [
        {"quick": True},
        {"dry_run": True},
        {"append_samples": True},
        {"machine": "other"},
        {"bench": ["^conv"]},
    ],
)
def test_other_runs_are_as_always(conf, options):
    """Looks, other machines, and kernels that the history lacks."""
    assert [] == history_join.plans(conf, [NUMPY.hash], options)


def test_the_variable_keeps_the_old_way(conf, monkeypatch):
    """Every release on its own."""
    monkeypatch.setenv(history_join.ALONE_VARIABLE, "1")
    assert [] == history_join.plans(conf, [NUMPY.hash], {})


def searched(conf, monkeypatch, *plain, variables=MappingProxyType({})):
    """Let asv's search find the kernel and other points, as an `asv run` of two releases does, of
    which one joins; return the points to leave out."""
    names = [SERVER[0], *plain]
    found = {name: {"name": name, "params": PARAMETERS, "rounds": 2} for name in names}
    benchmarks = Found(found)
    search = run_forecast._ending_with_question(lambda *_: benchmarks)
    monkeypatch.setattr(run_hooks, "_current", run_hooks.OngoingRun(Path("spool")))
    options = {"bench": ["InferenceServer", "conv"]}
    question = run_forecast.Question(lambda commit: "numpy", options, frozenset([NUMPY.hash]))
    with run_forecast.asking(question):
        environments = [SimpleNamespace(env_vars=variables)]
        assert benchmarks is search(None, conf, None, environments, [NUMPY.hash, "other"])
    return run_hooks.current().joined


PARAMETERS = [[repr(each)] for each in SERVER[1]]


class Found(dict):
    """asv's benchmarks, all points of them."""

    benchmark_selection: ClassVar[dict] = {}


def test_kernels_that_join_are_measured_after_consent(conf, monkeypatch):
    """Their seconds count once, next to those of all other points."""
    plain = [f"conv.Training.kernel_{number}" for number in range(450)]
    monkeypatch.setenv("DEEPBENCH_YES", "0")
    alone = (2 * (1 + 2 * 450)) * run_forecast.POINT_SECONDS  # two rounds, two releases
    with pytest.raises(UserError) as refused:
        searched(conf, monkeypatch, *plain)
    assert [] == conf.asked
    minutes = duration_text(900 + alone)
    expected = "1802 points of 2 releases, and 1 kernel measured together with earlier releases,"
    assert str(refused.value).startswith(f"{expected} take about {minutes}. A selection")
    monkeypatch.setenv("DEEPBENCH_YES", "1")
    assert {NUMPY.hash: {SERVER}} == searched(conf, monkeypatch, *plain)
    assert 1 == len(conf.asked)


def test_nothing_joins_where_no_environment_has_the_conditions_of_the_history(conf, monkeypatch):
    """As with near and far cores in the matrix: there is no place where it would be filed."""
    assert {} == searched(conf, monkeypatch, variables={"DEEPBENCH_CORES": "near"})
    assert [] == conf.asked


def test_kernels_that_join_make_a_run_long(conf, monkeypatch):
    """Also where all other points take minutes; a short run does not ask."""
    monkeypatch.setenv("DEEPBENCH_YES", "0")
    assert {NUMPY.hash: {SERVER}} == searched(conf, monkeypatch)
    joiner = history_join._joiner[0]
    slow = history_join.Joiner(joiner.measure, lambda joining: {TASK: 3600.0})
    monkeypatch.setattr(history_join, "_joiner", [slow])
    with pytest.raises(UserError, match=r"^2 points of 2 releases, and 1 kernel .* 60 min"):
        searched(conf, monkeypatch)
    assert 1 == len(conf.asked)


def test_left_out_points_start_no_process(tmp_path):
    """The run gets asv's skipped value, which replaces no stored one."""
    run = run_hooks.OngoingRun(tmp_path)
    run.joined = {"commit": {SERVER}}
    benchmark = {"name": SERVER[0], "params": [[repr(each)] for each in SERVER[1]], "rounds": 2}
    benchmarks = SimpleNamespace(
        items=lambda: [(SERVER[0], benchmark)], benchmark_selection={SERVER[0]: [0]}
    )
    run.saving = False
    run._begin(benchmarks, SimpleNamespace(installed_commit_hash="commit", env_vars={}), {})
    answer = run.around_point(lambda *a, **k: pytest.fail("started"))(benchmark, None, 0)
    assert [True] == list(map(math.isnan, answer.result))
    assert ([None], [None], 0) == (answer.samples, answer.number, answer.errcode)


@pytest.mark.parametrize(
    ("variables", "left_out"),
    [
        ({"DEEPBENCH_CACHE": "warm"}, True),
        ({"DEEPBENCH_CACHE": "cold"}, False),
        ({"DEEPBENCH_CORES": "near"}, False),
    ],
)
def test_points_are_left_out_where_the_history_was_measured(tmp_path, variables, left_out):
    """Other environments of the matrix measure them: the history is not of their conditions."""
    run = run_hooks.OngoingRun(tmp_path)
    run.joined, run.saving = {"commit": {SERVER}}, False
    none = SimpleNamespace(items=lambda: [], benchmark_selection={})
    run._begin(none, SimpleNamespace(installed_commit_hash="commit", env_vars=variables), {})
    assert ({SERVER} if left_out else set()) == run._left_out
    assert left_out == asv_environment.is_of_this_process(variables)


def test_a_condition_that_only_the_process_has_is_refused(monkeypatch):
    """Its results would be filed under the usual one; the usual value may be set."""
    warm = {("env_nobuild", "DEEPBENCH_DEVICE"): "cpu"}
    monkeypatch.setenv("DEEPBENCH_CACHE", "warm")
    asv_environment._refuse_hidden_axes(warm)
    monkeypatch.setenv("DEEPBENCH_CACHE", "cold")
    with pytest.raises(UserError, match="DEEPBENCH_CACHE is set to 'cold' in the environment"):
        asv_environment._refuse_hidden_axes(warm)
    asv_environment._refuse_hidden_axes({**warm, ("env_nobuild", "DEEPBENCH_CACHE"): "warm"})
