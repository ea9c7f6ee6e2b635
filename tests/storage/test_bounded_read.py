"""Files that are read up to a size."""

import os
from pathlib import Path

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import bounded_read


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert bounded_read.read_bytes(path, 5) == b"12345"


def test_a_larger_one_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 2_000_001)
    with pytest.raises(DeepbenchError, match=r"file: larger than 2 MB, the most that is read"):
        bounded_read.read_bytes(path, 2_000_000)


def test_a_device_a_pipe_and_a_folder_are_refused_unread(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, kind in ((Path("/dev/zero"), "a device"), (pipe, "a pipe"), (tmp_path, "a folder")):
        with pytest.raises(DeepbenchError, match=kind):
            bounded_read.read_bytes(path, 1)


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"ab\xff")
    with pytest.raises(DeepbenchError, match=r"file: no text in UTF-8 \(byte 2\)"):
        bounded_read.read_text(path, 100)


def test_a_file_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bounded_read.read_bytes(tmp_path / "file", 1)
