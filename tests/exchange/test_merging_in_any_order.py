"""Whole submissions give the same results and conflicts in any order, twice, and in parts."""

import copy
import shutil
from pathlib import Path
from unittest import mock

import pytest
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
    sealed,
    values,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.exchange.submissions import (
    conflict_resolution,
    entry_conflicts,
    entry_merging,
    submission,
    submission_provenance,
)
from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.storage import atomic_write, ensemble_round_files, entry_conflict_files

SIGNERS = (
    Signer("lab@vendor.example", "SHA256:a"),
    Signer("user@other.example", "SHA256:b"),
    Signer(None, "SHA256:c"),
    None,
)
"""Two allowed signers, one of an unknown key, and no signature."""

CLOCKS = (-0.5, 0.0, 1e9)
"""Errors of a machine's clock, in seconds."""

COLUMNS = ([0.5, 0.6], [0.5, 0.6, 0.7], [0.5, 0.65], [None, 0.6])
"""Seconds of a release in a round: the second one has all of the first, and that of the last."""

TIME = st.tuples(st.sampled_from(KERNELS), st.sampled_from(VERSIONS), st.sampled_from(CLOCKS))
ROUND = st.tuples(
    st.sampled_from(["torch", "frameworks"]),
    st.sampled_from(["1-1", "1-2"]),
    st.sampled_from(COLUMNS),
    st.booleans(),
    st.sampled_from([2.0, 3.0]),
)
RUN = st.tuples(
    st.sampled_from(["latency", "scaling"]),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from([None, 20]),
    st.sampled_from(["2026-11-22", "2999-01-01"]),
)
PUSH = st.tuples(
    st.lists(TIME, max_size=3),
    st.lists(ROUND, max_size=3),
    st.lists(RUN, max_size=2),
    st.tuples(st.sampled_from(["2026-11-21", "2026-11-22"]), st.sampled_from(["1", "2"])),
    st.sampled_from(SIGNERS),
).filter(lambda push: any(push[:3]))


@st.composite
def orders(draw):
    """Pushes in order, and the same in another order, in parts, and some of them twice."""
    first = draw(st.lists(PUSH, min_size=2, max_size=3))
    second = [one for push in first for one in draw(st.sampled_from([[push], parts(push)]))]
    return first, draw(st.permutations([*second, *draw(st.lists(st.sampled_from(first)))]))


def parts(push):
    """Each time, round and run of a push in a push of its own."""
    *contents, profile, signer = push
    empty = [[] for _ in contents]
    return [
        (*empty[:number], [each], *empty[number + 1 :], profile, signer)
        for number, content in enumerate(contents)
        for each in content
    ]


def round_of(name, number, column, short, ended):
    """A round with the seconds of two releases, or of one if it is short."""
    releases = ["torch-2.12.0", "torch-2.13.0"][: 1 if short else 2]
    [problem, precision] = (text.strip("'") for text in KERNELS[0])
    return name, {
        **{"family": "gemm", "problem": problem, "precision": precision, "operation": "forward"},
        **{"round": number, "version": "1", "started_at": 1.0, "ended_at": ended, "reasons": {}},
        **{"anchor": releases[0], "seconds": dict.fromkeys(releases, column)},
        "fingerprints": dict.fromkeys(releases, DIGEST),
    }


def run_of(kind, seconds, samples, day):
    """A run of a model."""
    names = {"latency": ("median_seconds", "batches"), "scaling": ("step_seconds", "steps")}
    of_kind = {"latency": {"by": "eager"}, "scaling": {"ranks": 2, "split": False}}
    found = {"kind": kind, "model": "mmoe", "batch": 8, "threads": 1, "precision": "float32"}
    found["device"] = "cpu"
    numbers = dict(zip(names[kind], (seconds, samples), strict=True))
    numbers = {name: each for name, each in numbers.items() if each is not None}
    return found | of_kind[kind] | numbers | {"release": RELEASE.name, "day": day}


def content_of(push):
    """A push as a submission."""
    times, rounds, runs, (day, fact), _ = push
    content = copy.deepcopy(GOOD)
    content["profile"] |= {"date": day, "facts": {"driver": fact}}
    content["model_runs"] = [run_of(*each) for each in runs]
    ensembles = content["ensembles"] = {}
    for name, entry in (round_of(*each) for each in rounds):
        own = ensembles.setdefault(name, {"facts": {DIGEST: FACTS}, "rounds": []})
        own["rounds"].append(entry)
    content["results"] = [result_of(times, fact)] if times else []
    return sealed(content)


