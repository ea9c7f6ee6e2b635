"""Trainings in plans: read as they were written, and refused in one line where they cannot be."""

import json

import fleet_project
import pytest

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet.planned_training import PlannedTraining

PLACEMENT = RankPlacement(2, 4, "srun", "hdr200")


@pytest.fixture
def written(tmp_path):
    """The path of a plan with a training, and the plan."""
    path = tmp_path / "plan.json"
    training = PlannedTraining("wide_deep", 1000, "bfloat16", split=True)
    job = fleet_project.job(families=(), training=training)
    return path, fleet_project.write(path, fleet_project.plan(job, placement=PLACEMENT))


def test_a_plan_with_a_training_is_read_as_it_was_written(written):
    """With all that its ranks need."""
    path, plan = written
    assert plan == plans.read(path)
    request = plan.jobs[0].training.request("cuda")
    found = (request.network, request.batch, request.precision, request.device, request.split)
    assert ("wide_deep", 1000, "bfloat16", "cuda", True) == found


def test_a_plan_without_trainings_is_written_as_before(tmp_path):
    """Job scripts of older plans belong to their plans still, by the digest of the text."""
    path = tmp_path / "plan.json"
    fleet_project.write(path, fleet_project.plan())
    assert "training" not in path.read_text()


@pytest.mark.parametrize(
    ("network", "more", "message"),
    [
        ("resnet5", {}, "unknown model 'resnet5'"),
        ("mmoe", {"batch": 0}, "batch is 0: give 1 or more"),
        ("mmoe", {"precision": "int8"}, "int8 has no training steps: give --precision float32"),
        ("mmoe", {"split": True}, "mmoe has no tables to split"),
        ("llama_1b_decode_512", {}, "llama_1b_decode_512 is not trained"),
    ],
)
def test_a_training_that_cannot_be_is_refused(network, more, message):
    """When the plan is made, not on a node."""
    with pytest.raises(DeepbenchError) as refused:
        PlannedTraining(network, **more)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"families": ["gemm"]}, "jobs/0/families: "),
        ({"training": {"network": "mmoe"}}, "jobs/0/training: "),
        ({"training": None}, "jobs/0/training: "),
    ],
)
def test_a_file_with_a_wrong_training_is_refused(written, change, message):
    """A job has families or a training."""
    path, _ = written
    content = json.loads(path.read_text())
    content["jobs"][0] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(DeepbenchError) as refused:
        plans.read(path)
    assert message in str(refused.value)


def test_a_training_needs_a_placement(written):
    """On one node deepbench scaling trains."""
    path, _ = written
    path.write_text(json.dumps({**json.loads(path.read_text()), "placement": None}))
    with pytest.raises(DeepbenchError, match="is a training without nodes: make it again"):
        plans.read(path)
