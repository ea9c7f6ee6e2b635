"""A machine with more results than a file may hold is sent in several files."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner
from command import deepbench
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.commands.submit import submit
from deepbench_ops.exchange.submissions import submission, submission_parts
from deepbench_ops.releases import release_table

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "epyc-9005-2core"
RELEASES = {each.hash: each for each in release_table.load()}

results = st.builds(
    lambda name, size: {"release": name, "pad": "x" * size}, st.text(), st.integers(0, 3000)
)
rounds = st.lists(st.builds(lambda size: {"pad": "y" * size}, st.integers(0, 3000)), max_size=6)


@given(
    results=st.lists(results, max_size=8),
    ensembles=st.dictionaries(st.text("ab", max_size=2), rounds),
    largest=st.integers(6000, 40_000),
)
def test_parts_hold_everything_and_fit(results, ensembles, largest):
    """Every result and round is in one of them, in order, and none is larger than it may be."""
    packed = {
        **{"format": "f", "version": 3, "machine": {}, "profile": {"peak": 1}, "results": results},
        "ensembles": {
            name: {"facts": {"a": name}, "rounds": each} for name, each in ensembles.items()
        },
        "digest": "sha256:" + "0" * 64,
    }
    parts = submission_parts.parts(packed, largest)
    found = [each for part in parts for each in part["results"]]
    assert results == found
    for name, own in ensembles.items():
        parts_with = [part["ensembles"][name] for part in parts if name in part["ensembles"]]
        assert own == [each for part in parts_with for each in part["rounds"]]
        assert all({"a": name} == part["facts"] for part in parts_with)
    for part in parts:
        assert part["results"] or part["ensembles"] or parts == [packed]
        text = submission.text(part)
        pieces = len(part["results"]) + sum(len(e["rounds"]) for e in part["ensembles"].values())
        assert len(text) <= largest or pieces <= 2


def test_rounds_without_results_are_divided():
    """No part repeats a result."""
    rounds = ["x" * 5000, "y" * 5000]
    packed = {"results": [], "ensembles": {"numpy": {"facts": {}, "rounds": rounds}}}
    parts = submission_parts.parts(packed, 6000)
    assert [[each] for each in rounds] == [each["ensembles"]["numpy"]["rounds"] for each in parts]


def test_one_that_fits_stays_one():
    """Its digest too: a file that was sent before is the same."""
    packed = submission.pack(RESULTS, MACHINE, RELEASES)
    assert [packed] == submission_parts.parts(packed, submission.LARGEST_BYTES)


def test_files_in_any_order_make_the_results_of_one_file(tmp_path, monkeypatch):
    """`submit` numbers them and lists them; `import` takes several at once or one by one."""
    whole = submission.pack(RESULTS, MACHINE, RELEASES)
    whole_file = tmp_path / "whole.json"
    whole_file.write_text(submission.text(whole))
    imported = tmp_path / "whole"
    assert 0 == deepbench("import", str(whole_file), "--results", str(imported))[0]
    size = len(json.dumps(whole))
    largest = size // 3
    monkeypatch.setattr(submission, "LARGEST_BYTES", largest)
    arguments = ["--machine", MACHINE, "--results", str(RESULTS)]
    done = CliRunner().invoke(submit, [str(tmp_path / "ours.json"), *arguments])
    assert 0 == done.exit_code, done.output
    files = sorted(tmp_path.glob("ours*"))
    assert [f"ours-{number}.json" for number in range(1, len(files) + 1)] == [
        path.name for path in files
    ]
    assert len(files) >= 3
    assert all(path.stat().st_size <= largest for path in files)
    assert all(str(path) in done.output for path in files)
    random.Random(1).shuffle(files)
    expected = submission.pack(imported, MACHINE, RELEASES)
    there = tmp_path / "there"
    for some in (files[:1], files[1:]):
        assert 0 == deepbench("import", *map(str, some), "--results", str(there))[0]
    assert expected == submission.pack(there, MACHINE, RELEASES)


@pytest.mark.parametrize("count", [1, 3])
def test_the_names_of_files(count):
    """One file has the name that was given."""
    from deepbench_ops.commands.submit import _names

    expected = ["a/ours.json"] if count == 1 else [f"a/ours-{n}.json" for n in (1, 2, 3)]
    assert expected == list(map(str, _names(Path("a/ours.json"), count)))
