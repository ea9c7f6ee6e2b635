"""Different numbers for the same point are all kept, whatever order they come in, until the user
chooses."""

import json
import random
import shutil
from pathlib import Path
from unittest import mock

import pytest
from command import deepbench
from example_submissions import (
    DIGEST,
    FACTS,
    GOOD,
    KERNELS,
    NAME,
    RELEASE,
    RELEASES,
    VERSIONS,
    made,
    measured,
    of_rounds,
    sealed,
    taken,
    values,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.analysis import parquet_columns, point_reading
from deepbench_ops.asv_adapter import result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import (
    conflict_resolution,
    signed_versions,
    submission,
    submission_merging,
    submission_provenance,
)
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.machine import machine_profile
from deepbench_ops.releases import table_location
from deepbench_ops.storage import atomic_write, conflict_files

FEW = made([(KERNELS[0], 0.7, [0.7])], records=[measured(KERNELS[0], [0.7], 9.0)])
MANY = made([(KERNELS[0], 0.5, [0.5, 0.6])], records=[measured(KERNELS[0], [0.5, 0.6])])


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """The table of releases holds the one that is sent."""
    monkeypatch.setattr(table_location, "load", lambda _: (RELEASE,))


def found(results):
    """The open conflicts of the machine of the examples."""
    return conflict_resolution.of_machine(results / "box", [RELEASE])


def shown(results):
    """The seconds of the points in results."""
    return sorted(each.seconds for each in point_reading.load(results, "box", RELEASES))


SIGNER = Signer("lab@vendor.example", "SHA256:x")

PUSH = st.tuples(
    st.none() | st.sampled_from(VERSIONS),
    st.sampled_from(VERSIONS),
    st.sampled_from([-0.5, 0.0, 1e9]),
    st.sampled_from(["1", "2"]),
    st.lists(st.sampled_from(VERSIONS), max_size=2).map(tuple),
)
"""A version of each of two kernels, the error of the machine's clock, a library's version, and
further versions of the second kernel, as a submission has them of a point in conflict."""


def parts(push):
    """The pushes of a push's kernels and further versions, one after the other."""
    first, second, clock, library, further = push
    alone = [(None, one, clock, library, ()) for one in further]
    return [(first, None, clock, library, ()), (None, second, clock, library, ()), *alone]


@st.composite
def orders(draw):
    """Pushes in order, and the same in another order, in parts, and twice."""
    first = draw(st.lists(PUSH, min_size=2, max_size=4))
    second = [one for push in first for one in draw(st.sampled_from([[push], parts(push)]))]
    return first, draw(st.permutations([*second, *draw(st.lists(st.sampled_from(first)))]))


def pushed(results, push, signer=None):
    """Merge a push into results, as an import does after its checks."""
    *versions, clock, library, further = push
    chosen = [
        (key, version)
        for key, version in zip(KERNELS, versions, strict=True)
        if version is not None
    ]
    points = [(key, seconds, samples) for key, (seconds, samples, _) in chosen]
    records = [
        measured(key, samples, 1.0 + clock) | more
        for key, (_, samples, more) in chosen
        if more is not None
    ]
    content = made(points, records=records)
    [result] = content["results"]
    result |= {"libraries": {"numpy": library}, "conditions": {DIGEST: FACTS}}
    result["other_versions"] = [other_version(one, clock) for one in further]
    for point in [*result["points"], *(each["point"] for each in result["other_versions"])]:
        if not point["samples"]:
            del point["samples"]
    if signer is not None:
        noted(results, content, signer)
    merged(results, content)


def noted(results, content, signer):
    """Note who signed a submission, as an import does."""
    checked = submission.CheckedSubmission(
        content, (RELEASE,), machine_profile.parse(content["profile"])
    )
    ids = submission.signed_ids(checked)
    name = sealed(content)["digest"]
    submission_provenance.note(results / "box", name, signer, [RELEASE.name], ids)


def signed_in(results, content):
    """Take in a submission that an allowed signer has signed."""
    noted(results, content, SIGNER)
    return taken(results, content)


def other_version(version, clock):
    """A further version of the second kernel, as a submission has it."""
    seconds, samples, more = version
    [result] = made([(KERNELS[1], seconds, samples)])["results"]
    records = [] if more is None else [measured(KERNELS[1], samples, 1.0 + clock) | more]
    return {"point": result["points"][0], "measurements": records}


def merged(results, content):
    """Merge the results of a submission with those in a folder."""
    for result in content["results"]:
        empty = submission_merging.empty_result(content["machine"], RELEASE, result)
        with atomic_write.together() as ready:
            signed = SignedVersions.of(results / "box")
            submission_merging.merge(results, result, empty, ready, signed)


def sent_on(results, target):
    """Merge the submission of results, as `deepbench submit` packs it, with an empty folder."""
    result_files.write_machine(results / "box" / "machine.json", GOOD["machine"])
    profile = machine_profile.parse(GOOD["profile"])
    machine_profile.write(results, profile)
    packed = submission.pack(results, "box", RELEASES, also_unsteady=True)
    merged(target, packed | {"machine": GOOD["machine"]})
    for name in ("machine.json", "machine.profile"):
        (results / "box" / name).unlink()


@pytest.mark.slow
@pytest.mark.seeded
@settings(max_examples=1000, deadline=None)
@given(orders())
def test_no_order_of_pushes_matters(tmp_path_factory, both):
    """In any order, twice, in parts, with clocks off, and sent on: the same bytes in all files."""
    folders = [tmp_path_factory.mktemp("results") for _ in range(3)]
    with mock.patch.object(atomic_write, "_flush"):  # most of the time of small files
        for folder, order in zip(folders, both, strict=False):
            for push in order:
                pushed(folder, push)
        sent_on(folders[1], folders[2])
    there, back, further = map(values, folders)
    assert there == back
    assert there == further
    for folder in folders:
        shutil.rmtree(folder)


def test_raw_seconds_that_are_sent_twice_are_refused(tmp_path):
    """No file of records may hold a line twice."""
    twice = made([(KERNELS[0], 0.7, [0.7])], records=2 * [measured(KERNELS[0], [0.7])])
    with pytest.raises(DeepbenchError, match="it is there twice"):
        taken(tmp_path, twice)


@pytest.mark.parametrize("order", [(FEW, MANY), (MANY, FEW)])
def test_both_numbers_are_kept_and_one_is_shown(tmp_path, order):
    """The one with more samples, whichever came first."""
    for sent in order:
        taken(tmp_path, sent)
    [conflict] = found(tmp_path)
    assert {0.5, 0.7} == {one.seconds for one in conflict.versions}
    assert [0.5] == shown(tmp_path)
    assert "torch-2.13.0 gemm.Training.kernel_forward" in conflict.name


@pytest.mark.parametrize("order", [(signed_in, taken), (taken, signed_in)])
def test_a_signed_version_is_shown_before_one_with_more_samples(tmp_path, order):
    """Whichever came first; both are kept."""
    for take_in in order:
        take_in(tmp_path, FEW if take_in is signed_in else MANY)
    [conflict] = found(tmp_path)
    assert {0.7: SIGNER.name, 0.5: ""} == {one.seconds: one.signer for one in conflict.versions}
    assert [0.7] == shown(tmp_path)


@pytest.mark.parametrize("order", [(signed_in, taken), (taken, signed_in)])
def test_more_samples_without_a_signature_replace_no_signed_ones(tmp_path, order):
    """Anyone could add samples to those of others, and shift their median."""
    more = made(
        [(KERNELS[0], 0.6, [0.5, 0.6, 0.7])], records=[measured(KERNELS[0], [0.5, 0.6, 0.7])]
    )
    for take_in in order:
        take_in(tmp_path, MANY if take_in is signed_in else more)
    assert ([0.5], 1) == (shown(tmp_path), len(found(tmp_path)))
    signed_in(tmp_path, more)
    assert ([0.6], 0) == (shown(tmp_path), len(found(tmp_path)))


def test_a_choice_counts_more_than_a_signature(tmp_path):
    """Also when the signed version is sent again."""
    taken(tmp_path, MANY)
    signed_in(tmp_path, FEW)
    [conflict] = found(tmp_path)
    conflict_resolution.resolve([conflict], [one.id for one in conflict.versions if not one.signer])
    before = values(tmp_path)
    assert 0 == signed_in(tmp_path, FEW)
    assert ([0.5], before) == (shown(tmp_path), values(tmp_path))


def test_a_submission_that_is_signed_later_is_shown_then(tmp_path):
    """Its numbers are there already; the same import again changes nothing."""
    for sent in (FEW, MANY):
        taken(tmp_path, sent)
    assert 1 == signed_in(tmp_path, FEW)
    assert [0.7] == shown(tmp_path)
    assert (0, 0) == (signed_in(tmp_path, FEW), taken(tmp_path, MANY))


def test_equal_numbers_of_another_result_are_not_signed():
    """The id of a signed version names the result file."""
    one = conflict_files.PointVersion({"benchmark": NAME, "params": [], "seconds": 0.5})
    first, second = (signed_versions.id_of(Path(name), one.text) for name in ("a.json", "b.json"))
    assert first != second


@pytest.mark.parametrize("known", [(), (FEW,), (MANY,), (MANY, FEW)], ids=len)
def test_a_submission_has_every_open_version(tmp_path, known):
    """An import elsewhere finds the same conflict, whatever is there, and once only."""
    for sent in (FEW, MANY):
        taken(tmp_path / "here", sent)
    packed = submission.pack(tmp_path / "here", "box", RELEASES, also_unsteady=True)
    for sent in (*known, packed):
        taken(tmp_path / "there", sent)
    here, there = found(tmp_path / "here"), found(tmp_path / "there")
    assert [each.versions for each in here] == [each.versions for each in there]
    assert [0.5] == shown(tmp_path / "there")
    assert 0 == taken(tmp_path / "there", packed)


def test_a_rejected_version_is_not_sent(tmp_path):
    """It was decided about here, and the point has one version elsewhere."""
    for sent in (FEW, MANY):
        taken(tmp_path, sent)
    conflict_resolution.resolve(found(tmp_path), [conflict_resolution.SHOWN])
    [result] = submission.pack(tmp_path, "box", RELEASES, also_unsteady=True)["results"]
    assert "other_versions" not in result


def test_another_version_is_checked_as_a_point_is(tmp_path):
    """Its point is there, its time possible, and its raw seconds are its own."""
    for sent in (FEW, MANY):
        taken(tmp_path, sent)
    packed = submission.pack(tmp_path, "box", RELEASES, also_unsteady=True)
    for change, reason in (
        ({"params": list(KERNELS[1])}, "another version of a point that is missing"),
        ({"seconds": 1e-9, "samples": [1e-9]}, "its raw seconds: another unit"),
        ({"benchmark": "gemm.Nonsense.kernel_forward"}, "Nonsense"),
    ):
        content = json.loads(json.dumps(packed))
        content["results"][0]["other_versions"][0]["point"] |= change
        with pytest.raises(DeepbenchError, match=reason):
            submission.check(sealed(content))
    content = json.loads(json.dumps(packed))
    [other] = content["results"][0]["other_versions"]
    other["measurements"] *= 2
    with pytest.raises(DeepbenchError, match="it is there twice"):
        submission.check(sealed(content))


def test_submit_and_import_name_the_conflict(tmp_path, monkeypatch):
    """Both versions are sent, and both commands say how one is chosen."""
    monkeypatch.chdir(tmp_path)
    for sent in (FEW, MANY):
        taken(tmp_path / "here", sent)
    status, _, err = deepbench("submit", "box.json", "--machine", "box", "--results", "here")
    assert (0, 1) == (status, err.count("\n"))
    assert "with 1 other version of times, runs or rounds whose numbers differ" in err
    assert "deepbench conflicts --machine box" in err
    status, _, err = deepbench("import", "box.json", "--results", "there")
    assert 0 == status
    assert "box: 1 time with different numbers, which are all kept" in err
    assert "deepbench conflicts --machine box" in err
    assert found(tmp_path / "here") != []
    assert [one.versions for one in found(tmp_path / "here")] == [
        one.versions for one in found(tmp_path / "there")
    ]


def test_more_rounds_of_the_same_run_are_no_conflict(tmp_path):
    """All numbers of the first submission are in the second."""
    more = made(
        [(KERNELS[0], 0.6, [0.5, 0.6, 0.7])], records=[measured(KERNELS[0], [0.5, 0.6, 0.7])]
    )
    for sent in (MANY, more, MANY):
        taken(tmp_path, sent)
    assert [] == found(tmp_path)
    assert [0.6] == shown(tmp_path)
    assert [] == conflict_files.paths(tmp_path / "box")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_table_of_a_history_is_no_conflict_with_its_submission(tmp_path, order):
    """It has the same numbers, without the rounds that they come from; it is one where a third
    version has others."""
    seconds, samples, more = of_rounds(8, 0.82)
    record = measured(KERNELS[0], samples) | more
    sent = [made([(KERNELS[0], seconds, samples)], records=each) for each in ([record], [])]
    for number in order:
        taken(tmp_path, sent[number])
    assert [] == found(tmp_path)
    assert [()] == [each.conflict for each in point_reading.load(tmp_path, "box", RELEASES)]
    [result] = submission.pack(tmp_path, "box", RELEASES, also_unsteady=True)["results"]
    assert (1, False) == (len(result["measurements"]), "other_versions" in result)
    taken(tmp_path, FEW)
    [conflict] = found(tmp_path)
    assert [(0.7, 1), (0.82, 1)] == sorted(
        (one.seconds, len(one.measurements)) for one in conflict.versions
    )


def test_a_chosen_version_stays(tmp_path):
    """With its raw seconds, and when the rejected one is sent again."""
    for sent in (FEW, MANY):
        taken(tmp_path, sent)
    [conflict] = found(tmp_path)
    few = next(one for one in conflict.versions if one.seconds == 0.7)
    assert 1 == conflict_resolution.resolve([conflict], [few.id])
    assert ([], [0.7]) == (found(tmp_path), shown(tmp_path))
    before = values(tmp_path)
    for sent in (FEW, MANY):
        assert 0 == taken(tmp_path, sent)
    assert before == values(tmp_path)
    packed = submission.pack(tmp_path, "box", RELEASES, also_unsteady=True)
    assert [[0.7]] == [each["seconds"] for each in packed["results"][0]["measurements"]]


def test_a_third_version_opens_the_conflict_again(tmp_path):
    """A rejected one stays rejected."""
    for sent in (FEW, MANY):
        taken(tmp_path, sent)
    conflict_resolution.resolve(found(tmp_path), [conflict_resolution.SHOWN])
    taken(tmp_path, made([(KERNELS[0], 0.9, [0.9])]))
    [conflict] = found(tmp_path)
    assert {0.5, 0.9} == {one.seconds for one in conflict.versions}


def test_the_commands_list_and_resolve(tmp_path):
    """As a table and as JSON; an unknown version is one line and changes nothing."""
    results = tmp_path / "results"
    taken(results, FEW)
    signed_in(results, MANY)
    options = ("--results", str(results))
    status, said, _ = deepbench("conflicts", "--format", "json", *options)
    rows = json.loads(said)
    assert (0, 2) == (status, len(rows))
    assert {True: 0.5, False: 0.7} == {row["shown"]: row["seconds"] for row in rows}
    assert {0.5: SIGNER.name, 0.7: ""} == {row["seconds"]: row["signer"] for row in rows}
    assert rows[0]["version"] in deepbench("conflicts", *options)[1]
    before = values(results)
    status, _, err = deepbench("conflicts", "resolve", "0123456789", *options)
    assert (2, 1) == (status, err.count("\n"))
    assert "no open conflict has a version 0123456789" in err
    both = [row["version"] for row in rows]
    assert 2 == deepbench("conflicts", "resolve", *both, *options)[0]
    assert before == {
        name: text for name, text in values(results).items() if ".lock" not in name.name
    }
    other = next(row["version"] for row in rows if not row["shown"])
    status, said, _ = deepbench("conflicts", "resolve", other, *options)
    assert (0, "1 conflict resolved, 0 left\n") == (status, said)
    assert "no conflicts" in deepbench("conflicts", *options)[1]
    assert [0.7] == shown(results)


def test_points_and_their_table_are_marked(tmp_path):
    """Until one is chosen."""
    for sent in (FEW, MANY):
        taken(tmp_path, sent)
    marked = point_reading.load(tmp_path, "box", RELEASES)
    assert [(0.5, 0.7)] == [each.conflict for each in marked]
    assert [[0.5, 0.7]] == parquet_columns.times(marked)["conflict"].to_pylist()
    conflict_resolution.resolve(found(tmp_path), [conflict_resolution.SHOWN])
    assert [()] == [each.conflict for each in point_reading.load(tmp_path, "box", RELEASES)]


def test_a_full_disk_loses_no_version(tmp_path, monkeypatch):
    """The files stay as they were, and the next import completes them."""
    taken(tmp_path, FEW)
    before = values(tmp_path)

    def full(*_):
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(conflict_files, "write", full)
        with pytest.raises(OSError, match="No space"):
            taken(tmp_path, MANY)
    assert before == values(tmp_path)
    taken(tmp_path, MANY)
    assert 1 == len(found(tmp_path))


def test_a_flipped_bit_is_one_line(tmp_path):
    """Of the file of conflicts; the points are read without marks, and the damage is reported."""
    for sent in (FEW, MANY):
        taken(tmp_path, sent)
    [path] = conflict_files.paths(tmp_path / "box")
    content, draw = path.read_bytes(), random.Random(1)
    for _ in range(20):
        flipped = bytearray(content)
        flipped[draw.randrange(10, len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(DeepbenchError, match=str(path)):
            conflict_files.load(path)
    assert NAME == point_reading.load(tmp_path, "box", RELEASES)[0].benchmark
