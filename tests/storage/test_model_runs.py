"""Files of the runs of whole models: runs that are added, replaced and refused."""

import json

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import model_run_fields, model_runs

RUN = {
    "kind": "latency",
    "model": "mmoe",
    "batch": 8,
    "threads": 1,
    "precision": "float32",
    "by": "eager",
    "device": "cpu",
    "release": "torch-2.13.0",
    "median_seconds": 1.0,
}


def test_a_run_of_a_model_replaces_the_one_that_asked_the_same(tmp_path):
    """A run of another batch stays."""
    model_runs.add(tmp_path / "box", [RUN, {**RUN, "batch": 16}])
    model_runs.add(tmp_path / "box", [{**RUN, "median_seconds": 2.0}])
    stored = {run["batch"]: run["median_seconds"] for run in model_runs.load(tmp_path / "box")}
    assert {8: 2.0, 16: 1.0} == stored


def test_another_layout_or_number_of_threads_is_another_question(tmp_path):
    """And a run from before either was recorded was in the usual layout, with torch's own."""
    asked = {**RUN, "layout": "published", "inter_op": None}
    others = [{**asked, "layout": "channels_last"}, {**asked, "inter_op": 1}]
    model_runs.add(tmp_path / "box", [RUN, *others, {**asked, "median_seconds": 2.0}])
    stored = model_runs.load(tmp_path / "box")
    assert [2.0, 1.0, 1.0] == [run["median_seconds"] for run in stored]


def test_a_training_that_another_launcher_starts_is_another_question(tmp_path):
    """The runs of both launchers are kept, the newest of each."""
    scaling = {"kind": "scaling", "model": "mmoe", "batch": 8, "ranks": 2, "split": False}
    scaling |= {"threads": 1, "precision": "float32", "device": "cpu", "release": "torch-2.13.0"}
    for seconds, launcher in ((1.0, "srun"), (2.0, "mpirun"), (3.0, "srun")):
        run = {**scaling, "step_seconds": seconds, "conditions": {"launcher": launcher}}
        model_runs.add(tmp_path / "box", [run])
    stored = model_runs.load(tmp_path / "box")
    assert {"srun": 3.0, "mpirun": 2.0} == {
        run["conditions"]["launcher"]: run["step_seconds"] for run in stored
    }


def test_a_training_with_another_number_of_threads_is_another_question(tmp_path):
    """Both are kept: one rank with one thread is not compared with two of four threads each."""
    scaling = {"kind": "scaling", "model": "mmoe", "batch": 8, "ranks": 1, "split": False}
    scaling |= {"precision": "float32", "device": "cpu", "release": "torch-2.13.0"}
    runs = [{**scaling, "threads": count, "step_seconds": 1.0 / count} for count in (1, 4)]
    model_runs.add(tmp_path / "box", runs[:1])
    model_runs.add(tmp_path / "box", runs[1:])
    assert runs == model_runs.load(tmp_path / "box")


def test_of_two_lines_that_answer_the_same_question_the_last_counts(tmp_path):
    """As where two branches each added a run."""
    path = model_runs.add(tmp_path / "box", [RUN])
    path.write_text(path.read_text() + json.dumps({**RUN, "median_seconds": 2.0}) + "\n")
    assert [2.0] == [run["median_seconds"] for run in model_runs.load(tmp_path / "box")]


@pytest.mark.parametrize("line", ["{", '{"kind": "speed"}', '{"kind": "latency"}', "[]"])
def test_a_broken_run_is_named_and_nothing_is_lost(tmp_path, line):
    """Neither by reading nor by adding."""
    path = model_runs.add(tmp_path / "box", [RUN])
    torn = path.read_text() + line + "\n"
    path.write_text(torn)
    for asked in (model_runs.load, lambda folder: model_runs.add(folder, [RUN])):
        with pytest.raises(DeepbenchError, match="line 2 is not a run of a model"):
            asked(tmp_path / "box")
    assert torn == path.read_text()


@pytest.mark.parametrize("change", [("median_seconds", 0.0), ("layout", 3), ("unit", "s")])
def test_a_run_that_cannot_be_right_is_not_saved(tmp_path, change):
    """The file stays as it was."""
    path = model_runs.add(tmp_path / "box", [RUN])
    before = path.read_bytes()
    with pytest.raises(DeepbenchError, match=f"mmoe, 8, .* is not saved: its .*{change[0]}"):
        model_runs.add(tmp_path / "box", [{**RUN, "batch": 16}, RUN | dict([change])])
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"release": 3}, "its release is 3"),
        ({"release": None}, "its release is None"),
        ({"day": 5}, "its day is 5"),
        ({"off": "x"}, "its off is 'x'"),
        ({"off": 10**400}, "its off is 1000"),
        ({"drift": True}, "its drift is True"),
        ({"precision": 1.5}, "its precision is 1.5"),
        ({"by": None}, "its by is None"),
        ({"layout": 1}, "its layout is 1"),
        ({"framework": "x\ud800"}, r"its framework is 'x\ud800'"),
        ({"conditions": [["os", "Linux"]]}, "its conditions is"),
        ({"conditions": {"os": 1}}, "its conditions is"),
        ({"kind": "scaling", "split": 0, "ranks": 2, "step_seconds": 1.0}, "its split is 0"),
    ],
    ids=str,
)
def test_a_field_of_another_type_is_named(change, said):
    """The store could not hold it, and 0 is the same condition as false."""
    assert model_run_fields.why_not({**RUN, **change}).startswith(said)
    assert "" == model_run_fields.why_not({**RUN, "off": 1, "drift": None, "inter_op": None})
