"""`scripts/gpu_check.sh` without a GPU: its commands, how it goes on, the files that it packs."""

import os
import subprocess
import sys
import tarfile
import time
from itertools import pairwise
from pathlib import Path

import collect_wheels
import gpu_check_session
import pytest
from gpu_check import groups
from gpu_check_parts import STEPS, Families, Part, Target, parts_of
from gpu_check_session import Archive, Journal, Session

from deepbench_ops.problems import FAMILIES

LISTS = Families(FAMILIES, ("gemm", "conv"), ("all_reduce", "all_gather"))
ON_GPU = Target("torch", "2.11.0", "cuda", "nvidia-h100")
ROOT = Path(__file__).resolve().parents[1]


def test_every_step_has_parts_with_names_of_their_own():
    """Names are those of log files."""
    parts = parts_of(ON_GPU, LISTS)
    assert list(STEPS) == list(dict.fromkeys(part.step for part in parts))
    names = [part.name for part in parts]
    assert len(names) == len(set(names))
    assert all("/" not in name and " " not in name for name in names)


def test_every_family_is_checked_on_the_device():
    checks = [part.command for part in parts_of(ON_GPU, LISTS) if part.step == "check"]
    assert [
        f"deepbench check --release torch-2.11.0 --device cuda --family {family} --format csv"
        for family in FAMILIES
    ] == checks


def test_checks_run_together_and_what_is_timed_runs_alone():
    """One check next to another changes no verdict, but any process next to a timing does."""
    found = groups(parts_of(ON_GPU, LISTS))
    assert [part.name for part in parts_of(ON_GPU, LISTS)] == [
        part.name for group in found for part in group
    ]
    assert {"check"} == {part.step for group in found if len(group) > 1 for part in group}
    assert len(FAMILIES) == max(map(len, found))


def test_scripts_and_problems_of_the_parts_exist():
    """A name that has changed would only show on the GPU."""
    from deepbench_ops.problems.problem_ids import problem_of
    from deepbench_ops.problems.problem_lists import TYPES

    def is_known(id):
        for family in TYPES:
            try:
                return bool(problem_of(family, id))
            except Exception:
                continue
        return False

    for part in parts_of(ON_GPU, LISTS):
        words = part.command.split()
        if words[0] == "python":
            assert (ROOT / words[1]).is_file()
        for option, value in pairwise(words):
            if option in ("--problem", "time"):
                assert is_known(value), value


PART = Part("check", "torch-2.11.0-check-gemm", "true", (0, 1))


@pytest.mark.parametrize(
    ("status", "seconds", "state"),
    [(0, 1, "well"), (1, 1, "well"), (2, 1, "failed"), (None, 30, "unfinished")],
)
def test_the_journal_outlives_the_process(tmp_path, status, seconds, state):
    """A part that was cut short is run again, one that has ended is not."""
    Journal(tmp_path / "state.json").note(PART, status, seconds)
    again = Journal(tmp_path / "state.json")
    assert state == again.text(PART.name).partition(",")[0]
    assert (state != "unfinished") == again.has_ended(PART.name)


def test_a_part_that_never_ends_within_the_limit_has_failed(tmp_path):
    """After two tries of the whole limit; a try with less time left does not count."""
    journal = Journal(tmp_path / "state.json")
    for seconds in (gpu_check_session.LIMIT_SECONDS, 10, gpu_check_session.LIMIT_SECONDS):
        assert not journal.has_ended(PART.name)
        journal.note(PART, None, seconds)
    assert journal.has_failed(PART.name)


@pytest.fixture
def session(tmp_path):
    """One whose environment is not made."""
    found = Session(ROOT, tmp_path, tmp_path / "wheels", Path(sys.executable), ON_GPU)
    for folder in (tmp_path / "logs", found.project):
        folder.mkdir()
    return found


def test_a_part_leaves_its_output_and_its_end(session, tmp_path):
    journal = Journal(tmp_path / "state.json")
    session.run(Part("more", "speaks", "echo said; exit 4"), 20, journal)
    assert "$ echo said; exit 4\nsaid\n" == (tmp_path / "logs" / "speaks.log").read_text()
    assert "failed, status 4" in journal.text("speaks")
    assert "0 well, 1 failed, 1 waiting" in journal.summary(["speaks", "other"])


