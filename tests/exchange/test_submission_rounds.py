"""Rounds of histories travel with a machine's results, and give the same verdicts elsewhere."""

import copy
import json
import shutil
from pathlib import Path

import pytest
from command import deepbench
from example_submissions import sealed, values
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import entry_conflicts, entry_merging, submission_rounds
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.machine import machine_profile
from deepbench_ops.storage import ensemble_round_files, entry_conflict_files

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "xeon-amx480-2core"
SENT = entry_conflicts.packed_rounds(RESULTS / MACHINE)
NAME = min(SENT, key=lambda name: len(SENT[name]["rounds"]))
ONE = {NAME: SENT[NAME]}
"""The rounds of one of the machine's frameworks."""
PROFILE = machine_profile.read(RESULTS, MACHINE)


def accepted(machine: Path, *parts) -> bytes:
    """Take in rounds one after the other, and return the file that they make."""
    for part in parts:
        facts = {digest: each for one in part.values() for digest, each in one["facts"].items()}
        sent = entry_merging.as_sent(part, ())
        entry_merging.accept(machine, sent, facts, Path, SignedVersions())
    (path,) = ensemble_round_files.paths(machine)
    return path.read_bytes()


def test_verdicts_elsewhere_are_the_same(tmp_path):
    """A submission that is taken in gives the verdict, and is packed again with the same rounds."""
    sent, there = tmp_path / "sent.json", tmp_path / "results"
    assert 0 == deepbench("submit", str(sent), "--machine", MACHINE, "--results", str(RESULTS))[0]
    assert 0 == deepbench("import", str(sent), "--results", str(there))[0]
    options = ("--machine", MACHINE, "--format", "json", "--results")
    here = deepbench("verdict", *options, str(RESULTS))
    assert here == deepbench("verdict", *options, str(there))
    assert json.loads(here[1])
    again = tmp_path / "again.json"
    deepbench("submit", str(again), "--machine", MACHINE, "--results", str(there))
    assert SENT == json.loads(again.read_text())["ensembles"]


@pytest.fixture
def two(tmp_path):
    """Two files of a submission with few rounds, and the function that changes those of one."""
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    options = ("--machine", MACHINE, "--results", str(RESULTS))
    assert 0 == deepbench("submit", str(paths[0]), *options)[0]
    content = json.loads(paths[0].read_text())
    few = {NAME: {**SENT[NAME], "rounds": SENT[NAME]["rounds"][:3]}}
    content["ensembles"] = copy.deepcopy(few)
    content["results"] = content["results"][:1]
    for path in paths:
        path.write_text(json.dumps(sealed(content)))

    def change(path, damage):
        damage(content["ensembles"][NAME]["rounds"][1])
        path.write_text(json.dumps(sealed(content)))

    return *paths, change


def as_texts(entries):
    """Rounds as texts, sorted."""
    return sorted(map(ensemble_round_files.text, entries))


def half_as_long_again(entry):
    """Change all seconds of a release."""
    release = entry["anchor"]
    entry["seconds"][release] = [each and each * 1.5 for each in entry["seconds"][release]]


def lacks_a_release(entry):
    """Take a release out."""
    release = next(each for each in entry["seconds"] if each != entry["anchor"])
    for name, each in entry.items():
        if isinstance(each, dict):
            entry[name] = {key: value for key, value in each.items() if key != release}


def test_rounds_that_differ_are_both_kept_in_any_order(two, tmp_path):
    """The same files, conflict and list, whichever file of an import comes first."""
    one, other, change = two
    change(other, half_as_long_again)
    found = []
    for number, paths in enumerate(((one, other), (other, one))):
        results = tmp_path / str(number)
        status, _, err = deepbench("import", *map(str, paths), "--results", str(results))
        assert (0, 1) == (status, err.count("\n"))
        assert f"{MACHINE}: 1 round with different numbers, which are all kept" in err
        folder = results / MACHINE
        found.append(
            [ensemble_round_files.path_of(folder, NAME), folder / entry_conflict_files.FILE]
        )
        [conflict] = entry_conflicts.of_machine(folder)
        assert 2 == len(conflict.versions)
    assert [path.read_bytes() for path in found[0]] == [path.read_bytes() for path in found[1]]


