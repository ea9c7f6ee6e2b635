"""Rounds of histories travel with a machine's results, and give the same verdicts elsewhere."""

import copy
import json
import re
import shutil
from pathlib import Path

import pytest
from command import deepbench
from example_submissions import sealed, values
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission_rounds
from deepbench_ops.machine import machine_profile
from deepbench_ops.storage import ensemble_round_files

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "xeon-amx480-2core"
SENT = submission_rounds.pack(RESULTS / MACHINE)
NAME = min(SENT, key=lambda name: len(SENT[name]["rounds"]))
ONE = {NAME: SENT[NAME]}
"""The rounds of one of the machine's frameworks."""
PROFILE = machine_profile.read(RESULTS, MACHINE)


def accepted(machine: Path, *parts) -> bytes:
    """Take in rounds one after the other, and return the file that they make."""
    for part in parts:
        submission_rounds.accept(machine, part, Path)
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


def test_rounds_of_two_files_of_one_import_must_agree(two, tmp_path):
    """Otherwise the second file is named, and nothing of the first is stored."""
    one, other, change = two
    change(other, half_as_long_again)
    results = tmp_path / "results"
    status, out, err = deepbench("import", str(one), str(other), "--results", str(results))
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert re.search(f"{other}: rounds of {NAME}: round .* has other numbers in {one}: import", err)
    assert not (results / MACHINE).exists()


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
        assert sorted(map(str, whole)) == sorted(map(str, stored.entries))
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


def test_rounds_that_differ_are_refused(tmp_path):
    """One line names both files, the round and the number; the results stay as they are."""
    sent, there = tmp_path / "sent.json", tmp_path / "results"
    assert 0 == deepbench("submit", str(sent), "--machine", MACHINE, "--results", str(RESULTS))[0]
    assert 0 == deepbench("import", str(sent), "--results", str(there))[0]
    before = values(there)
    content = json.loads(sent.read_text())
    for entry in content["ensembles"][NAME]["rounds"][3:5]:
        column = entry["seconds"][entry["anchor"]]
        column[:] = [each and each * 1.25 for each in column]
    sent.write_text(json.dumps(sealed(content)))
    status, out, err = deepbench("import", str(sent), "--results", str(there))
    assert (2, "", 1) == (status, out, err.count("\n"))
    path = ensemble_round_files.path_of(there / MACHINE, NAME)
    kernel = " ".join(ensemble_round_files.kernel_of(content["ensembles"][NAME]["rounds"][3]))
    assert f"{sent}: {path}: round " in err
    assert f"of {kernel} has other numbers there (rounds that differ: 2)" in err
    assert before == values(there)
