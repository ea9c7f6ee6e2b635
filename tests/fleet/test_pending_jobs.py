"""Pending jobs of Slurm that will never start, by the answers of stand-ins for its commands."""

import os
from pathlib import Path

import pytest

from deepbench_ops.fleet import pending_jobs, slurm_nodes
from deepbench_ops.fleet.pending_jobs import PendingJob, PendingJobs

NODES = {
    "busy": "allocated",
    "mixed": "mixed*",
    "draining": "draining",
    "asleep": "idle~",
    "restarting": "drained@",
    "silent": "idle*",
    "down": "down*",
    "drained": "drained",
    "failing": "fail",
    "odd": "inval",
}
"""Nodes with their states in sinfo's words."""

REFUSE_BOTH = 'case "$*" in *--partition=*) false;; esac'
"""Slurm's sinfo refuses --partition next to --all."""

NEVER = ("down", "drained", "failing", "odd")


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the answers of squeue and sinfo, also on hidden partitions, where scancel notes
    its arguments."""
    for name in ("squeue", "sinfo"):
        answer = f'[ "$1" = --all ] && {REFUSE_BOTH} && exec cat {tmp_path}/{name}.txt'
        program = f"#!/bin/sh\n{answer}\n"
        (tmp_path / name).write_text(program)
    (tmp_path / "scancel").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/cancelled.txt\n')
    (tmp_path / "scontrol").write_text("#!/bin/sh\nprintf 'busy\\ndown\\n'\n")
    for name in ("squeue", "sinfo", "scancel", "scontrol"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    rows = [f"{name}|cpu|{state}|bad disk" for name, state in NODES.items()]
    (tmp_path / "sinfo.txt").write_text("\n".join([*rows, "fast|gpu|idle|none"]) + "\n")
    return tmp_path


def look(slurm: Path, *rows: str, jobs: PendingJobs | None = None) -> tuple[list[str], list[str]]:
    """The lines of a look at a queue with these rows, and the numbers of the cancelled jobs.

    jobs: the object that looks, with an empty list of lines, if it has looked before.
    """
    (slurm / "squeue.txt").write_text("".join(f"{row}\n" for row in rows))
    said: list[str] = []
    jobs = jobs or PendingJobs(slurm, said.append)
    jobs.say = said.append
    jobs.look()
    note = slurm / "cancelled.txt"
    asked = note.read_text().splitlines() if note.exists() else []
    cancelled = [line.removeprefix("--state=PENDING ") for line in asked]
    assert set(cancelled) == jobs.cancelled
    return said, cancelled


@pytest.mark.parametrize("node", NODES)
def test_a_job_for_a_node_is_cancelled_if_that_does_not_come_back_by_itself(
    slurm: Path, node: str
) -> None:
    """The line names the node, its state and the reason of it."""
    said, cancelled = look(slurm, f"7|1|{node}|cpu|ReqNodeNotAvail, UnavailableNodes:x|{slurm}/a")
    if node not in NEVER:
        assert ([], []) == (said, cancelled)
        return
    state = NODES[node].rstrip("*")
    (line,) = said
    assert line.startswith(f"{node} of cpu is {state} (bad disk): left out; ")
    assert ["7"] == cancelled


def test_all_nodes_of_a_list_are_looked_at(slurm: Path) -> None:
    """In Slurm's short form of a list."""
    said, _ = look(slurm, f"7|2|node[1-2]|cpu|Resources|{slurm}/a")
    assert 1 == len(said) and said[0].startswith("down of cpu is down")


@pytest.mark.parametrize(
    ("nodes", "partition", "cancelled"),
    [
        (6, "cpu", False),
        (7, "cpu", True),
        (1, "gpu", False),
        (2, "gpu", True),
        (7, "cpu,gpu", False),
    ],
)
def test_a_job_for_more_nodes_than_can_be_used_is_cancelled(
    slurm: Path, nodes: int, partition: str, cancelled: bool
) -> None:
    """Whichever nodes of its partitions they are."""
    said, _ = look(slurm, f"7|{nodes}||{partition}|Resources|{slurm}/a")
    assert cancelled == bool(said)
    if cancelled:
        assert f"a job needs {nodes} nodes, and {partition} has {nodes - 1} that can" in said[0]


