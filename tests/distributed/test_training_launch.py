"""Ranks of a training on one machine: no socket of theirs can be reached from outside."""

import os
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from installed_frameworks import needed
from listening_sockets import listening_sockets, processes_below
from processes import eventually_gone

from deepbench_ops.commands.scaling import scaling
from deepbench_ops.distributed.training.training_request import (
    FEWEST_STEPS,
    MOST_STEPS,
    TrainingRequest,
)
from deepbench_ops.errors import DeepbenchError

TINY = TrainingRequest("wide_deep", 16, seconds=0.01, whole=False)
LONG_ENOUGH_TO_BE_SEEN = TrainingRequest("wide_deep", 16, seconds=1.0, whole=False)


@pytest.fixture
def seen():
    """The addresses of sockets at which this process and those below it have begun to listen."""
    if not Path("/proc/net/tcp").exists():
        pytest.skip("this system does not list its sockets in /proc")
    found, over = set(), threading.Event()
    before = listening_sockets(processes_below(os.getpid())).keys()

    def look():
        while not over.wait(0.02):
            now = listening_sockets(processes_below(os.getpid()))
            found.update(address for inode, address in now.items() if inode not in before)

    looking = threading.Thread(target=look)
    looking.start()
    yield found
    over.set()
    looking.join()


def test_a_socket_on_all_interfaces_is_seen(seen):
    """The test below would notice it."""
    with socket.create_server(("0.0.0.0", 0)):
        time.sleep(0.5)
    assert "0.0.0.0" in seen


def test_a_socket_next_to_one_of_an_earlier_test_is_seen(request):
    """Servers of other tests of this process may still listen at the same address."""
    with socket.create_server(("127.0.0.1", 0)):
        seen = request.getfixturevalue("seen")
        with socket.create_server(("127.0.0.1", 0)):
            time.sleep(0.5)
    assert {"127.0.0.1"} == seen


@pytest.mark.slow
def test_ranks_of_one_machine_listen_on_loopback_alone(seen):
    """They listen, since gloo connects them, and no one else can reach them."""
    needed("torch")
    from deepbench_ops.distributed.training import training_launch

    found = training_launch.steps(LONG_ENOUGH_TO_BE_SEEN, 2)
    assert 3 <= len(found["seconds"])
    assert {"127.0.0.1"} == seen


def test_a_rank_that_fails_ends_the_others_with_its_reason(monkeypatch, mark):
    """One line, and no rank is left."""
    needed("torch")
    from deepbench_ops.distributed.training import training_launch

    monkeypatch.setattr(TrainingRequest, "text", lambda self: "{}")
    with pytest.raises(DeepbenchError, match=r"2 ranks of wide_deep failed: .\{\}. is no request"):
        training_launch.steps(TINY, 2)
    assert eventually_gone(mark)


def test_a_training_may_take_as_long_as_it_is_asked_to():
    """And the time of its start and its check."""
    assert 3600 < replace(TINY, seconds=3600.0).limit < 5400


def test_the_help_names_the_fewest_and_the_most_steps():
    (seconds,) = [each for each in scaling.params if each.name == "seconds"]
    assert f"{FEWEST_STEPS} steps at least, and {MOST_STEPS} at most" in seconds.help


def test_ranks_that_take_too_long_are_ended(mark):
    """None is left."""
    needed("torch")
    from deepbench_ops.distributed.training import training_launch

    mend = "give a smaller batch, or fewer seconds"
    with pytest.raises(DeepbenchError, match=rf"took longer than 0\.2 s: {mend}$"):
        training_launch.steps(TINY, 2, limit=0.2)
    assert eventually_gone(mark)