def result_of(times, library):
    """The times of a push: one of each kernel as a point, the others as other versions."""
    [result] = made([])["results"]
    result |= {"libraries": {"numpy": library}, "conditions": {DIGEST: FACTS}}
    result["other_versions"] = []
    for key, (seconds, samples, more), clock in times:
        point = {"benchmark": NAME, "params": list(key), "seconds": seconds}
        point |= {"samples": samples} if samples else {}
        records = [] if more is None else [measured(key, samples, 1.0 + clock) | more]
        if any(each["params"] == point["params"] for each in result["points"]):
            result["other_versions"].append({"point": point, "measurements": records})
        else:
            result["points"].append(point)
            result["measurements"] += records
    return result


def reordered(content):
    """The same content with the fields of all objects in another order."""
    if isinstance(content, list):
        return list(map(reordered, content))
    if not isinstance(content, dict):
        return content
    return {name: reordered(each) for name, each in reversed(content.items())}


def imported(results, content, signer):
    """Take in a submission as `deepbench import` does once its signature is verified."""
    [(_, one)] = submission.checked_all(results, {Path("sent.json"): content}, RELEASES)
    versions = submission.signed_ids(one) if signer and signer.name else ()
    names = [release.name for release in one.releases]
    submission_provenance.note(results / "box", content["digest"], signer, names, versions)
    submission.store(results, one, len)


def conflicts(results):
    """The open conflicts of a folder: name, versions with their signers, and the one shown."""
    found = conflict_resolution.of_machine(results / "box", [RELEASE])
    every = [*found, *entry_conflicts.of_machine(results / "box")]
    return [
        (each.name, [(one.id, one.signer) for one in each.versions], each.shown) for each in every
    ]


def lost(results, pushes):
    """The runs and rounds of pushes whose numbers are in no version that was kept."""
    runs = entry_conflicts.packed_runs(results / "box")
    rounds = entry_conflicts.packed_rounds(results / "box")
    for _, sent_rounds, sent_runs, *_ in pushes:
        for sent in (run_of(*each) for each in sent_runs):
            if not any({**sent, "day": each["day"]} == each for each in runs):
                yield sent
        for name, sent in (round_of(*each) for each in sent_rounds):
            if not any(
                ensemble_round_files.contains(each, sent) for each in rounds[name]["rounds"]
            ):
                yield sent


def not_filed(results):
    """Runs and rounds with several versions whose shown one is not among the filed ones."""
    filed = entry_conflict_files.load(results / "box").versions
    for key, versions in filed.items():
        shown = entry_merging.ShownEntries.read(results / "box", key.file).versions[key]
        if shown not in versions:
            yield shown


def without_notes(results):
    """All files but the notes of submissions: parts are noted as submissions of their own."""
    notes = submission_provenance.FILE
    return {path: text for path, text in values(results).items() if path.name != notes}


@pytest.mark.slow
@pytest.mark.seeded
@settings(max_examples=1000, deadline=None)
@given(orders())
def test_no_order_of_submissions_matters(tmp_path_factory, both):
    """Signed by one of two, by an unknown key, or not, with clocks off: the same bytes in all
    files, and the same conflicts, in which a signed version is shown where there is one. No numbers
    of a run or round are lost."""
    folders = [tmp_path_factory.mktemp("results") for _ in range(2)]
    with mock.patch.object(atomic_write, "_flush"):  # most of the time of small files
        for push in both[0]:
            imported(folders[0], content_of(push), push[-1])
        for push in both[1]:
            imported(folders[1], reordered(content_of(push)), push[-1])
    there, back = map(without_notes, folders)
    assert there == back
    assert [] == list(lost(folders[0], both[0]))
    assert [] == list(not_filed(folders[0]))
    found = conflicts(folders[0])
    assert found == conflicts(folders[1])
    for _, versions, shown in found:
        signed = [name for name, signer in versions if signer]
        assert not signed or shown in signed
    for folder in folders:
        shutil.rmtree(folder)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(orders())
def test_results_that_are_sent_on_are_the_same(tmp_path_factory, both):
    """A submission of the results has all that went into them, but for their signatures."""
    here, there = (tmp_path_factory.mktemp("results") for _ in range(2))
    with mock.patch.object(atomic_write, "_flush"):
        for push in both[0]:
            imported(here, content_of(push), None)
        packed = submission.pack(here, "box", RELEASES, also_unsteady=True)
        imported(there, packed, None)
    assert without_notes(here) == without_notes(there)
    assert conflicts(here) == conflicts(there)
    for folder in (here, there):
        shutil.rmtree(folder)