def test_a_job_for_more_processors_than_its_nodes_have_is_cancelled(
    slurm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at once: Slurm first gives this reason to jobs that break another limit too."""
    clock = [0.0]
    monkeypatch.setattr(pending_jobs.time, "monotonic", lambda: clock[0])
    jobs = PendingJobs(slurm, print)
    row = f"7|6||cpu|PartitionConfig|{slurm}/a"
    for seconds in (0, 80):
        clock[0] = seconds
        assert ([], []) == look(slurm, row, jobs=jobs)
    clock[0] = 91
    assert ([], []) == look(slurm, row.replace("PartitionConfig", "Resources"), jobs=jobs)
    clock[0] = 102
    assert ([], []) == look(slurm, row, jobs=jobs)
    clock[0] = 102 + pending_jobs.SETTLED_SECONDS
    (line,), cancelled = look(slurm, row, jobs=jobs)
    assert ["7"] == cancelled
    assert line.endswith("too few processors: plan fewer --ranks-per-node")


def test_nodes_out_of_use_are_a_reason_at_once(slurm: Path) -> None:
    """Whatever Slurm says about the job."""
    (line,), cancelled = look(slurm, f"7|7||cpu|PartitionConfig|{slurm}/a")
    assert ["7"] == cancelled
    assert line.startswith("a job needs 7 nodes, and cpu has 6 that can be used")


def test_all_nodes_that_are_left_out_have_a_line(slurm: Path) -> None:
    """Also reserved ones when Slurm marks them; unless options choose among the nodes."""
    nodes = {"busy": "ALLOCATED+RESERVED", "mixed": "MIXED", "down": "DOWN+RESERVED"}
    reservation = f"ReservationName=upkeep Nodes={','.join(nodes)} State=ACTIVE"
    rows = [f"NodeName={name} State={state}" for name, state in nodes.items()]
    program = f"""#!/bin/sh
if [ $4 = reservations ]; then echo '{reservation}'; else printf '{"%b".join(rows)}'; fi
"""
    (slurm / "scontrol").write_text(program.replace("%b", chr(92) + "n"))
    found = slurm_nodes.all_left_out("cpu", ["--partition=cpu", "--exclusive"])
    assert {"busy", *NEVER} == set(found)
    wanted = "busy of cpu is in the reservation upkeep: left out; give the same command again"
    assert found["busy"].startswith(wanted)
    assert "down of cpu is down (bad disk): left out" in found["down"]
    for option in ("-C fast", "--constraint=fast", "--nodelist=n1", "--reservation=x", "-w n1"):
        assert {} == slurm_nodes.all_left_out("cpu", ["--partition=cpu", option])


@pytest.mark.parametrize("reason", ["Priority", "Resources", *pending_jobs.FORBIDDEN])
def test_a_job_that_a_limit_forbids_is_cancelled_with_the_mend(slurm: Path, reason: str) -> None:
    """One that waits for its turn is not."""
    said, cancelled = look(slurm, f"7|1||cpu|{reason}|{slurm}/a")
    assert (["7"] if reason in pending_jobs.FORBIDDEN else []) == cancelled
    for line in said:
        assert line.endswith(f"({reason}): {pending_jobs.FORBIDDEN[reason]}")


@pytest.mark.parametrize("reason", ["JobHeldUser", "JobHeldAdmin", "job requeued in held state"])
def test_a_job_that_is_held_is_named_with_the_mend(slurm: Path, reason: str) -> None:
    """It starts when it is released; a run that says nothing would seem to hang."""
    (line,), cancelled = look(slurm, f"7|1|down|cpu|{reason}|{slurm}/a")
    assert [] == cancelled
    assert line.startswith(f"job 7 is held ({reason}): let it start with scontrol release 7")


def test_jobs_of_other_folders_are_left_alone(slurm: Path) -> None:
    """Also of one whose name begins alike."""
    rows = [f"7|1|down|cpu|Priority|{place}" for place in ("/elsewhere", f"{slurm}-2/a")]
    assert ([], []) == look(slurm, "CLUSTER: lab", *rows)


def test_a_slurm_that_does_not_answer_costs_no_job(slurm: Path) -> None:
    """Nor does an sinfo that lists nothing."""
    job = PendingJob("7", 1, "", "cpu", "Priority")
    assert "" == pending_jobs.why_never(job, {}, True)
    (slurm / "sinfo").write_text("#!/bin/sh\nexit 1\n")
    assert ([], []) == look(slurm, f"7|1|down|cpu|Priority|{slurm}/a")
    (slurm / "squeue").unlink()
    (slurm / "squeue").symlink_to("/missing")
    assert ([], []) == look(slurm)
