"""Runs of whole models travel with a machine's results, and are the same in any order."""

import copy
import json
from itertools import permutations
from pathlib import Path

import pytest
from command import deepbench
from example_submissions import GOOD, RELEASE, RELEASES, sealed, taken, values

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import (
    conflict_resolution,
    entry_conflicts,
    submission,
    submission_model_runs,
    submission_parts,
    submission_provenance,
)
from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.storage import entry_conflict_files, model_run_fields, model_runs
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryVersion

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "xeon-amx-2core"
RUN = {
    **{"kind": "latency", "model": "mobilenet_v2", "batch": 1, "threads": 1},
    **{"precision": "float32", "by": "eager", "device": "cpu", "release": "torch-2.13.0"},
    **{"median_seconds": 1.0, "day": "2026-11-22"},
}
SCALING = {
    **{"kind": "scaling", "model": "mmoe", "batch": 8, "ranks": 2, "threads": 1, "split": False},
    **{"precision": "float32", "device": "cpu", "release": "torch-2.13.0", "step_seconds": 1.0},
}


def sent(*runs):
    """A submission with these runs."""
    return sealed({**copy.deepcopy(GOOD), "model_runs": list(runs)})


def test_runs_of_models_are_the_same_where_they_are_imported(tmp_path):
    """And a second import changes nothing."""
    path, there = tmp_path / "sent.json", tmp_path / "results"
    assert 0 == deepbench("submit", str(path), "--machine", MACHINE, "--results", str(RESULTS))[0]
    for changed in (True, False):
        status, out, _ = deepbench("import", str(path), "--results", str(there))
        assert (0, not changed) == (status, ", 0 files written" in out)
    stored = {json.dumps(run, sort_keys=True) for run in model_runs.load(there / MACHINE)}
    assert stored == {json.dumps(run, sort_keys=True) for run in model_runs.load(RESULTS / MACHINE)}


LATER = {**RUN, "day": "2026-11-23", "median_seconds": 2.0}


def shown(results):
    """The runs that are shown of the machine of the examples."""
    return model_runs.load(results / "box")


def open_conflicts(results):
    """The open conflicts of its runs and rounds."""
    return entry_conflicts.of_machine(results / "box")


@pytest.fixture
def both(tmp_path):
    """A folder with two different runs under the same conditions."""
    for run in (LATER, RUN):
        taken(tmp_path / "results", sent(run))
    return tmp_path / "results"


def test_two_runs_under_the_same_conditions_are_both_kept(both):
    """Days decide nothing, since clocks may be off; the longer one is shown."""
    [conflict] = open_conflicts(both)
    assert {1.0, 2.0} == {one.entry["median_seconds"] for one in conflict.versions}
    assert [LATER] == shown(both)
    assert 0 == taken(both, sent(RUN))
    assert "torch-2.13.0 latency of mobilenet_v2(batch 1, threads 1, " in conflict.name


def test_a_run_of_more_batches_is_shown(tmp_path):
    """Whichever came first."""
    more = {**RUN, "batches": 20}
    for number, order in enumerate(permutations([{**LATER, "batches": 10}, more])):
        for run in order:
            taken(tmp_path / str(number), sent(run))
        assert [more] == shown(tmp_path / str(number))


def test_the_same_numbers_are_one_run(tmp_path):
    """Of another day, as where a clock was set in between."""
    for run in (RUN, {**RUN, "day": "2026-11-23"}):
        taken(tmp_path, sent(run))
    assert [] == open_conflicts(tmp_path)
    assert [{**RUN, "day": "2026-11-23"}] == shown(tmp_path)


def test_a_signed_run_is_shown_before_another_one(both):
    """Its signer is named."""
    one = submission.CheckedSubmission(sent(RUN), (RELEASE,), Profile("box"))
    signer = Signer("lab@vendor.example", "SHA256:x")
    ids = submission.signed_ids(one)
    submission_provenance.note(both / "box", sent(RUN)["digest"], signer, [], ids)
    taken(both, sent(RUN))
    assert [RUN] == shown(both)
    [conflict] = open_conflicts(both)
    assert {1.0: signer.name, 2.0: ""} == {
        one.entry["median_seconds"]: one.signer for one in conflict.versions
    }
    assert 0 == taken(both, sent(LATER))


def test_the_commands_list_and_resolve_runs(both):
    """As JSON and by id; a rejected run changes nothing when it comes again."""
    options = ("--results", str(both))
    status, said, _ = deepbench("conflicts", "--format", "json", *options)
    rows = json.loads(said)
    assert (0, {True: 2.0, False: 1.0}) == (status, {row["shown"]: row["seconds"] for row in rows})
    other = next(row["version"] for row in rows if not row["shown"])
    assert other in deepbench("conflicts", *options)[1]
    status, said, _ = deepbench("conflicts", "resolve", other, *options)
    assert (0, "1 conflict resolved, 0 left\n") == (status, said)
    assert ([RUN], []) == (shown(both), open_conflicts(both))
    assert 0 == taken(both, sent(LATER))
    assert [RUN] == shown(both)
    assert [RUN] == submission.pack(both, "box", RELEASES, also_unsteady=True)["model_runs"]


NEW = {**RUN, "day": "2026-11-24", "median_seconds": 1.5}


