"""Runs of whole models travel with a machine's results, and are the same in any order."""

import copy
import json
import shutil
from pathlib import Path

import pytest
from command import deepbench
from example_submissions import GOOD, sealed, taken
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import (
    submission,
    submission_model_runs,
    submission_parts,
    submission_provenance,
)
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.machine import machine_profile
from deepbench_ops.storage import model_runs

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "xeon-amx-2core"
RUN = {
    **{"kind": "latency", "model": "mobilenet_v2", "batch": 1, "threads": 1},
    **{"precision": "float32", "by": "eager", "device": "cpu", "release": "torch-2.13.0"},
    **{"median_seconds": 1.0, "day": "2026-11-22"},
}
SCALING = {
    **{"kind": "scaling", "model": "mmoe", "batch": 8, "ranks": 2, "split": False},
    **{"precision": "float32", "device": "cpu", "release": "torch-2.13.0", "step_seconds": 1.0},
}
RUNS = st.builds(
    lambda run, batch, day, seconds: {
        **run,
        **{"batch": batch, "day": day},
        **{model_runs.NEEDED[run["kind"]]: seconds},
    },
    *(st.sampled_from([RUN, SCALING]), st.sampled_from([1, 2])),
    *(st.sampled_from(["2026-11-22", "2026-11-23"]), st.sampled_from([1.0, 2.0])),
)


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


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_runs_are_merged_alike_in_any_order(tmp_path_factory, data):
    """Signed and unsigned, some of them twice: the bytes are the same."""
    drawn = st.tuples(RUNS, st.booleans())
    pushes = data.draw(st.lists(drawn, min_size=1, max_size=5))
    orders = pushes, data.draw(st.permutations([*pushes, pushes[0]]))
    folder = tmp_path_factory.mktemp("runs")
    for name, order in zip("ab", orders, strict=True):
        machine = folder / name
        signed: dict[str, str] = {}
        for run, is_signed in order:
            if is_signed:
                signed |= dict.fromkeys(submission_model_runs.ids(machine, [run]), "lab")
            submission_model_runs.accept(machine, [run], Path, SignedVersions(signed))
    first, second = ((folder / name / model_runs.FILE).read_bytes() for name in "ab")
    assert first == second
    shutil.rmtree(folder)


def test_a_later_run_and_a_signed_one_are_kept(tmp_path):
    """The later of two unsigned ones, and a signed one whatever its day."""
    later = {**RUN, "day": "2026-11-23", "median_seconds": 2.0}
    for run in (later, RUN):
        taken(tmp_path, sent(run))
    assert [later] == model_runs.load(tmp_path / "box")
    ids = list(submission_model_runs.ids(tmp_path, [RUN]))
    signer = Signer("lab@vendor.example", "SHA256:x")
    submission_provenance.note(tmp_path / "box", sent(RUN)["digest"], signer, [], ids)
    taken(tmp_path, sent(RUN))
    assert [RUN] == model_runs.load(tmp_path / "box")
    assert 0 == taken(tmp_path, sent(later))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"median_seconds": -1.0}, "its median_seconds is -1.0"),
        ({"median_seconds": None}, "it lacks median_seconds"),
        ({"kind": "speed"}, "it is no run"),
        ({"batch": [1]}, "it is no run"),
        ({"median_seconds": 1e-8}, "times the"),
        ({"day": "2999-01-01"}, "its day is 2999-01-01, in the future"),
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
