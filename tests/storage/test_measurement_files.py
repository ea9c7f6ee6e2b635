"""Files of measurements, compressed and as earlier versions wrote them."""

import gzip
import json
import re

import pytest
from compress_records import main as compress_records
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import damaged_file_search
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import (
    atomic_write,
    bounded_read,
    compression,
    json_lines,
    measurement_files,
)

FACTS = {"numpy": "2.2.6"}
RESULT = "0123abcd-release-py3.json"


def a_record(name, started):
    """A record of a process, as it arrives from one."""
    return {
        "benchmark": name,
        "params": ["a"],
        "fingerprint": dict(FACTS),
        "seconds": [0.5, 0.25],
        "yardstick": [],
        "started_at": started,
        "release": "numpy-2.2.6",
    }


@pytest.fixture
def plain(tmp_path):
    """A file as earlier versions wrote it, in a machine's folder of results."""
    folder = tmp_path / "results" / "box"
    path = folder / RESULT.replace(".json", measurement_files.PLAIN)
    measurement_files.add(path, [a_record("b", 2.0), a_record("a", 1.0)])
    return path


def test_a_new_file_is_compressed_with_the_text_of_an_uncompressed_one(plain):
    """Written twice, it is the same to the byte, and holds no time."""
    path = plain.with_name(plain.name + ".gz")
    facts, entries = measurement_files.load(plain)
    measurement_files.write(path, facts, entries)
    assert plain.read_bytes() == gzip.decompress(path.read_bytes())
    first = path.read_bytes()
    measurement_files.write(path, facts, entries)
    assert first == path.read_bytes()
    assert bytes(4) == first[4:8]
    assert measurement_files.load(plain) == measurement_files.load(path)
    assert measurement_files.conditions(plain) == measurement_files.conditions(path) == FACTS


def test_an_uncompressed_file_is_read_and_stays_so_when_records_are_added(plain):
    """No second file appears next to it."""
    result = plain.with_name(RESULT)
    assert plain == measurement_files.file_of(result)
    measurement_files.add(measurement_files.file_of(result), [a_record("c", 3.0)])
    assert ["b", "a", "c"] == [each["benchmark"] for each in measurement_files.load(plain)[1]]
    assert [plain] == list(plain.parent.iterdir())
    assert [plain] == measurement_files.paths(plain.parent)
    assert plain.read_text().startswith('{"fingerprint"')


def test_records_join_a_compressed_file(tmp_path):
    """Also where its content is made ready with other files."""
    path = measurement_files.file_of(tmp_path / RESULT)
    assert RESULT.replace(".json", ".measurements.jsonl.gz") == path.name
    measurement_files.add(path, [a_record("a", 1.0)])
    with atomic_write.together() as ready:
        measurement_files.add(path, [a_record("b", 2.0)], ready=ready)
        assert 1 == len(measurement_files.load(path)[1])
    assert ["a", "b"] == [each["benchmark"] for each in measurement_files.load(path)[1]]
    assert tmp_path / RESULT == measurement_files.result_of(path)


def test_filing_leaves_the_records_as_they_came(tmp_path):
    """A run's journal keeps the same ones for the next run, which files them again."""
    record = a_record("a", 1.0)
    measurement_files.add(tmp_path / "a.measurements.jsonl.gz", [record])
    assert a_record("a", 1.0) == record


def test_a_record_of_an_ensemble_replaces_its_earlier_one(tmp_path):
    """Rounds that decide which ones count may also change the first of them, and so its start."""
    path = tmp_path / RESULT.replace(".json", measurement_files.SUFFIX)
    ensemble = {
        "file": "numpy.jsonl.gz",
        "anchor": "numpy-2.2.6",
        "rounds": 2,
        "ratio": 1.0,
        "low": 0.9,
        "high": 1.1,
        "seconds": 0.25,
        "interval": [0.2, 0.3],
    }
    for started in (1.0, 2.0):
        measurement_files.add(path, [{**a_record("a", started), "ensemble": ensemble}])
    _, entries = measurement_files.load(path)
    assert [2.0] == [entry["started_at"] for entry in entries]


def test_compressing_keeps_every_byte(plain, monkeypatch, capsys):
    """The script says how much smaller the files are; a second run finds nothing to do."""
    text = plain.read_bytes()
    results = plain.parents[1]
    monkeypatch.setattr("sys.argv", ["compress_records.py", "--results", str(results), "box"])
    assert 0 == compress_records()
    assert "1 files" in capsys.readouterr().out
    (path,) = measurement_files.paths(plain.parent)
    assert text == measurement_files.content(path)
    assert not plain.exists()
    assert 0 == compress_records()


def test_a_damaged_file_is_not_compressed(plain, monkeypatch, capsys):
    """It stays as it is, and is named."""
    text = plain.read_bytes()[:-5]
    plain.write_bytes(text)
    monkeypatch.setattr("sys.argv", ["compress_records.py", "--results", str(plain.parents[1])])
    assert 1 == compress_records()
    assert f"{plain}: line 3" in capsys.readouterr().err
    assert text == plain.read_bytes()