def test_a_round_is_chosen_and_sent(two, tmp_path):
    """Both versions are sent before; the rejected one changes nothing when it comes again."""
    one, other, change = two
    change(other, half_as_long_again)
    results, sent = tmp_path / "results", tmp_path / "sent.json"
    options = ("--results", str(results))
    for path in (one, other):
        assert 0 == deepbench("import", str(path), *options)[0]
    assert 0 == deepbench("submit", str(sent), "--machine", MACHINE, *options)[0]
    assert 4 == len(json.loads(sent.read_text())["ensembles"][NAME]["rounds"])
    rows = json.loads(deepbench("conflicts", "--format", "json", *options)[1])
    shorter = min(rows, key=lambda row: row["seconds"])
    assert (2, False) == (len(rows), shorter["shown"])
    assert shorter["benchmark"].startswith("round of ")
    status, said, _ = deepbench("conflicts", "resolve", shorter["version"], *options)
    assert (0, "1 conflict resolved, 0 left\n") == (status, said)
    stored = ensemble_round_files.load(ensemble_round_files.path_of(results / MACHINE, NAME))
    assert as_texts(SENT[NAME]["rounds"][:3]) == as_texts(stored.entries)
    before = values(results / MACHINE)
    assert ", 0 files written" in deepbench("import", str(other), *options)[1]
    assert before == values(results / MACHINE)
    assert 0 == deepbench("submit", str(sent), "--machine", MACHINE, *options)[0]
    assert 3 == len(json.loads(sent.read_text())["ensembles"][NAME]["rounds"])


def test_a_fuller_round_in_the_second_file_of_an_import_is_none_the_less_taken(two, tmp_path):
    """Of a round that was measured with more releases that one is stored, in any order."""
    one, other, change = two
    change(one, lacks_a_release)
    results = tmp_path / "results"
    for paths in ((one, other), (other, one)):
        done = deepbench("import", *map(str, paths), "--results", str(results))
        assert (0, "") == (done[0], done[2])
        stored = ensemble_round_files.load(ensemble_round_files.path_of(results / MACHINE, NAME))
        whole = SENT[NAME]["rounds"][:3]
        assert as_texts(whole) == as_texts(stored.entries)
        shutil.rmtree(results)


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_rounds_are_merged_alike_in_any_order(tmp_path_factory, data):
    """Overlapping parts in any order, some of them twice, make the bytes of the whole."""
    ((name, whole),) = ONE.items()
    numbers = st.sets(st.integers(0, len(whole["rounds"]) - 1))
    chosen = data.draw(st.lists(numbers, min_size=1, max_size=3))
    chosen.append(set(range(len(whole["rounds"]))) - set().union(*chosen))
    parts = [
        {name: {**whole, "rounds": [whole["rounds"][place] for place in places]}}
        for places in chosen
    ]
    folder = tmp_path_factory.mktemp("merged")
    shuffled = data.draw(st.permutations([*parts, parts[0]]))
    assert accepted(folder / "a", ONE) == accepted(folder / "b", *shuffled)
    shutil.rmtree(folder)


def beats_the_machine(entry):
    """Divide all seconds of a release by a million."""
    release = entry["anchor"]
    entry["seconds"][release] = [each and each / 1e6 for each in entry["seconds"][release]]


def lacks_a_field(entry):
    """Remove the releases' seconds."""
    del entry["seconds"]


def of_no_kernel(entry):
    """Name a problem that there is not."""
    entry["problem"] = "m1"


def below_zero(entry):
    """Make a time negative."""
    release = entry["anchor"]
    entry["seconds"][release] = [-1.0 for _ in entry["seconds"][release]]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (beats_the_machine, "that its profile says the machine has"),
        (lacks_a_field, "lacks seconds"),
        (of_no_kernel, "m1"),
        (below_zero, "its seconds is"),
    ],
)
def test_a_round_that_cannot_be_is_refused(damage, said):
    """The line names the file and the round."""
    ((name, whole),) = copy.deepcopy(ONE).items()
    damage(whole["rounds"][2])
    with pytest.raises(DeepbenchError, match=rf"rounds of {name}, number 3: ") as refused:
        submission_rounds.check({name: whole}, PROFILE)
    assert said in str(refused.value)
    submission_rounds.check(SENT, PROFILE)


def test_a_file_of_another_name_is_refused():
    """A name is part of a path."""
    ((_, whole),) = ONE.items()
    with pytest.raises(DeepbenchError, match="name a framework"):
        submission_rounds.check({"../x": whole}, PROFILE)


def test_facts_that_are_not_those_of_their_digest_are_refused():
    """Each later reading of the machine's rounds would end in an error."""
    ((name, whole),) = copy.deepcopy(ONE).items()
    digest = min(whole["facts"])
    whole["facts"][digest] = {"x": "y"}
    with pytest.raises(DeepbenchError, match=rf"rounds of {name}: facts {digest} are others"):
        submission_rounds.check({name: whole}, PROFILE)
