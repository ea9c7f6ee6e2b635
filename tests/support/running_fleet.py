"""A fleet's project in which `deepbench fleet run` gives jobs to a real scheduler or to ssh."""

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import command
import fleet_project

from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet.fleet_plan import Job
from deepbench_ops.problems.selections import operations
from deepbench_ops.storage import measurement_files

FAMILIES = ("topk", "softmax", "rms_norm")
WAIT_SECONDS = 240.0


class Fleet:
    """A project with a plan for a site, and `deepbench fleet run` in it.

    site: the fields `system` and `config` of the plan. variables: of the environment. inside: makes
    of a command the one that runs it on the host of the user.
    """

    def __init__(
        self,
        root: Path,
        site: Mapping[str, str],
        variables: Mapping[str, str],
        release: str = fleet_project.RELEASE,
        machine: str = fleet_project.MACHINE,
        inside: Callable[..., list[str]] = lambda *command: [*command],
    ) -> None:
        self.root, self._inside = root, inside
        self.site, self.program = {**site}, (*command.COMMAND,)
        self.path = fleet_project.make(root, release, machine)
        self.environ = {**fleet_project.environ(root), **variables}

    def plan(self, *shards: tuple[str, ...], **more: object) -> None:
        """Write a plan of jobs with these families."""
        self.write(
            [fleet_project.job(n, families=each) for n, each in enumerate(shards, 1)], **more
        )

    def write(self, jobs: list[Job], **more: object) -> None:
        """Write a plan of these jobs."""
        fleet_project.write(self.path, fleet_project.plan(*jobs, **self.site, **more))

    def start(self, *more: str) -> "subprocess.Popen[str]":
        """Start `deepbench fleet run`."""
        options = [str(self.path), "--", *more] if more else []
        return subprocess.Popen(
            self._inside(*self.program, "fleet", "run", *options),
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *more: str) -> tuple[int, str]:
        """Run it to its end; return its status and output."""
        return ended(self.start(*more))

    def finish(self, run: "subprocess.Popen[str]") -> tuple[int, str]:
        """Wait for a run, and run the jobs that it leaves once more; return status and output."""
        status, said = ended(run)
        return self.run() if status else (status, said)

    def wait(self, what: Callable[[], object]) -> None:
        """Return when something is true. Fails where it does not become so."""
        until = time.monotonic() + WAIT_SECONDS
        while not what():
            assert time.monotonic() < until, "it did not happen"
            time.sleep(0.2)

    def wait_for_points(self, number: int = 1) -> None:
        """Return when so many jobs have measured a point."""
        self.wait(lambda: len(self.journals()) >= number)

    def journals(self) -> list[Path]:
        """The journals of unfinished jobs."""
        return [
            path
            for path in self.path.parent.glob("jobs/**/unfinished/*.jsonl")
            if path.stat().st_size
        ]

    def states(self) -> Counter[str]:
        """How many jobs are in each state."""
        plan = plans.read(self.path)
        return Counter(each.state() for each in job_folder.folders(plan, self.path))

    def demand_all_once(
        self,
        families: tuple[str, ...],
        jobs: int,
        machine: str = fleet_project.MACHINE,
    ) -> None:
        """Every kernel of the plan is in the results, with the records of its two processes."""
        plan = plans.read(self.path)
        found: Counter[tuple[str, str]] = Counter()
        for path in measurement_files.paths(self.root / "results" / machine):
            for each in measurement_files.load(path)[1]:
                found[each["benchmark"], each["params"][0]] += 1
        assert {"measured": jobs} == dict(self.states())
        problems = {(f, each.problem) for f in families for each in plan.selected(f)}
        there = {(*name.split(".kernel_"), problem) for name, problem in found}
        assert {(f, each.id) for f, each in problems} == {
            (prefix.partition(".")[0], problem) for prefix, _, problem in there
        }
        # numpy has no backward passes, so of each problem its first pass is demanded.
        assert {(operations(each)[0], each.id) for _, each in problems} <= {
            (operation, problem) for _, operation, problem in there
        }
        assert {2} == set(found.values())


def ended(run: "subprocess.Popen[str]") -> tuple[int, str]:
    """The status and output of a command when it has ended."""
    said, _ = run.communicate(timeout=600)
    assert "Traceback" not in said, said
    return run.returncode, said