def test_of_two_files_of_a_result_the_compressed_one_counts(plain):
    """The other one is named, and is not compressed over it."""
    path = plain.with_name(plain.name + ".gz")
    measurement_files.add(path, [a_record("c", 3.0)])
    assert [path] == measurement_files.paths(plain.parent)
    (line,) = damaged_file_search.find(plain.parents[1])
    assert f"{plain} is not read, since there is {path.name}: remove it" == line
    with pytest.raises(DeepbenchError, match="holds other records"):
        measurement_files.compress(plain)
    assert "c" == measurement_files.load(path)[1][0]["benchmark"]


def test_an_interrupted_compression_is_finished(plain):
    """A kill between the two steps leaves two files of the same text."""
    path = plain.with_name(plain.name + ".gz")
    path.write_bytes(compression.pack(plain.read_bytes()))
    assert path == measurement_files.compress(plain)
    assert [path] == list(plain.parent.iterdir())


def test_a_measurement_with_a_field_that_is_no_name_is_named(plain):
    """As one whose conditions have a number for their name."""
    text = plain.read_text()
    plain.write_text(re.sub(r'"seconds": ', '"1.0": 0, "seconds": ', text, count=1))
    assert text != plain.read_text()
    with pytest.raises(DeepbenchError, match=r"is not a measurement \(it has a field '1.0'"):
        measurement_files.load(plain)


def test_a_measurement_whose_conditions_are_not_there_is_named(plain):
    """Two digits of their name have changed places, or their line is gone."""
    lines = plain.read_text().splitlines()
    kept = [line for line in lines if not line.startswith('{"fingerprint"')]
    assert len(kept) < len(lines)
    plain.write_text("\n".join(kept) + "\n")
    with pytest.raises(DeepbenchError, match=r"no line has the conditions [0-9a-f]{12} that a"):
        measurement_files.load(plain)


@pytest.mark.parametrize("name", ["fingerprint", "started_at"])
def test_a_measurement_without_its_conditions_or_its_start_is_named(plain, name):
    """No one could write the file again; a skip needs neither."""
    facts, entries = measurement_files.load(plain)
    del entries[0][name]
    lines = [{"fingerprint": digest, "facts": each} for digest, each in facts.items()]
    plain.write_text(json_lines.as_text([*lines, *entries]))
    for read in (measurement_files.load, measurement_files.demand_whole):
        with pytest.raises(DeepbenchError, match=f"line 2 is not a measurement .it lacks {name}"):
            read(plain)


def test_a_digest_that_no_line_of_conditions_has_is_named(plain):
    """Also one that is no digest."""
    plain.write_text(
        re.sub(
            r'"fingerprint": "[0-9a-f]{12}", "sec', '"fingerprint": "abc", "sec', plain.read_text()
        )
    )
    for read in (measurement_files.load, measurement_files.demand_whole):
        with pytest.raises(DeepbenchError, match="no line has the conditions abc that a"):
            read(plain)


def test_a_skip_that_names_only_its_kernel_gives_way(plain):
    """To records, whether they are appended or not."""
    skip = {"benchmark": "c", "params": ["a"], "skipped": "too large"}
    for appending in (False, True):
        plain.write_text(json_lines.as_text([skip]))
        measurement_files.add(plain, [a_record("c", 3.0)], appending)
        assert ["seconds" in each for each in measurement_files.load(plain)[1]] == [True]


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b[:20] + b"x" + b[21:]])
def test_a_damaged_compressed_file_is_named(plain, damage):
    """A torn one and one with a changed byte."""
    path = measurement_files.compress(plain)
    path.write_bytes(damage(path.read_bytes()))
    for read in (measurement_files.load, measurement_files.conditions):
        with pytest.raises(DeepbenchError, match="is not whole"):
            read(path)
    with pytest.raises(DeepbenchError, match="is not whole"):
        measurement_files.add(path, [a_record("c", 3.0)])


def test_a_small_file_does_not_fill_the_memory(tmp_path, monkeypatch):
    """One that unpacks to more than the limit is refused."""
    monkeypatch.setattr(bounded_read, "RECORDS", 1000)
    path = tmp_path / ("x" + measurement_files.SUFFIX)
    path.write_bytes(compression.pack(json.dumps("x" * 2000).encode()))
    with pytest.raises(DeepbenchError, match="unpacked, the most that is read"):
        measurement_files.load(path)


@settings(max_examples=50)
@given(st.binary(max_size=2000))
def test_packed_content_is_what_it_was(tmp_path_factory, content):
    """Other programs read it as gzip's."""
    path = tmp_path_factory.mktemp("packed") / "x.gz"
    path.write_bytes(compression.pack(content))
    assert content == compression.unpack(path, 10_000) == gzip.decompress(path.read_bytes())


def test_conditions_of_a_file_that_was_read_are_not_read_again_unless_it_changes(
    plain, monkeypatch
):
    """Records that come later bring their conditions."""
    measurement_files.load(plain)
    with monkeypatch.context() as patched:
        patched.setattr(measurement_files, "content", lambda _: pytest.fail("read again"))
        assert [FACTS] == list(measurement_files.facts(plain).values())
        measurement_files.demand_whole(plain)
    other = {**a_record("c", 3.0), "fingerprint": {"numpy": "2.4.6"}}
    measurement_files.add(plain, [other])
    assert [FACTS, {"numpy": "2.4.6"}] == sorted(
        measurement_files.facts(plain).values(), key=lambda facts: facts["numpy"]
    )
