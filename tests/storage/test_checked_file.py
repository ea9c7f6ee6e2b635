"""Files below a checksum: the content that was written, or none."""

from itertools import product

import pytest

from deepbench_ops.storage import checked_file

CONTENT = b'{"a": 1}\nand a second line\n'


def test_the_content_comes_back(tmp_path):
    """Any bytes, line ends included, are read as they were written."""
    path = tmp_path / "new" / "file"
    checked_file.write(path, CONTENT, "inputs")
    assert CONTENT == checked_file.read(path, 1000, "inputs")
    assert ["file"] == [each.name for each in path.parent.iterdir()]


@pytest.mark.parametrize("made_of", ["", "input", "inputs "])
def test_content_of_other_inputs_counts_as_absent(tmp_path, made_of):
    """The checksum covers the text of the inputs."""
    checked_file.write(tmp_path / "file", CONTENT, "inputs")
    assert checked_file.read(tmp_path / "file", 1000, made_of) is None


def test_a_damaged_file_counts_as_absent(tmp_path):
    """Each flipped bit, each cut, an empty file, a folder and no file: there is no content."""
    path = tmp_path / "file"
    checked_file.write(path, CONTENT)
    whole = path.read_bytes()
    damaged = [whole[:size] for size in range(len(whole))]
    for place, bit in product(range(len(whole)), range(8)):
        damaged.append(bytes(c ^ (1 << bit) * (at == place) for at, c in enumerate(whole)))
    for content in damaged:
        path.write_bytes(content)
        assert checked_file.read(path, 1000) is None
    assert checked_file.read(tmp_path, 1000) is None
    assert checked_file.read(tmp_path / "none", 1000) is None


def test_a_larger_file_than_allowed_counts_as_absent(tmp_path):
    """No file fills the memory."""
    checked_file.write(tmp_path / "file", CONTENT)
    size = (tmp_path / "file").stat().st_size
    assert CONTENT == checked_file.read(tmp_path / "file", size)
    assert checked_file.read(tmp_path / "file", size - 1) is None
