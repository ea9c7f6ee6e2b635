"""Answers of a scheduler's command, by a stand-in for it."""

import os
from pathlib import Path

import pytest

from deepbench_ops.fleet import scheduler_answer


@pytest.mark.parametrize(
    "name", ["SQUEUE_PARTITION", "SINFO_FORMAT", "SACCT_FORMAT", "SCANCEL_STATE"]
)
def test_variables_of_the_user_change_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Those that name the cluster and its configuration stay."""
    (tmp_path / "squeue").write_text("#!/bin/sh\nexec env\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv(name, "other")
    monkeypatch.setenv("SLURM_CONF", "/a/slurm.conf")
    lines = scheduler_answer.demanded("squeue").splitlines()
    assert f"{name}=other" not in lines
    assert "SLURM_CONF=/a/slurm.conf" in lines
