"""Temporary folders of killed processes are removed by the next one, and no others."""

import os
import subprocess
import sys

from deepbench_ops.storage import temporary_folders

HOLD = """
import pathlib, sys
from deepbench_ops.storage import temporary_folders
with temporary_folders.folder(pathlib.Path(sys.argv[1]), "pages-") as folder:
    (folder / "html").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


def holder(parent):
    """A process that uses a folder in `parent`, and that folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, process.stdout.readline().strip()


def names(parent):
    return sorted(str(path) for path in parent.iterdir())


def test_a_folder_is_removed_at_the_end(tmp_path):
    with temporary_folders.folder(tmp_path / "new", "pages-") as folder:
        assert [str(folder)] == names(tmp_path / "new")
    assert [] == names(tmp_path / "new")


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path):
    process, left = holder(tmp_path)
    process.kill()
    process.communicate()
    assert [left] == names(tmp_path)
    with temporary_folders.folder(tmp_path, "pages-") as folder:
        assert [str(folder)] == names(tmp_path)


def test_the_folder_of_a_living_process_stays(tmp_path):
    process, used = holder(tmp_path)
    with temporary_folders.folder(tmp_path, "pages-") as folder:
        assert sorted([used, str(folder)]) == names(tmp_path)
    process.communicate()
    assert [] == names(tmp_path)


def test_folders_of_earlier_versions_are_removed_when_they_are_old(tmp_path):
    """They have no lock file; one that has just been made gets its own in a moment."""
    old, new = tmp_path / "pages-old", tmp_path / "pages-new"
    old.mkdir()
    new.mkdir()
    os.utime(old, (0, 0))
    (tmp_path / "env").mkdir()
    with temporary_folders.folder(tmp_path, "pages-"):
        pass
    assert [str(tmp_path / "env"), str(new)] == names(tmp_path)
