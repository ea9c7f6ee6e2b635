"""Different numbers for the same point are all kept, whatever order they come in, until the user
chooses."""

import json
import random
import shutil
from unittest import mock

import pytest
from command import deepbench
from example_submissions import (
    KERNELS,
    NAME,
    RELEASE,
    RELEASES,
    made,
    measured,
    taken,
    values,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.analysis import parquet_columns, points
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import conflict_resolution, submission, submission_merging
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
    return sorted(each.seconds for each in points.load(results, "box", RELEASES))


def of_rounds(rounds, seconds):
    """A version that a history derived from so many rounds."""
    origin = {"file": "torch", "anchor": "torch-2.12.0", "rounds": rounds, "ratio": 1.0}
    bounds = {"low": 0.9, "high": 1.1, "seconds": seconds, "interval": [0.4, 0.9]}
    return (seconds, [seconds], {"ensemble": {**origin, **bounds}})


VERSIONS = (
    (0.5, [0.5, 0.6], {}),
    (0.55, [0.5, 0.6, 0.55], {}),
    (0.55, [0.55, 0.5, 0.6], {}),
    (0.7, [0.7], {}),
    (0.7, [0.7], None),
    (0.9, [], None),
    of_rounds(3, 0.8),
    of_rounds(8, 0.82),
    of_rounds(8, 0.83),
)
"""Versions of a point: seconds, samples, and fields of its raw seconds' record, if it has one."""

PUSH = st.tuples(
    st.none() | st.sampled_from(VERSIONS),
    st.sampled_from(VERSIONS),
    st.sampled_from([-0.5, 0.0, 1e9]),
    st.sampled_from(["1", "2"]),
)
"""A version of each of two kernels, the error of the machine's clock, and a library's version."""


def parts(push):
    """The pushes of a push's kernels, one after the other."""
    first, second, clock, version = push
    return [(first, None, clock, version), (None, second, clock, version)]


@st.composite
def orders(draw):
    """Pushes in order, and the same in another order, in parts, and twice."""
    first = draw(st.lists(PUSH, min_size=2, max_size=4))
    second = [one for push in first for one in draw(st.sampled_from([[push], parts(push)]))]
    return first, draw(st.permutations([*second, *draw(st.lists(st.sampled_from(first)))]))


def pushed(results, push):
    """Merge a push into results, as an import does after its checks."""
    *versions, clock, library = push
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
    result["libraries"] = {"numpy": library}
    for point in result["points"]:
        if not point["samples"]:
            del point["samples"]
    empty = submission_merging.empty_result(content["machine"], RELEASE, result)
    with atomic_write.together() as ready:
        submission_merging.merge(results, result, empty, ready)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(orders())
def test_no_order_of_pushes_matters(tmp_path_factory, both):
    """In any order, twice, in parts, and with clocks off: the same bytes in all files."""
    folders = [tmp_path_factory.mktemp("results") for _ in both]
    with mock.patch.object(atomic_write, "_flush"):  # most of the time of small files
        for folder, order in zip(folders, both, strict=True):
            for push in order:
                pushed(folder, push)
    there, back = map(values, folders)
    assert there == back
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
    for sent in (FEW, MANY):
        taken(results, sent)
    options = ("--results", str(results))
    status, said, _ = deepbench("conflicts", "--format", "json", *options)
    rows = json.loads(said)
    assert (0, 2) == (status, len(rows))
    assert {True: 0.5, False: 0.7} == {row["shown"]: row["seconds"] for row in rows}
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
    marked = points.load(tmp_path, "box", RELEASES)
    assert [(0.5, 0.7)] == [each.conflict for each in marked]
    assert [[0.5, 0.7]] == parquet_columns.times(marked)["conflict"].to_pylist()
    conflict_resolution.resolve(found(tmp_path), [conflict_resolution.SHOWN])
    assert [()] == [each.conflict for each in points.load(tmp_path, "box", RELEASES)]


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
    assert NAME == points.load(tmp_path, "box", RELEASES)[0].benchmark
