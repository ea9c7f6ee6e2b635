"""Jobs that Slurm has of a ReFrame that is gone, by the answers of a stand-in for squeue."""

import os
from pathlib import Path

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import left_jobs
from deepbench_ops.fleet.left_jobs import LeftJob
from deepbench_ops.storage import locks

ID = "here/numpy-2.4.6/1"
AWAY = "#!/bin/sh\necho 'slurm_load_jobs error: Unable to contact slurm controller' >&2\nexit 1\n"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the answer of squeue on hidden partitions too; scancel notes its numbers."""
    answer = f'#!/bin/sh\n[ "$1" = --all ] && exec cat {tmp_path}/queue.txt\n'
    (tmp_path / "squeue").write_text(answer)
    (tmp_path / "scancel").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/cancelled.txt\n')
    for name in ("squeue", "scancel"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(left_jobs, "POLL_SECONDS", 0.01)
    (tmp_path / "reframe" / "a").mkdir(parents=True)
    return tmp_path


def fill(slurm: Path, *rows: str) -> None:
    """Write an answer of squeue: number, state, reason and the folder below that of the run."""
    lines = [f"{row.rpartition('|')[0]}|{slurm}/{row.rpartition('|')[2]}\n" for row in rows]
    (slurm / "queue.txt").write_text("".join(lines))


def test_jobs_are_named_by_number_id_state_and_reason(slurm: Path) -> None:
    """The id is in the job script; a path with a space is quoted there."""
    script = f"python -m {left_jobs.PROGRAM} '/a b/plan.json' {ID} 12ab"
    (slurm / "reframe" / "a" / left_jobs.SCRIPT).write_text(f"#!/bin/sh\n{script}\n")
    fill(slurm, "7|RUNNING|None|reframe/a", "8|PENDING|Priority|reframe/gone")
    found = left_jobs.of_a_gone_run(slurm / "reframe")
    assert [LeftJob("7", "RUNNING", ID), LeftJob("8", "PENDING", "", "Priority")] == found
    assert left_jobs.named(found).endswith(f": 7 {ID} (running), 8 (pending: Priority)")


def test_jobs_of_other_folders_and_ended_ones_are_none(slurm: Path) -> None:
    """Also of a folder whose name begins alike."""
    fill(
        slurm,
        "7|RUNNING|None|elsewhere",
        "8|RUNNING|None|reframe-2/a",
        "9|COMPLETING|None|reframe/a",
    )
    assert [] == left_jobs.of_a_gone_run(slurm / "reframe")


def test_jobs_of_a_run_that_goes_on_are_none(slurm: Path) -> None:
    """Nor are there any without a folder of runs, or without Slurm."""
    fill(slurm, "7|RUNNING|None|reframe/a")
    with locks.writing(slurm / "reframe", doing="a run"):
        assert [] == left_jobs.of_a_gone_run(slurm / "reframe")
    assert [] == left_jobs.of_a_gone_run(slurm / "missing")
    assert 1 == len(left_jobs.of_a_gone_run(slurm / "reframe"))
    (slurm / "squeue").write_text(AWAY)
    assert [] == left_jobs.of_a_gone_run(slurm / "reframe")


def test_a_run_waits_until_the_last_of_them_has_ended(slurm: Path) -> None:
    """One line names them, and another one those that came later."""
    said: list[str] = []
    calls: list[int] = []

    def meanwhile() -> None:
        calls.append(1)
        fill(slurm, *{1: ["8|RUNNING|None|reframe/a"]}.get(len(calls), []))

    fill(slurm, "7|RUNNING|None|reframe/a")
    left_jobs.wait(slurm, left_jobs.listed(slurm), said.append, meanwhile)
    assert [": 7 (running): waiting for them", ": 8 (running): waiting for them"] == [
        line.partition("ReFrame watches")[2] for line in said
    ]
    assert 2 == len(calls)


def test_a_slurm_that_answers_again_is_waited_for(slurm: Path) -> None:
    """With a line that has its reason."""
    answering = (slurm / "squeue").read_text()
    fill(slurm, "7|RUNNING|None|reframe/a")
    (slurm / "squeue").write_text(AWAY)
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        (slurm / "squeue").write_text(answering)

    assert ["7"] == [each.number for each in left_jobs.listed_in_the_end(slurm, say)]
    reason = "squeue: slurm_load_jobs error: Unable to contact slurm controller"
    assert [f"Slurm does not answer ({reason}): waiting up to 600 s for it"] == said


def test_a_slurm_that_is_silent_for_long_is_an_error(
    slurm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the reason, which says that nothing is lost."""
    (slurm / "squeue").write_text(AWAY)
    monkeypatch.setattr(left_jobs, "SILENCE_SECONDS", 0.02)
    with pytest.raises(
        DeepbenchError, match=r"controller\): its jobs go on; when it answers, give"
    ):
        left_jobs.listed_in_the_end(slurm, lambda _: None)


def test_all_of_them_are_cancelled_together(slurm: Path) -> None:
    """And none where there are none."""
    fill(slurm)
    left_jobs.cancel(slurm, lambda _: None)
    assert not (slurm / "cancelled.txt").exists()
    fill(slurm, "7|RUNNING|None|reframe/a", "8|PENDING|Priority|reframe/b")
    left_jobs.cancel(slurm, lambda _: None)
    assert "7 8\n" == (slurm / "cancelled.txt").read_text()


def test_jobs_that_a_silent_slurm_cannot_cancel_are_a_line(slurm: Path) -> None:
    """With their numbers where squeue answered and scancel did not."""
    said: list[str] = []
    fill(slurm, "7|RUNNING|None|reframe/a")
    (slurm / "scancel").write_text(AWAY)
    left_jobs.cancel(slurm, said.append)
    (slurm / "squeue").write_text(AWAY)
    left_jobs.cancel(slurm, said.append)
    reason = "slurm_load_jobs error: Unable to contact slurm controller"
    assert [
        f"jobs may go on in Slurm, since cancelling failed (scancel: {reason}): scancel 7",
        f"jobs may go on in Slurm, since cancelling failed (squeue: {reason}): scancel those that"
        " squeue --me lists",
    ] == said


@pytest.mark.parametrize("reason", ["JobHeldUser", "JobHeldAdmin", "launch_failed_requeued_held"])
def test_a_held_job_is_a_line_with_the_mend(slurm: Path, reason: str) -> None:
    """Also one that is held while the run waits for it; others have none."""
    said: list[str] = []
    held = [f"8|PENDING|{reason}|reframe/a"]

    def meanwhile() -> None:
        fill(slurm, *held)
        held.clear()

    fill(slurm, "7|PENDING|Priority|reframe/a", "8|PENDING|Priority|reframe/a")
    left_jobs.wait(slurm, left_jobs.listed(slurm), said.append, meanwhile)
    assert [
        f"job 8 is held ({reason}): let it start with scontrol release 8, or give it up with"
        " scancel 8"
    ] == said[1:]
