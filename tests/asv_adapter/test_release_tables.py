"""asv's tables of releases find the machines that have results of them."""

from types import SimpleNamespace

import pytest

from deepbench_ops.asv_adapter import asv_api, release_tables

COMMIT = "0123456789" * 4


@pytest.mark.parametrize("length", [6, 8, 12])
def test_a_machine_is_found_whatever_length_of_hash_is_shown(tmp_path, monkeypatch, length):
    """asv names result files by eight digits, and shows as many as hash_length says."""
    path = tmp_path / asv_api.result_name("here", COMMIT, "env")
    path.parent.mkdir()
    path.write_text("{}")
    path.with_name("machine.json").write_text("{}")
    names = SimpleNamespace(get_hash_from_name=lambda name: COMMIT)
    monkeypatch.setattr(release_tables, "get_repo", lambda conf: names)
    conf = SimpleNamespace(results_dir=tmp_path, hash_length=length)
    assert ["here"] == release_tables._with_all(conf, ["numpy-1.0.0"])
