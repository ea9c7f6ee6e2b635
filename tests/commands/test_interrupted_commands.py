"""Commands that end early: each names the kept work in one line, and leaves no traceback."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import processes
import pytest
import simulated_rounds
from command import deepbench
from full_disk import fill, mounted
from history_project import HistoryProject

from deepbench_ops.analysis import change_confirmation
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.measure import ensemble_sweeps
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import worker_launch
from deepbench_ops.storage import json_lines

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
KERNEL = "m3072_n1_k128_NN"
MACHINE, RESULTS = "epyc-7003-2core", str(ROOT / "results")
SLOW = [[1.2 + 0.001 * number] * 20 for number in range(5)]


@pytest.fixture
def interrupted(monkeypatch):
    """Raises Ctrl-C after some comparisons, all of them with the later release slower."""

    def after(comparisons):
        left = [SLOW] * comparisons

        def run_rounds(launches, tasks, rounds, **_):
            if not left:
                raise KeyboardInterrupt
            taken = [simulated_rounds.of_ratios(*launches, ratios) for ratios in left.pop()]
            return dict.fromkeys(tasks, taken)

        monkeypatch.setattr(worker_launch, "launch", lambda release, *_: Launch(release.name))
        monkeypatch.setattr(ensemble_sweeps, "run_rounds", run_rounds)

    return after


def test_noise_says_that_nothing_is_kept(interrupted):
    """`deepbench noise` begins again."""
    interrupted(0)
    status, out, err = deepbench("noise", "--problem", KERNEL)
    assert (130, "") == (status, out)
    assert err.endswith("deepbench: interrupted: nothing is kept, the same command begins again\n")


@pytest.mark.parametrize(
    ("comparisons", "kept"),
    [
        (0, "nothing is settled, the same command begins again"),
        (1, f"deepbench bisect {KERNEL} numpy-1.24.4..numpy-2.4.6 goes on from there"),
        (2, f"deepbench bisect {KERNEL} numpy-1.24.4..numpy-2.2.1 goes on from there"),
    ],
)
def test_bisect_says_where_it_goes_on(interrupted, comparisons, kept):
    """The message names the span that the comparisons so far have settled."""
    interrupted(comparisons)
    status, out, err = deepbench("bisect", KERNEL, "numpy-1.24.4..numpy-2.4.6")
    assert (130, "") == (status, out)
    (line,) = [line for line in err.splitlines() if line.startswith("deepbench: interrupted: ")]
    assert line.endswith(kept)


def test_confirm_says_that_rounds_are_kept(monkeypatch):
    """`verdict --confirm` goes on from the rounds that are done."""

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(change_confirmation, "confirm", stopped)
    monkeypatch.setattr(machine_entry, "default_name", lambda: "epyc-9005-2core")
    status, _, err = deepbench("verdict", "--machine", "epyc-9005-2core", "--confirm")
    assert 130 == status
    assert "interrupted: finished rounds are kept for a day, the same command goes on" in err


def test_an_interruption_after_the_work_changes_nothing():
    """It comes while Python ends; the command has answered, and ends with its own status."""
    interruption = "import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
    program = f"{interruption}\nfrom deepbench_ops import cli\ncli.main()"
    command = [sys.executable, "-c", program, "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)


def test_live_workers_hear_no_interruption():
    """Ctrl-C in a terminal reaches the process that asks alone: no worker prints a traceback."""
    environ = {**os.environ, "DEEPBENCH_THREADS": "1", "DEEPBENCH_FRAMEWORK": "numpy"}
    with subprocess.Popen(
        [sys.executable, "-c", processes.PAIR],
        env=environ,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as asks:
        assert "ready\n" == asks.stdout.readline()
        os.killpg(asks.pid, signal.SIGINT)
        _, said = asks.communicate(timeout=20)
    assert 1 == said.count("Traceback")
    assert 1 == said.count("KeyboardInterrupt")


MEASURING = {
    "noise": ("noise", "numpy-2.2.6", "--problem", KERNEL, "--rounds", "100"),
    "bisect": ("bisect", KERNEL, "numpy-2.2.4..numpy-2.3.0", "--rounds", "100"),
    "verdict --confirm": ("verdict", "--machine", MACHINE, "--results", RESULTS, "--confirm"),
}
KEPT = {
    "noise": "nothing is kept, the same command begins again",
    "bisect": "nothing is settled, the same command begins again",
    "verdict --confirm": "finished rounds are kept for a day, the same command goes on from them",
}


@pytest.fixture
def project(tmp_path):
    """A project folder; no process of it may be left."""
    made = HistoryProject(tmp_path)
    yield made
    assert processes.eventually_gone(made.mark)


@pytest.mark.parametrize("name", MEASURING)
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_measurement_that_is_ended_leaves_one_line_and_no_process(project, name, by):
    """Ctrl-C as a terminal sends it, and kills, while two workers run."""
    with project.start(*MEASURING[name], AS_MACHINE=MACHINE, SLICE="0.002") as measuring:
        while len(processes.marked_pids(project.mark)) < 3 and measuring.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
        os.killpg(measuring.pid, by)
        out, err = measuring.communicate(timeout=60)
    if by != signal.SIGINT:
        assert (-by, "") == (measuring.returncode, out)
        assert "Traceback" not in err
        return
    assert (130, "") == (measuring.returncode, out)
    assert f"deepbench: interrupted: {KEPT[name]}" == err.splitlines()[-1]
    assert "Traceback" not in err


def test_a_confirmation_goes_on_from_its_rounds(project):
    """After a kill those that are done are not measured again."""
    asked, journals = MEASURING["verdict --confirm"], project.root / ".asv" / "confirm"
    with project.start(*asked, AS_MACHINE=MACHINE, SLICE="0.002") as measuring:
        while len(rounds_in(journals)) < 3 and measuring.poll() is None:
            time.sleep(0.01)
        measuring.kill()
        measuring.communicate()
    kept = rounds_in(journals)
    assert len(kept) >= 3
    with project.start(*asked, AS_MACHINE=MACHINE, SLICE="0.002") as measuring:
        while len(rounds_in(journals)) < len(kept) + 1 and measuring.poll() is None:
            time.sleep(0.01)
        measuring.kill()
        measuring.communicate()
    assert kept == rounds_in(journals)[: len(kept)]
    counts = Counter(rounds_in(journals))
    assert {1} == {*counts.values()}


def test_a_full_disk_during_a_confirmation_is_one_line(project):
    """It names the file and the kept rounds."""
    folder = project.root / ".asv"
    with mounted(folder):
        asked = MEASURING["verdict --confirm"]
        with project.start(*asked, AS_MACHINE=MACHINE, SLICE="0.002") as measuring:
            while not rounds_in(folder / "confirm") and measuring.poll() is None:
                time.sleep(0.01)
            fill(folder / "filler")
            out, err = measuring.communicate(timeout=120)
    assert (2, "") == (measuring.returncode, out)
    line = err.splitlines()[-1]
    assert line.startswith(f"deepbench: error: {Path('.asv', 'confirm')}")
    assert line.endswith(f"No space left on device; {KEPT['verdict --confirm']}")


def rounds_in(folder):
    """The kernels and rounds of all journals of a folder, in order."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in json_lines.read(path)]
    return [
        (line["problem"], line["operation"], line["round"]) for line in lines if "round" in line
    ]