@pytest.mark.parametrize("resolved", [True, False])
def test_a_new_run_of_this_project_is_chosen(both, resolved):
    """By `--save`: the earlier versions change nothing when they are sent again, and another new
    run replaces it without a conflict."""
    if resolved:
        conflict_resolution.resolve(open_conflicts(both), [conflict_resolution.SHOWN])
    for number in (1.5, 0.5):
        new = {**NEW, "median_seconds": number}
        model_runs.add(both / "box", [new])
        assert ([new], []) == (shown(both), open_conflicts(both))
        for run in (RUN, LATER):
            assert 0 == taken(both, sent(run))
        assert ([new], []) == (shown(both), open_conflicts(both))
        filed = entry_conflict_files.load(both / "box").versions
        [versions] = filed.values()
        assert [new] == [one.entry for one in versions if not one.rejected]
    assert 4 == len(versions)
    taken(both, sent({**RUN, "median_seconds": 3.0}))
    [conflict] = open_conflicts(both)
    assert {0.5, 3.0} == {one.entry["median_seconds"] for one in conflict.versions}


def test_a_new_run_with_the_numbers_of_a_version_chooses_it(both):
    """Of another day it is the same run."""
    model_runs.add(both / "box", [{**RUN, "day": "2026-11-24"}])
    assert 0 == taken(both, sent(LATER))
    assert ([1.0], []) == ([run["median_seconds"] for run in shown(both)], open_conflicts(both))
    taken(both, sent({**RUN, "day": "2026-11-25"}))
    assert ([1.0], []) == ([run["median_seconds"] for run in shown(both)], open_conflicts(both))


def test_a_new_run_is_stored_with_the_conflicts_or_not_at_all(both, monkeypatch):
    """As on a full disk."""

    def full(*_):
        raise OSError("No space left on device")

    before = values(both)
    monkeypatch.setattr(entry_conflict_files, "write", full)
    with pytest.raises(OSError, match="No space"):
        model_runs.add(both / "box", [NEW])
    assert before == {name: each for name, each in values(both).items() if ".lock" not in name.name}


def test_pages_and_tables_count_what_the_command_lists(tmp_path):
    """Also where an earlier version left a file of conflicts without the run that is shown."""
    machine = tmp_path / "box"
    taken(tmp_path, sent(RUN))
    one = EntryVersion(model_run_fields.FILE, LATER)
    entry_conflict_files.write(machine, EntryConflicts({}, {one.key: [one]}))
    found = open_conflicts(tmp_path)
    assert {one.key.identity: (1.0, 2.0)} == entry_conflicts.run_seconds(found)
    assert 1 == len(list(entry_conflicts.remarks([machine], of_runs=True)))
    assert [] == list(entry_conflicts.remarks([machine]))


def test_a_submission_has_every_open_version_of_a_run(both, tmp_path):
    """Both commands say so, and the conflict is the same elsewhere."""
    path, there = tmp_path / "box.json", tmp_path / "there"
    status, out, err = deepbench("submit", str(path), "--machine", "box", "--results", str(both))
    assert (0, True) == (status, ", 2 model runs of " in out)
    assert "with 1 other version of times, runs or rounds whose numbers differ: deepbench" in err
    status, _, err = deepbench("import", str(path), "--results", str(there))
    assert (0, True) == (status, "box: 1 model run with different numbers, which are all" in err)
    here, elsewhere = open_conflicts(both), open_conflicts(there)
    assert [each.versions for each in here] == [each.versions for each in elsewhere]


def test_a_machine_with_runs_of_models_alone_is_sent(tmp_path):
    """As one that has measured no kernel yet."""
    here, there, path = tmp_path / "here", tmp_path / "there", tmp_path / "box.json"
    taken(here, sealed({**sent(RUN), "results": []}))
    assert [] == list((here / "box").glob("*-*.json"))
    assert 0 == deepbench("submit", str(path), "--machine", "box", "--results", str(here))[0]
    assert 0 == deepbench("import", str(path), "--results", str(there))[0]
    assert [RUN] == shown(there)


def test_an_empty_submission_is_refused(tmp_path):
    """It would only describe a machine."""
    with pytest.raises(DeepbenchError, match="neither times nor runs of models nor rounds"):
        taken(tmp_path, sealed({**sent(), "results": []}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"median_seconds": -1.0}, "its median_seconds is -1.0"),
        ({"median_seconds": None}, "it lacks median_seconds"),
        ({"kind": "speed"}, "it is no run"),
        ({"batch": [1]}, "it is no run"),
        ({"median_seconds": 1e-8}, "times the"),
    ],
)
def test_a_run_that_cannot_be_is_refused(change, said):
    """The line names the run."""
    known = machine_profile.parse(GOOD["profile"])
    with pytest.raises(DeepbenchError, match="run 2 of a model: ") as refused:
        submission_model_runs.check([SCALING, {**RUN, **change}], known)
    assert said in str(refused.value)


def test_a_run_of_an_unknown_model_is_taken(tmp_path):
    """As one of another distribution, whose operations no one here counts."""
    run = {**RUN, "model": "other", "median_seconds": 1e-8}
    taken(tmp_path, sent(run))
    assert [run] == model_runs.load(tmp_path / "box")


def test_every_part_has_the_runs():
    """Of a machine with more results than one file may hold."""
    packed = {**sent(RUN), "results": 3 * [{"pad": "x" * 3000}]}
    parts = submission_parts.parts(packed, 6000)
    assert len(parts) > 1
    assert all([RUN] == part["model_runs"] for part in parts)
    assert parts[0]["digest"] == submission.digest(
        {name: each for name, each in parts[0].items() if name != "digest"}
    )
