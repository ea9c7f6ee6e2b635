"""The Slurm that scripts/local_slurm.sh starts: one controller and three nodes on this machine."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "local_slurm.sh"
SITE = Path(__file__).with_name("slurm_site.py")
NODES = ("node1", "node2", "node3")


PROGRAMS = {
    "slurm-wlm munge": ("slurmctld", "slurmd", "munged"),
    "slurmdbd mariadb-server-core mariadb-client-core": (
        *("slurmdbd", "mariadbd", "mariadb-install-db", "my_print_defaults"),
    ),
}
"""Programs by the packages that have them; the last are for accounting."""


def why_not(accounting: bool = False) -> str:
    """Return the reason why no Slurm can be started here; "" where one can be.

    accounting: whether sacct is to answer.
    """
    for packages in [*PROGRAMS][: 1 + accounting]:
        for each in PROGRAMS[packages]:
            if shutil.which(each) is None:
                return f"{each} is missing: apt-get install {packages}"
    return "" if os.getuid() == 0 else "only root may start a Slurm"


class LocalSlurm:
    """A running Slurm, in a folder; accounting: whether sacct answers."""

    def __init__(self, folder: Path, accounting: bool = False) -> None:
        self.folder, self.accounting = folder, accounting
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf")}

    def start(self) -> None:
        """Start it; the test fails where that fails: all programs are here."""
        options = ["--accounting"] if self.accounting else []
        asked = [str(SCRIPT), "start", *options, str(self.folder)]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode:
            self.stop()
            pytest.fail(f"Slurm does not start: {done.stdout}{done.stderr}")

    def stop(self) -> None:
        """End all of its processes."""
        subprocess.run([str(SCRIPT), "stop", str(self.folder)], check=False)

    def ask(self, *command: str) -> str:
        """Return the output of one of Slurm's commands."""
        environ = {**os.environ, **self.variables}
        return subprocess.run(
            command, env=environ, capture_output=True, text=True, check=False
        ).stdout

    def jobs(self, state: str = "running") -> dict[str, str]:
        """Return the node of each job in a state, by the job's number."""
        listed = self.ask("squeue", "--noheader", f"--states={state}", "--format=%i %N")
        return dict(line.split() for line in listed.splitlines() if len(line.split()) == 2)

    def wanted_nodes(self) -> list[str]:
        """Return the nodes that pending jobs ask for by name."""
        return self.ask("squeue", "--noheader", "--states=pending", "--format=%n").split()

    def occupy(self, node: str) -> str:
        """Give a node a job that does nothing; return its number when it runs there."""
        asked = ("--parsable", "--exclusive", f"--nodelist={node}", "--output=/dev/null")
        job = self.ask("sbatch", *asked, "--wrap=sleep 600").strip()
        until = time.monotonic() + 60
        while job not in self.jobs():
            assert time.monotonic() < until, f"{node} does not start a job"
            time.sleep(0.2)
        return job

    def start_node(self, node: str) -> None:
        """Start the slurmd of a node."""
        self.ask("slurmd", "-N", node)

    def lose_slurmd(self, node: str) -> None:
        """Kill the slurmd of a node; its jobs go on."""
        self.kill(self.folder / f"slurmd-{node}.pid")

    def lose_node(self, node: str) -> None:
        """Kill all processes of a node: its slurmd, and the jobs on it."""
        self.lose_slurmd(node)
        self.signal_jobs(node, signal.SIGKILL, steps=True)

    def use_all(self) -> None:
        """Put nodes back into use that Slurm has drained, as after a controller was killed that
        had not stored a job's number: it gives the number again, and the node refuses it."""
        for node in NODES:
            if "DRAIN" in self.ask("scontrol", "show", "node", node):
                self.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")

    @contextmanager
    def out_of_use(self, node: str, state: str = "DOWN") -> Iterator[None]:
        """Set a node to this state meanwhile."""
        self.ask("scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=test")
        try:
            yield
        finally:
            self.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")

    @contextmanager
    def reserved(self, node: str) -> Iterator[None]:
        """Reserve a node meanwhile."""
        name = "ReservationName=upkeep"
        asked = (name, f"Nodes={node}", "StartTime=now", "Duration=60", "Users=root")
        self.ask("scontrol", "create", "reservation", *asked)
        try:
            until = time.monotonic() + 60
            while "RESERVED" not in self.ask("scontrol", "show", "node", node):
                assert time.monotonic() < until, f"{node} is not reserved"
                time.sleep(0.2)
            yield
        finally:
            self.ask("scontrol", "delete", name)

    def signal_jobs(self, node: str, sign: signal.Signals, steps: bool = False) -> None:
        """Send a signal to the processes of all jobs on a node; steps: also to Slurm's own."""
        wanted = f"SLURMD_NODENAME={node}".encode()
        own = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
                name = (process / "comm").read_text().strip()
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue
            step = name == "slurmstepd" and own in variables and node.encode() in command
            if (own in variables and wanted in variables) or (steps and step):
                os.kill(int(process.name), sign)

    def kill(self, file: Path) -> None:
        """Kill the process whose number is in a file."""
        os.kill(int(file.read_text()), signal.SIGKILL)

    def end(self, file: Path) -> None:
        """End the process whose number is in a file, and wait until it has stored its state."""
        process = int(file.read_text())
        os.kill(process, signal.SIGTERM)
        until = time.monotonic() + 60
        while Path(f"/proc/{process}").exists():
            assert time.monotonic() < until, f"process {process} of {file.name} does not end"
            time.sleep(0.1)

    def restart(self, program: str) -> None:
        """Start slurmctld, which reads the state that the last one saved, or slurmdbd."""
        self.ask(program)
