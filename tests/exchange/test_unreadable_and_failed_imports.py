"""All that is imported can be read again, and an import that fails changes nothing."""

import copy
import json
import shutil

import pytest
from command import deepbench
from example_submissions import (
    DIGEST,
    FACTS,
    GOOD,
    KERNELS,
    RELEASE,
    made,
    measured,
    sealed,
    taken,
    values,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange import readable_json
from deepbench_ops.exchange.submissions import entry_conflicts
from deepbench_ops.releases import table_location
from deepbench_ops.storage import conflict_files, entry_conflict_files

RUN = {
    **{"kind": "latency", "model": "mobilenet_v2", "batch": 1, "threads": 1, "by": "eager"},
    **{"precision": "float32", "device": "cpu", "release": RELEASE.name, "median_seconds": 1.0},
}
ROUND = {
    **{"family": "gemm", "problem": "m1760_n16_k1760_NN", "precision": "float32"},
    **{"operation": "forward", "round": "1-1", "version": "1", "started_at": 1.0},
    **{"ended_at": 2.0, "reasons": {}, "anchor": RELEASE.name, "fingerprints": {}},
}


def with_entries(*runs, rounds=()):
    """A submission with these runs and rounds."""
    ensembles = {"torch": {"facts": {DIGEST: FACTS}, "rounds": list(rounds)}} if rounds else {}
    content = {**copy.deepcopy(GOOD), "model_runs": list(runs), "ensembles": ensembles}
    return sealed(content)


def times_of(samples):
    """A submission of one kernel with these seconds."""
    key = KERNELS[0]
    return made([(key, samples[-1], samples)], records=[measured(key, samples)])


HALF = "x\ud800"
IMPOSSIBLE = {
    "run": with_entries({**RUN, "framework": HALF}),
    "condition": with_entries({**RUN, "conditions": {HALF: "1"}}),
    "round": with_entries(rounds=[{**ROUND, "seconds": {}, "state": HALF}]),
    "profile": sealed({**GOOD, "profile": {**GOOD["profile"], "facts": {"driver": HALF}}}),
    "library": sealed({**GOOD, "results": [{**GOOD["results"][0], "libraries": {"numpy": HALF}}]}),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_half_a_character_is_one_line(tmp_path, name):
    """Of a submission; it names the file, and nothing is stored."""
    path, results = tmp_path / "sent.json", tmp_path / "results"
    path.write_text(json.dumps(IMPOSSIBLE[name]))
    status, _, err = deepbench("import", str(path), "--results", str(results))
    assert (2, 1) == (status, err.count("\n"))
    assert f"{path}: half a character ends" in err
    assert "x\\ud800" in err
    assert not (results / "box").exists()


def test_half_a_character_in_a_table_is_one_line(tmp_path, monkeypatch):
    """As `deepbench export --format json` writes it."""
    path, here = tmp_path / "table.json", tmp_path / "here"
    taken(here, GOOD)
    options = ("--machine", "box", "--results", str(here), "--format", "json")
    monkeypatch.setattr(table_location, "load", lambda _: [RELEASE])
    rows = json.loads(deepbench("export", *options)[1])
    rows[0]["settings"] = HALF
    path.write_text(json.dumps(rows))
    status, _, err = deepbench("import", str(path), "--results", str(tmp_path / "results"))
    assert (2, 1) == (status, err.count("\n"))
    assert f"{path} is damaged: half a character ends" in err


def test_a_number_beyond_every_float_is_one_line(tmp_path):
    """The raw seconds of a time could not be read again."""
    path, content = tmp_path / "sent.json", copy.deepcopy(GOOD)
    content["results"][0]["measurements"][0]["started_at"] = 10**400
    path.write_text(json.dumps(sealed(content)))
    status, _, err = deepbench("import", str(path), "--results", str(tmp_path / "results"))
    assert (2, 1) == (status, err.count("\n"))
    assert f"{path}: a number in it is too large" in err


def test_characters_outside_of_the_basic_plane_are_whole():
    """JSON writes them as two halves."""
    assert "" == readable_json.why_not(json.loads('{"a": ["\\ud83d\\ude00"]}'))


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters() | st.characters(categories=["Cs"]), min_size=1, max_size=4))
def test_any_text_that_is_taken_is_read_again(tmp_path_factory, text):
    """In runs and rounds that differ, with their conflicts."""
    results = tmp_path_factory.mktemp("results")
    for seconds in (1.0, 2.0):
        run = {**RUN, "framework": text, "median_seconds": seconds}
        entry = {**ROUND, "seconds": {RELEASE.name: [seconds]}, "state": text}
        try:
            taken(results, with_entries(run, rounds=[entry]))
        except DeepbenchError as refused:
            assert "half a character" in str(refused)
            assert any("\ud800" <= each <= "\udfff" for each in text)
            assert {} == values(results)
            return
    found = entry_conflicts.of_machine(results / "box")
    assert {text} == {one.entry.get("framework", text) for each in found for one in each.versions}
    assert {text} == {one.entry.get("state", text) for each in found for one in each.versions}
    assert [2, 2] == [len(each.versions) for each in found]
    shutil.rmtree(results)


@pytest.mark.parametrize(
    ("pushes", "path"),
    [
        (
            [times_of([0.5]), times_of([0.6]), times_of([0.5, 0.6])],
            lambda machine: conflict_files.paths(machine)[0],
        ),
        (
            [
                with_entries(rounds=[{**ROUND, "seconds": {key: [0.5] for key in names}}])
                for names in ([RELEASE.name], ["torch-2.12.0"], [RELEASE.name, "torch-2.12.0"])
            ],
            lambda machine: machine / entry_conflict_files.FILE,
        ),
    ],
    ids=["times", "rounds"],
)
def test_a_failed_import_keeps_the_file_of_conflicts(tmp_path, pushes, path):
    """That it would have removed, since it has all numbers of the other two."""

    def full(_):
        raise OSError("No space left on device")

    for push in pushes[:2]:
        taken(tmp_path, push)
    before, kept = values(tmp_path), path(tmp_path / "box")
    assert kept.exists()
    with pytest.raises(OSError, match="No space"):
        taken(tmp_path, pushes[2], list_days=full)
    assert before == values(tmp_path)
    taken(tmp_path, pushes[2])
    assert not kept.exists()
