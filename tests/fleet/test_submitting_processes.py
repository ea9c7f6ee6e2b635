"""Processes that may still submit jobs, by a sleeping stand-in for sbatch."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import submitting_processes


@contextmanager
def sbatch(folder: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process in a session of its own, as those that ReFrame starts."""
    program = folder / "sbatch"
    program.write_text("#!/bin/sh\necho begun; read line\n")
    program.chmod(0o755)
    environ = {**os.environ, **submitting_processes.mark(folder, os.environ), **variables}
    with subprocess.Popen(
        [program],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_an_sbatch_of_a_run_that_is_gone_is_waited_for(tmp_path: Path) -> None:
    """With one line that names it."""
    said: list[str] = []
    with sbatch(tmp_path) as process:

        def say(line: str) -> None:
            said.append(line)
            process.kill()
            process.wait()

        submitting_processes.wait(tmp_path, say)
        wanted = f"may still submit jobs: {process.pid} (sbatch): waiting up to 180 s for their end"
    assert [True] == [line.endswith(wanted) for line in said]


def test_an_sbatch_that_does_not_end_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, and nothing is submitted."""
    monkeypatch.setattr(submitting_processes, "SECONDS", 0.1)
    with (
        sbatch(tmp_path) as process,
        pytest.raises(DeepbenchError, match=rf": {process.pid} \(sbatch\): end them, and give"),
    ):
        submitting_processes.wait(tmp_path, lambda _: None)


def test_jobs_and_processes_of_other_runs_are_none(tmp_path: Path) -> None:
    """A job has the variable from sbatch, and a number of its own."""
    (tmp_path / "other").mkdir()
    with sbatch(tmp_path, SLURM_JOB_ID="7"), sbatch(tmp_path / "other"):
        assert [] == submitting_processes.submitting(tmp_path)


def test_an_sbatch_of_a_run_that_is_a_job_itself_is_known(tmp_path: Path) -> None:
    """Such as one in an allocation of salloc: both have its number."""
    number = {submitting_processes.JOB_NUMBER: "7"}
    with sbatch(tmp_path, **submitting_processes.mark(tmp_path, number), **number):
        assert 1 == len(submitting_processes.submitting(tmp_path))
