"""Launch of a worker: the folders that it shares with workers of other releases."""

from datetime import date

from deepbench_ops.backends import reference_cache, run_cache
from deepbench_ops.releases import environment_install, worker_launch
from deepbench_ops.releases.release_table import Release


def test_workers_share_expected_values_and_no_passed_checks(monkeypatch, tmp_path):
    """A check that one release has passed says nothing about another one, also in an `asv run`."""
    monkeypatch.setattr(environment_install.Installation, "is_complete", lambda self: True)
    monkeypatch.setattr(environment_install.Installation, "ensure", lambda self: None)
    monkeypatch.setenv(run_cache.FOLDER_VARIABLE, str(tmp_path / "answers"))
    launch = worker_launch.launch(Release("numpy", "2.4.6", date(2026, 5, 18)), tmp_path / "env")
    assert str(tmp_path / "references") == launch.environ[reference_cache.FOLDER_VARIABLE]
    assert "" == launch.environ[run_cache.FOLDER_VARIABLE]
