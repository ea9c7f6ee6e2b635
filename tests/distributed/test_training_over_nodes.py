"""Trainings over the nodes of a placement: real ranks on this machine, and the refused ones."""

import pytest
from installed_frameworks import needed
from processes import eventually_gone

from deepbench_ops.distributed.launchers import launcher_commands
from deepbench_ops.distributed.launchers.rank_placement import LOOPBACK, RankPlacement
from deepbench_ops.distributed.training import training_launch, training_over_nodes
from deepbench_ops.distributed.training.training_request import TrainingRequest
from deepbench_ops.errors import DeepbenchError, Unsupported

TINY = TrainingRequest("wide_deep", 16, seconds=0.01, whole=False)
LAUNCHERS = {"torchrun": ("torch",), "mpirun": ("torch", "mpirun")}


@pytest.fixture(scope="module")
def losses():
    """The losses of two ranks that are started without a launcher."""
    needed("torch")
    return training_launch.steps(TINY, 2)["losses"]


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ranks_of_a_launcher_train_as_those_of_one_machine_do(losses, launcher, mark):
    """With the same losses before and after the first step; none is left."""
    needed(*LAUNCHERS[launcher])
    found = training_over_nodes.steps(TINY, RankPlacement(2, 1, launcher, LOOPBACK))
    assert losses == pytest.approx(found["losses"])
    assert 3 <= len(found["seconds"])
    assert eventually_gone(mark)


@pytest.mark.slow
def test_ranks_that_are_on_fewer_nodes_are_refused(mark):
    """In one line, by the ranks themselves, before they train."""
    needed(*LAUNCHERS["mpirun"])
    with pytest.raises(DeepbenchError, match=r"failed: the 2 ranks run on .*, and not on 2 nodes"):
        training_over_nodes.steps(TINY, RankPlacement(2, 1, "mpirun", "hdr200"))
    assert eventually_gone(mark)


def test_ranks_share_the_processors_of_their_node(monkeypatch):
    """Those of a trial on the loopback interface are all on one; srun's are not."""
    monkeypatch.setenv("DEEPBENCH_THREADS", "8")
    found = [
        training_over_nodes.threads_of_rank("cpu", RankPlacement(2, 2, launcher, LOOPBACK))
        for launcher in ("srun", "torchrun")
    ]
    assert [4, 2] == found
    with pytest.raises(DeepbenchError, match="16 ranks on 8 threads of a node would wait"):
        training_over_nodes.threads_of_rank("cpu", RankPlacement(2, 16, "srun", "eth"))
    assert 1 == training_over_nodes.threads_of_rank("cuda", RankPlacement(2, 16, "srun", "eth"))


def test_a_launcher_that_is_missing_is_named(monkeypatch):
    """Before any rank starts."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unsupported, match="srun is not installed here"):
        training_over_nodes.runs(TINY, RankPlacement(2, 1, "srun", "eth"))


def test_srun_binds_no_rank_that_has_several_threads():
    """A rank bound to one core would run all of its threads there."""
    placement = RankPlacement(2, 1, "srun", "eth")
    bound, free = (
        launcher_commands.commands(placement, ["program"], {}, binding)[0]
        for binding in (True, False)
    )
    assert ["--cpu-bind=none"] == [word for word in free if word not in bound]
