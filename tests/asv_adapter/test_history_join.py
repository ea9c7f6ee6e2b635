"""Points of an asv run that join a history: which, where, and that the run leaves them out."""

import math
from types import SimpleNamespace

import pytest

from deepbench_ops import project
from deepbench_ops.asv_adapter import history_join, machine_entry, run_hooks
from deepbench_ops.measure.kernel_task import KernelTask
from deepbench_ops.releases import release_table
from deepbench_ops.storage import ensemble_round_files

TASK = KernelTask("gemm", "m35_n700_k2048_NN", "float32")
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
    ensemble_round_files.add(ensemble_round_files.path_of(results / "m", "numpy"), {}, [line])
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

    monkeypatch.setattr(history_join, "_measure", [measure])
    return SimpleNamespace(results_dir=str(results), asked=asked)


def test_kernels_of_the_history_are_left_out_of_the_run(conf):
    """In every set that the patterns pick; a framework without a history is measured as always."""
    found = history_join.joined(conf, [NUMPY.hash, TORCH.hash], {"bench": ["InferenceServer"]})
    assert {NUMPY.hash: {SERVER}} == found
    (joining,) = conf.asked
    assert ("numpy", [NUMPY], [TASK]) == (joining.framework, joining.releases, joining.tasks)


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
    assert {} == history_join.joined(conf, [NUMPY.hash], options)
    assert [] == conf.asked


def test_the_variable_keeps_the_old_way(conf, monkeypatch):
    """Every release on its own."""
    monkeypatch.setenv(history_join.ALONE, "1")
    assert {} == history_join.joined(conf, [NUMPY.hash], {})
    assert [] == conf.asked


def test_left_out_points_start_no_process(tmp_path):
    """The run gets asv's skipped value, which replaces no stored one."""
    run = run_hooks.OngoingRun(tmp_path)
    run.joined = {"commit": {SERVER}}
    benchmark = {"name": SERVER[0], "params": [[repr(each)] for each in SERVER[1]], "rounds": 2}
    benchmarks = SimpleNamespace(
        items=lambda: [(SERVER[0], benchmark)], benchmark_selection={SERVER[0]: [0]}
    )
    run.saving = False
    run._begin(benchmarks, SimpleNamespace(installed_commit_hash="commit"), {})
    answer = run.around_point(lambda *a, **k: pytest.fail("started"))(benchmark, None, 0)
    assert [True] == list(map(math.isnan, answer.result))
    assert ([None], [None], 0) == (answer.samples, answer.number, answer.errcode)
