"""`deepbench allreduce`: the table, and one line for each mistake."""

import signal
import subprocess
import time
import uuid
from functools import partial

import pytest
from command import COMMAND, deepbench
from processes import MARK, eventually_gone, marked_pids

from deepbench_ops.distributed import collective_options
from deepbench_ops.errors import DeepbenchError

pytest.importorskip("click", reason="the command needs the `track` extra")


def allreduce(*arguments):
    """Run the command; (exit status, stdout, stderr)."""
    return deepbench("allreduce", *arguments)


def test_a_table_comes_out():
    """Sizes of one's own and published ones are timed in the order given: published first."""
    pytest.importorskip("torch")
    status, out, err = allreduce(
        "--ranks", "2", "--elements", "500", "--problem", "n100000", "--repeats", "3"
    )
    assert (0, "") == (status, err)
    title, header, *lines = out.splitlines()
    assert title.startswith("# all-reduce, sum of float32, 2 ranks over gloo (torch")
    assert "bus GB/s" in header
    assert [["n100000", "400000", "2", "3"], ["n500", "2000", "2", "3"]] == [
        line.split()[:4] for line in lines
    ]


def test_one_gpu_may_be_alone():
    """nccl's single rank shows launches and copies; other transports need a second process."""
    assert 1 == collective_options.ranks("1", "nccl")
    with pytest.raises(DeepbenchError, match="--ranks is 1: from 2"):
        collective_options.ranks("1", "gloo")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--ranks is missing"),
        (["--ranks", "0"], "--ranks is 0: from 2 "),
        (["--ranks", "1"], "--ranks is 1: from 2 (one alone has no other to exchange with) to 32"),
        (["--ranks", "-3"], "--ranks is -3"),
        (["--ranks", "33"], "--ranks is 33: from 2 "),
        (["--ranks", "many"], "--ranks is 'many': give a whole number"),
        (["--ranks", "2", "--elements", "0"], "--elements is 0: give a whole number from 1 up"),
        (["--ranks", "2", "--elements", "-5"], "--elements is -5"),
        (["--ranks", "2", "--elements", "1e6"], "--elements is '1e6'"),
        (["--ranks", "2", "--repeats", "0"], "--repeats is 0"),
        (["--ranks", "2", "--timeout", "0"], "--timeout is '0'"),
        (["--ranks", "2", "--timeout", "nan"], "--timeout is 'nan'"),
        (["--ranks", "2", "--problem", "n5"], "unknown all_reduce problem 'n5'"),
        (["--ranks", "2", "--transport", "glou"], "unknown transport 'glou'"),
        (["--ranks", "2", "--algorithm", "star"], "unknown gloo algorithm 'star'"),
        (["--ranks", "2", "--elements", str(10**13)], "2 ranks of 10000000000000 elements need"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    """A mistake exits 2 with one line on stderr that names the option and its values."""
    if "--elements" in arguments and str(10**13) in arguments:
        pytest.importorskip("torch")
    status, out, err = allreduce(*arguments)
    assert (2, 1) == (status, len(err.splitlines()))
    assert err.startswith(f"deepbench: error: {message}")
    assert [] == [line for line in out.splitlines() if line.startswith("n")]


def test_under_a_launcher_the_other_program_is_named(monkeypatch):
    """Started by torchrun, the command would start groups within ranks: it says what to start."""
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    status, _, err = allreduce("--ranks", "2")
    assert 2 == status
    assert "start python -m deepbench_ops.distributed with it" in err


def test_an_interactive_shell_of_slurm_is_no_launcher(monkeypatch):
    """It is a step with one rank; fewer than four slices have no noise."""
    pytest.importorskip("torch")
    monkeypatch.setenv("SLURM_PROCID", "0")
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "1")
    status, out, err = allreduce("--ranks", "2", "--elements", "500", "--repeats", "3")
    assert (0, "") == (status, err)
    assert "unknown" in out.splitlines()[-1]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_command_leaves_no_process(how, monkeypatch):
    """However the command ends, its ranks end with it."""
    pytest.importorskip("torch")
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    running = subprocess.Popen(
        [*COMMAND, "allreduce", "--ranks", "2", "--elements", "300000", "--repeats", "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, a shell has made them ignore it.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    try:
        for line in running.stdout:
            if line.startswith("problem"):
                break
        time.sleep(1)
        assert len(marked_pids(mark)) > 2
        running.send_signal(how)
        running.communicate(timeout=30)
    finally:
        running.kill()
    assert 0 != running.returncode
    assert eventually_gone(mark)
