"""Launch of a worker: the folders that it shares with other workers."""

from datetime import date

import pytest

from deepbench_ops import backends
from deepbench_ops.backends import output_check, reference_cache, run_cache
from deepbench_ops.backends.output_check import Check
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.releases import environment_install, worker_launch
from deepbench_ops.releases.release_table import Release


@pytest.fixture
def launched(monkeypatch, tmp_path):
    monkeypatch.setattr(environment_install.Installation, "is_complete", lambda self: True)
    monkeypatch.setattr(environment_install.Installation, "ensure", lambda self: None)
    monkeypatch.setenv(run_cache.FOLDER_VARIABLE, str(tmp_path / "answers"))
    worker_launch._answers.cache_clear()  # other tests may have passed checks
    return lambda release: worker_launch.launch(release, tmp_path / "env")


NEW = Release("numpy", "2.4.6", date(2026, 5, 18))
OLD = Release("numpy", "2.3.4", date(2025, 10, 15))


def test_workers_of_all_releases_share_expected_values(launched, tmp_path):
    for release in (OLD, NEW):
        found = launched(release).environ[reference_cache.FOLDER_VARIABLE]
        assert str(tmp_path / "references") == found


def test_only_workers_of_the_same_release_share_passed_checks(launched, tmp_path):
    """A check that one release has passed says nothing about another one, also in an `asv run`."""
    old, new, again = (
        launched(each).environ[run_cache.FOLDER_VARIABLE] for each in (OLD, NEW, NEW)
    )
    assert new == again
    assert 3 == len({old, new, str(tmp_path / "answers")})


def test_a_release_passes_the_check_of_a_small_twin_once_for_all_rounds(monkeypatch, launched):
    """The sampled entries of each output that is timed are compared in every round."""
    checks = []
    monkeypatch.setattr(
        output_check, "check", lambda *of: checks.append(of) or Check(0.0, 1.0, True)
    )
    problem = problem_of("gemm", "m35_n700_k2048_NN")
    backend = backends.load("numpy", "cpu")
    for release in (NEW, NEW, OLD):
        monkeypatch.setattr(output_check, "_passed", RunCache(output_check._passed.question))
        for name, value in launched(release).environ.items():
            monkeypatch.setenv(name, value)
        output_check.verify(backend, problem, "float32")
    assert 2 == len(checks)
