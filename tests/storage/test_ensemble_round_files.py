"""Files of ensemble rounds: equal bytes for equal content, nothing lost, damage in one line."""

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import (
    bounded_read,
    ensemble_round_files,
    entry_conflict_files,
    measured_rounds,
)
from deepbench_ops.storage.ensemble_round_files import RoundsFile, merged
from deepbench_ops.storage.entry_conflict_files import EntryConflicts

FACTS = {"d1": {"threads": "2"}, "d2": {"threads": "1"}, "unused": {"threads": "9"}}


def entry(problem: str = "p", round: str = "1-0", sweeps: int = 3, digest: str = "d1") -> dict:
    """Return the line of one round, with two releases."""
    return {
        "family": "gemm",
        "problem": problem,
        "precision": "float32",
        "operation": "forward",
        "round": round,
        "version": "1",
        "started_at": 1.0,
        "ended_at": 2.0,
        "anchor": "b",
        "fingerprints": {"a": digest, "b": digest},
        "calls": {"a": 3, "b": 4},
        "seconds": {"a": [1.0] * sweeps, "b": [2.0] * (sweeps - 1) + [None]},
        "yardstick": {"kind": "compute", "nominal": 0.1, "seconds": [0.1] * sweeps},
        "reasons": {},
        "latencies": [250.0, 251.5],
    }


@pytest.fixture
def path(tmp_path):
    """The file of an ensemble of numpy on a machine m."""
    return ensemble_round_files.path_of(tmp_path / "m", "numpy")


def test_rounds_are_read_as_they_were_written(path):
    """Facts that no line names are left out, all else comes back; the folder has the file."""
    measured_rounds.add(path, FACTS, [entry(), entry("q", digest="d2")])
    found = ensemble_round_files.load(path)
    assert {"d1", "d2"} == set(found.facts)
    assert [entry(), entry("q", digest="d2")] == found.entries
    assert [path] == ensemble_round_files.paths(path.parents[1])
    assert "numpy" == ensemble_round_files.name_of(path)


def test_a_missing_file_holds_nothing(path):
    """No rounds have been measured on such a machine."""
    assert RoundsFile({}, []) == ensemble_round_files.load(path)


LINES = st.lists(
    st.builds(entry, st.sampled_from("pq"), st.sampled_from(["1-0", "1-1", "2-0"])), max_size=6
)


@given(LINES, LINES)
def test_the_order_of_additions_makes_no_difference(one, other):
    """Merging is the same from both sides, and adding again changes nothing."""
    first, second = RoundsFile(FACTS, one), RoundsFile(FACTS, other)
    both = merged(first, second)
    assert both == merged(second, first)
    assert both == merged(both, first)


def test_equal_content_makes_equal_bytes(tmp_path):
    """Two machines that take the same rounds in another order have the same file."""
    lines = [entry(), entry("q"), entry(round="1-1")]
    one, other = (ensemble_round_files.path_of(tmp_path / name, "numpy") for name in "ab")
    measured_rounds.add(one, FACTS, lines)
    for line in reversed(lines):
        measured_rounds.add(other, FACTS, [line])
    assert one.read_bytes() == other.read_bytes()


def test_a_round_is_not_replaced_by_less(path):
    """Of two lines of the same kernel and round the one with more times stays."""
    measured_rounds.add(path, FACTS, [entry(sweeps=5)])
    measured_rounds.add(path, FACTS, [entry(sweeps=3)])
    assert [entry(sweeps=5)] == ensemble_round_files.load(path).entries


RECORDS = st.builds(
    entry, st.sampled_from("pq"), st.sampled_from(["1-0", "1-1"]), sweeps=st.integers(2, 5)
)


@given(st.lists(RECORDS, max_size=8), st.data())
def test_longer_records_of_a_round_win_in_any_order(lines, data):
    """Whichever of them comes first, and however often."""
    nothing = RoundsFile({}, [])
    found = merged(nothing, RoundsFile(FACTS, lines))
    other = nothing
    for line in data.draw(st.permutations(lines * 2)):
        other = merged(other, RoundsFile(FACTS, [line]))
    assert found == other
    longest = {(line["problem"], line["round"]): 0 for line in lines}
    for line in lines:
        key = line["problem"], line["round"]
        longest[key] = max(longest[key], len(line["seconds"]["a"]))
    assert sorted(longest.values()) == sorted(len(each["seconds"]["a"]) for each in found.entries)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line["seconds"].update(a=[9.0, 1.0, 1.0]),
        lambda line: line["seconds"].update(a=[9.0, *[1.0] * 3]) or grown(line),
        lambda line: [line[name].update(c=line[name].pop("a")) for name in ("seconds", "calls")],
        lambda line: line["yardstick"].update(nominal=0.2),
        lambda line: line["fingerprints"].update(a="d2"),
        lambda line: line.update(anchor="a"),
    ],
)
def test_a_round_with_other_numbers_replaces_none(path, change):
    """In either order: both are kept, and other rounds are added."""
    other = entry()
    change(other)
    for first, second in ((entry(), other), (other, entry())):
        path.unlink(missing_ok=True)
        (path.parents[1] / entry_conflict_files.FILE).unlink(missing_ok=True)
        measured_rounds.add(path, FACTS, [first, entry("q")])
        measured_rounds.add(path, FACTS, [second, entry("r")])
        assert [first, entry("q"), entry("r")] == ensemble_round_files.load(path).entries
        [versions] = entry_conflict_files.load(path.parents[1]).versions.values()
        assert sorted(map(ensemble_round_files.text, (first, second))) == [
            one.text for one in versions
        ]