def test_a_run_that_was_cut_short_waits(session, tmp_path):
    """asv run ends well when its time is over, with points that are not measured yet."""
    journal = Journal(tmp_path / "state.json")
    part = Part("headline", "run", 'echo "$DEEPBENCH_RUN_LIMIT s: DEEPBENCH_RUN_LIMIT is over"')
    session.run(part, 50, journal)
    assert "20 s: " in (tmp_path / "logs" / "run.log").read_text()
    assert "unfinished" in journal.text("run")
    assert not journal.has_ended("run")


@pytest.mark.slow
def test_a_part_is_ended_with_all_that_it_started(session, tmp_path):
    """When its time is over; it is not begun again in this call."""
    journal = Journal(tmp_path / "state.json")
    command = f"sleep 300 & echo $! > {tmp_path}/pid; wait"
    session.run(Part("more", "lasts", command), 0.5, journal)
    assert "unfinished" in journal.text("lasts")
    status = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    end = time.monotonic() + 10
    while status.exists() and " Z " not in status.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert time.monotonic() < end


def test_leftovers_of_a_killed_call_are_ended(session, tmp_path):
    """And nothing else: another folder's processes go on."""
    elsewhere = {"RESULTS": str(tmp_path / "other" / "results")}
    own, other = (
        subprocess.Popen(["sleep", "60"], env=variables)
        for variables in ({"RESULTS": str(tmp_path / "results")}, elsewhere)
    )
    session.end_leftovers()
    assert -9 == own.wait(10)
    assert other.poll() is None
    other.kill()
    other.wait()


def test_an_archive_goes_on_elsewhere(tmp_path):
    """It holds results, points that are not in the results yet, state and the ends of logs, and no
    environment."""
    here, there = tmp_path / "here", tmp_path / "there"
    for path in (
        *("environment/bin", "logs", "project/results/box"),
        *("project/.asv/env", "project/.asv/unfinished"),
    ):
        (here / path).mkdir(parents=True)
        (here / path / "file.log").write_text("x" * 300_000 + "end")
    Journal(here / "state.json").note(PART, 0, 1)
    Archive(here, tmp_path / "out").pack()
    packed = tmp_path / "out" / gpu_check_session.ARCHIVE
    Archive(there, tmp_path / "out").unpack(packed)
    assert Journal(there / "state.json").has_ended(PART.name)
    assert (there / "logs" / "file.log").read_text().endswith("xend")
    assert gpu_check_session.LOG_BYTES == (there / "logs" / "file.log").stat().st_size
    assert ["logs", "project", "state.json"] == sorted(each.name for each in there.iterdir())
    with tarfile.open(packed) as archive:
        assert not any("env" in name for name in archive.getnames())
        assert "project/.asv/unfinished/file.log" in archive.getnames()


def test_a_large_archive_is_split_and_goes_on_elsewhere(tmp_path, monkeypatch):
    """No part is larger than the limit; a later, smaller archive is one file again."""
    monkeypatch.setattr(gpu_check_session, "MOST_BYTES", 1000)
    here, there, out = (tmp_path / name for name in ("here", "there", "out"))
    (here / "results").mkdir(parents=True)
    (here / "results" / "noise").write_bytes(os.urandom(3500))
    Archive(here, out).pack()
    parts = sorted(out.iterdir())
    assert 4 <= len(parts)
    assert all(part.stat().st_size <= 1000 for part in parts)
    Archive(there, out).unpack(out / gpu_check_session.ARCHIVE)
    noise = (here / "results" / "noise").read_bytes()
    assert noise == (there / "results" / "noise").read_bytes()
    (here / "results" / "noise").write_bytes(b"")
    Archive(here, out).pack()
    assert [gpu_check_session.ARCHIVE] == [each.name for each in out.iterdir()]


def test_wheels_are_those_of_the_commands_and_their_tools():
    """As pyproject.toml lists them."""
    wanted = collect_wheels.requirements()
    for name in ("asv==0.6.6", "scipy-openblas32", "threadpoolctl", "click", "pip", "setuptools"):
        assert any(each.startswith(name) for each in wanted), name


def test_a_folder_of_wheels_has_a_limit(tmp_path, monkeypatch):
    """With what to do, and exit status 1."""
    (tmp_path / "large-1-py3-none-any.whl").write_bytes(bytes(2**20))
    monkeypatch.setattr(collect_wheels, "collect", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["", "--folder", str(tmp_path), "--limit", "0.5"])
    with pytest.raises(SystemExit, match=r"more than 0\.5 MiB: empty the folder"):
        collect_wheels.main()
