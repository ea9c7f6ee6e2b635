"""The folder of a local Slurm: scripts/local_slurm.sh removes and fills no other."""

import os
import subprocess

import local_slurm
import pytest
from local_slurm import SCRIPT


def run(command, folder):
    """The exit status and the errors of the script."""
    done = subprocess.run([SCRIPT, command, folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_a_folder_without_a_slurm_stays_as_it_is(tmp_path):
    """Also where its name was given by mistake."""
    kept = tmp_path / "results.json"
    kept.write_text("{}")
    status, said = run("stop", tmp_path)
    assert 1 == status and f"{tmp_path} has no Slurm of this script, and stays" in said
    assert kept.exists()


def test_a_process_whose_number_is_in_an_old_file_goes_on(tmp_path):
    """After a restart of the machine its number may be that of any program."""
    folder = tmp_path / "slurm"
    folder.mkdir(mode=0o755)
    (folder / "slurm.conf").write_text("ClusterName=local\n")
    with subprocess.Popen(["sleep", "60"]) as other:
        (folder / "slurmctld.pid").write_text(f"{other.pid}\n")
        assert (0, "") == run("stop", folder)
        assert other.poll() is None
        other.kill()
    assert not folder.exists()


def test_nothing_is_stopped_twice(tmp_path):
    """A folder that is gone is no error."""
    assert (0, "") == run("stop", tmp_path / "gone")


@pytest.mark.skipif(bool(local_slurm.why_not()), reason=local_slurm.why_not())
@pytest.mark.parametrize("kind", ["files", "writable", "link", "owner"])
def test_a_folder_of_others_is_not_filled(tmp_path, kind):
    """It could hold links to any file, which root would write to."""
    folder = tmp_path / "slurm"
    folder.mkdir(mode=0o755)
    if kind == "files":
        (folder / "notes.txt").write_text("kept")
    elif kind == "writable":
        folder.chmod(0o777)
    elif kind == "owner":
        os.chown(folder, 1, 1)
    else:
        folder.rename(tmp_path / "other")
        folder.symlink_to(tmp_path / "other")
    status, said = run("start", folder)
    reason = "has other files" if kind == "files" else "is not a folder that only you can write to"
    assert 1 == status and f"{folder} {reason}" in said
    assert not list(tmp_path.rglob("slurm.conf"))
