"""Files are written whole or not at all."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from deepbench_ops.storage import atomic_write


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_a_new_file_and_its_folders_are_made(tmp_path):
    path = tmp_path / "new" / "folder" / "file.json"

    atomic_write.write_text(path, "{}\n")

    assert "{}\n" == path.read_text()
    assert ["file.json"] == names(path.parent)


def test_an_error_leaves_the_old_file_and_nothing_next_to_it(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("old")

    with pytest.raises(RuntimeError), atomic_write.replacing(path) as unfinished:
        unfinished.write_text("half")
        raise RuntimeError

    assert "old" == path.read_text()
    assert ["file.json"] == names(tmp_path)


def test_ctrl_c_leaves_the_old_file_and_nothing_next_to_it(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("old")

    with pytest.raises(KeyboardInterrupt), atomic_write.replacing(path) as unfinished:
        unfinished.write_text("half")
        raise KeyboardInterrupt

    assert ["file.json"] == names(tmp_path)
    assert "old" == path.read_text()


def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("old")
    program = (
        "import resource, pathlib, sys; from deepbench_ops.storage import atomic_write\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: atomic_write.write_text(pathlib.Path(sys.argv[1]), 'x' * 100_000)\n"
        "except OSError as error: print(error.filename)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )

    assert f"{path}\n" == done.stdout
    assert "old" == path.read_text()
    assert ["file.json"] == names(tmp_path)


def test_a_planted_link_is_not_followed(tmp_path):
    """Names of unfinished files cannot be guessed, and the target itself is replaced."""
    victim, path = tmp_path / "victim", tmp_path / "file.json"
    victim.write_text("precious")
    path.symlink_to(victim)

    atomic_write.write_text(path, "new")

    assert "precious" == victim.read_text()
    assert "new" == path.read_text()


def test_permissions_are_those_of_the_old_file_or_of_the_umask(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("")
    old.chmod(0o640)
    umask = os.umask(0o027)
    try:
        atomic_write.write_text(old, "x")
        atomic_write.write_text(new, "x")
    finally:
        os.umask(umask)

    assert [0o640, 0o640] == [stat.S_IMODE(path.stat().st_mode) for path in (old, new)]


def test_what_is_no_regular_file_is_written_to_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)

    atomic_write.write_text(pipe, "text")

    assert (b"text", None) == reader.communicate(timeout=10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_in_the_way_is_an_error_that_names_it(tmp_path):
    with pytest.raises(OSError) as raised:
        atomic_write.write_text(tmp_path, "text")

    assert str(tmp_path) == raised.value.filename


def test_files_are_replaced_together_or_not_at_all(tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "new" / "b.json"]
    paths[0].write_text("old")

    with pytest.raises(RuntimeError), atomic_write.together() as ready:
        for path in paths:
            ready(path).write_text("half")
        raise RuntimeError
    assert ["a.json"] == names(tmp_path)
    assert "old" == paths[0].read_text()

    with atomic_write.together() as ready:
        for path in paths:
            ready(path).write_text("new")
        assert "old" == paths[0].read_text()
    assert ["new", "new"] == [path.read_text() for path in paths]
    assert ["b.json"] == names(paths[1].parent)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_file_is_replaced_before_all_are_on_the_disk(tmp_path, monkeypatch, number):
    """A quota that is used up shows when a file is flushed; the error names this file."""
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text("old")
    fsync, left = os.fsync, iter(range(number))

    def full(handle):
        if next(left) == number - 1:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="quota") as raised, atomic_write.together() as ready:
        for path in paths:
            ready(path).write_text("new")
    assert str(paths[number - 1]) == raised.value.filename
    assert ["old"] * 3 == [path.read_text() for path in paths]
    assert 3 == len(names(tmp_path))


def test_an_error_names_the_file_that_it_is_about(tmp_path):
    """Never an unfinished one, nor another of those that are replaced together."""
    (tmp_path / "kept").touch()
    paths = [tmp_path / name for name in "ab"]
    with pytest.raises(OSError) as raised, atomic_write.together() as ready:
        ready(paths[0])
        own = ready(paths[1])
        raise OSError(errno.ENOSPC, "full", str(own))
    assert str(paths[1]) == raised.value.filename
    with pytest.raises(OSError) as raised, atomic_write.together() as ready:
        ready(paths[0])
        (tmp_path / "missing").read_text()
    assert str(tmp_path / "missing") == str(raised.value.filename)


def test_an_error_removes_the_folders_that_were_made_and_no_others(tmp_path):
    """Also those of several files; an empty one may be the place of another program's files."""
    (tmp_path / "empty").mkdir()
    paths = [tmp_path / place / "file" for place in ("empty", "new/a/b", "new/a", "new/c")]

    with pytest.raises(RuntimeError), atomic_write.together() as ready:
        for path in paths:
            ready(path).write_text("half")
        raise RuntimeError

    assert ["empty"] == names(tmp_path)
    assert [] == names(tmp_path / "empty")


def test_files_are_removed_with_the_replaced_ones_or_not_at_all(tmp_path):
    """After all of them; one that is missing is no error."""
    kept, gone = tmp_path / "kept.json", tmp_path / "gone.json"
    gone.write_text("old")

    with pytest.raises(RuntimeError), atomic_write.together() as ready:
        atomic_write.remove(gone, ready)
        raise RuntimeError
    assert "old" == gone.read_text()

    with atomic_write.together() as ready:
        atomic_write.remove(gone, ready)
        atomic_write.remove(tmp_path / "missing.json", ready)
        ready(kept).write_text("new")
        assert "old" == gone.read_text()
    assert ["kept.json"] == names(tmp_path)
