"""Files of JSON lines: appended lines come back, whatever half a line lies before it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import json_lines

KEYS = st.text().filter(lambda key: key != json_lines.CHECKSUM)
ENTRIES = st.lists(st.dictionaries(KEYS, st.integers() | st.text() | st.none()), max_size=4)


@given(st.lists(ENTRIES, max_size=4))
def test_all_that_is_appended_is_read(tmp_path_factory, several):
    """Objects of several appends, in their order, with any text in them."""
    path = tmp_path_factory.mktemp("lines") / "folder" / "a.jsonl"
    for entries in several:
        json_lines.append(path, entries)
    assert [entry for entries in several for entry in entries] == list(json_lines.read(path))


def test_an_object_with_a_checksum_of_its_own_is_refused(tmp_path):
    """Nothing of the append is written: it could not be read again."""
    path = tmp_path / "a.jsonl"
    with pytest.raises(ValueError, match="crc32"):
        json_lines.append(path, [{"a": 1}, {json_lines.CHECKSUM: None}])
    assert not path.exists()


@pytest.mark.parametrize("half", ['{"a": 1', "[1]\n", "null", "\xff\n", "\n\n", "[" * 100_000])
def test_damage_costs_no_other_line(tmp_path, half):
    """Half a line, other JSON, brackets without end and bytes that are no text are left out; the
    next line is whole."""
    path = tmp_path / "a.jsonl"
    json_lines.append(path, [{"a": 0}])
    with path.open("ab") as file:
        file.write(half.encode("latin-1"))
    json_lines.append(path, [{"b": 1}])
    assert [{"a": 0}, {"b": 1}] == list(json_lines.read(path))


def test_every_cut_leaves_whole_lines(tmp_path):
    """A file cut at any byte gives the lines before the cut, and takes new ones."""
    path = tmp_path / "a.jsonl"
    json_lines.append(path, [{"number": number} for number in range(3)])
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        json_lines.append(path, [{"number": 9}])
        found = [entry["number"] for entry in json_lines.read(path)]
        assert [*range(len(found) - 1), 9] == found


@pytest.mark.parametrize(
    ("right", "damaged"),
    [('"id": "1-0"', '"id": "1-NaN"'), ("0.25", "0.26"), ("NaN", "1.0"), ('"x"', '"y"')],
)
def test_a_changed_value_costs_its_line(tmp_path, right, damaged):
    """Also where it is a number or a text like any other."""
    path = tmp_path / "a.jsonl"
    json_lines.append(path, [{"id": "1-0", "seconds": [0.25, float("nan")], "of": "x"}, {"b": 1}])
    text = path.read_text()
    assert 1 == text.count(right)
    path.write_text(text.replace(right, damaged))
    assert [{"b": 1}] == list(json_lines.read(path))


def test_lines_without_a_checksum_are_read(tmp_path):
    """Files that are written as a whole have none."""
    path = tmp_path / "a.jsonl"
    path.write_text(json_lines.as_text([{"a": 0}]))
    assert [{"a": 0}] == list(json_lines.read(path))


def test_a_missing_file_has_no_lines(tmp_path):
    """It is no error."""
    assert [] == list(json_lines.read(tmp_path / "none.jsonl"))


def test_what_is_no_json_is_not_begun(tmp_path):
    """An object that JSON cannot hold leaves the file as it was."""
    path = tmp_path / "a.jsonl"
    json_lines.append(path, [{"a": 0}])
    with pytest.raises(TypeError):
        json_lines.append(path, [{"b": 1}, {"c": object()}])
    assert [{"a": 0}] == list(json_lines.read(path))
    assert 1 == path.read_text().count("\n")


def test_a_device_is_refused_unread(tmp_path):
    """It would fill the memory."""
    (tmp_path / "a.jsonl").symlink_to("/dev/zero")
    with pytest.raises(DeepbenchError, match="a device or a pipe"):
        list(json_lines.read(tmp_path / "a.jsonl"))