def test_a_round_that_goes_on_while_another_record_is_shown_is_kept(path):
    """The history that measured it goes on; a record that it repeats adds nothing, and one that was
    rejected stays so."""
    imported, own, longer = entry(), entry(), entry()
    imported["seconds"]["a"] = [9.0] * 3
    measured_rounds.add(path, FACTS, [imported])
    measured_rounds.add(path, FACTS, [own])
    machine = path.parents[1]
    filed = entry_conflict_files.load(machine)
    [(key, versions)] = filed.versions.items()
    chosen = [replace(one, rejected=one.entry == own) for one in versions]
    entry_conflict_files.write(machine, EntryConflicts(filed.facts, {key: chosen}))
    measured_rounds.add(path, FACTS, [own])
    assert {key: chosen} == entry_conflict_files.load(machine).versions
    longer["seconds"] = {name: [*column, 5.0] for name, column in longer["seconds"].items()}
    longer["yardstick"]["seconds"].append(0.1)
    measured_rounds.add(path, FACTS, [longer])
    assert [imported] == ensemble_round_files.load(path).entries
    [versions] = entry_conflict_files.load(machine).versions.values()
    assert {True: [own], False: [longer, imported]} == {
        rejected: [one.entry for one in versions if one.rejected is rejected]
        for rejected in (True, False)
    }


def grown(line: dict) -> None:
    """Make the other columns of a line as long as that of release a."""
    line["seconds"]["b"] = [2.0] * 3 + [None]
    line["yardstick"]["seconds"] = [0.1] * 4


def test_stored_facts_stay(path):
    """Those that come with the same digest may be others."""
    measured_rounds.add(path, FACTS, [entry()])
    measured_rounds.add(path, {"d1": {"x": "y"}}, [entry("q")])
    assert {"d1": FACTS["d1"]} == ensemble_round_files.load(path).facts


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: line.pop("anchor"), "it lacks anchor"),
        (lambda line: line.update(started_at="now"), "its started_at is now"),
        (lambda line: line["seconds"].update(a=[-1.0] * 3), "its seconds is"),
        (lambda line: line["seconds"].update(a=[1.0]), "releases have 1 to 3 sweeps"),
        (lambda line: line["yardstick"].update(seconds=[0.1]), "releases have 1 to 3 sweeps"),
        (lambda line: line["yardstick"].update(nominal=0), "its yardstick is"),
        (lambda line: line.update(reasons={"a": 1}), "its reasons is"),
        (lambda line: line.update(calls={"a": 0}), "its calls is"),
        (lambda line: line.update(latencies=[250.0, -1.0]), "its latencies is"),
        (lambda line: line.update(x=line.pop("yardstick")), "its field 'x' is damaged"),
        (lambda line: line.update(anchor="=1+1"), "its anchor is =1"),
        (lambda line: line["seconds"].update({"=1+1": line["seconds"].pop("a")}), "its seconds is"),
        (lambda line: line["seconds"].update(x=line["seconds"].pop("a")), "its calls lack x"),
        (lambda line: line.update(problem="q"), "it is there already"),
        (lambda line: line.update(calls={"a": 10**30, "b": 4}), "its calls is"),
        (lambda line: line.update(latencies=[1e9]), "its latencies is"),
    ],
)
def test_a_damaged_line_is_refused_by_file_and_line(path, change, reason):
    """The error names both, and the file stays as it is when rounds are to be added."""
    line = entry()
    change(line)
    measured_rounds.add(path, FACTS, [entry("q")])
    text = gzip.decompress(path.read_bytes()) + json.dumps(line).encode() + b"\n"
    path.write_bytes(gzip.compress(text))
    before = path.read_bytes()
    with pytest.raises(DeepbenchError) as raised:
        measured_rounds.add(path, FACTS, [entry("r")])
    assert f"{path}: line 3 is not a round of an ensemble ({reason}" in str(raised.value)
    assert before == path.read_bytes()


@pytest.mark.parametrize("text", [b"half a line {", b"[]", b"null", b'{"facts": {"a": 1}}'])
def test_a_line_of_something_else_is_refused(path, text):
    """Torn lines, and JSON that is no round."""
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(text + b"\n"))
    with pytest.raises(DeepbenchError, match="line 1 is not a round"):
        ensemble_round_files.load(path)


@pytest.mark.parametrize("keep", [0, 1, 12, 60])
def test_a_torn_file_is_refused_in_one_line(path, keep):
    """A copy that broke off says so, whatever is left of it."""
    measured_rounds.add(path, FACTS, [entry()])
    path.write_bytes(path.read_bytes()[:keep] or b"x")
    with pytest.raises(DeepbenchError, match="is not whole"):
        ensemble_round_files.load(path)


def test_a_file_that_unpacks_to_more_is_refused(path, monkeypatch):
    """A small file can hold gigabytes: they are not unpacked."""
    measured_rounds.add(path, FACTS, [entry(sweeps=2000)])
    monkeypatch.setattr(bounded_read, "RECORDS", 10_000)
    assert path.stat().st_size < 10_000
    with pytest.raises(DeepbenchError, match="unpacked"):
        ensemble_round_files.load(path)


def test_a_file_that_was_read_is_checked_again_only_when_it_changes(path, monkeypatch):
    """The next damage is noticed."""
    measured_rounds.add(path, FACTS, [entry()])
    ensemble_round_files.load(path)
    with monkeypatch.context() as patched:
        patched.setattr(ensemble_round_files, "load", lambda _: pytest.fail("read again"))
        ensemble_round_files.demand_whole(path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DeepbenchError, match="is not whole"):
        ensemble_round_files.demand_whole(path)
