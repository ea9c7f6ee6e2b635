"""`deepbench fleet status`: how far a plan is."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.fleet.plan_file import HOUR, node_hours, path_of, plan_argument, read
from deepbench_ops.commands.options import printed_as, say
from deepbench_ops.commands.output_format import show

if TYPE_CHECKING:
    from deepbench_ops.fleet.plan_progress import PlanProgress

STATES = (
    terminal_tables.Column("machine type"),
    terminal_tables.Column("jobs", right=True),
    terminal_tables.Column("measured", right=True),
    terminal_tables.Column("running", right=True),
    terminal_tables.Column("interrupted", right=True),
    terminal_tables.Column("failed", right=True),
    terminal_tables.Column("left", right=True),
    terminal_tables.Column("node hours left", right=True),
)


@click.command()
@plan_argument
@printed_as("table", "json")
def status(path: Path | None, form: str) -> None:
    """Say how far PLAN is: jobs by state and machine type, and the time left.

    \b
        deepbench fleet status
        deepbench fleet status fleet/plan.json --format json

    The time left is that of the jobs that are left, at the pace of the measured ones and at as many
    at once as are running now.
    """
    from deepbench_ops.fleet import job_folder, left_jobs, plan_progress, reason_lines
    from deepbench_ops.fleet.fleet_run import FOLDER
    from deepbench_ops.fleet.job_folder import FAILED

    path = path_of(path)
    found = read(path)
    by_machine = plan_progress.of(found, path)
    show(form, lambda: _states(by_machine), lambda: _states_document(by_machine))
    folders = list(job_folder.folders(found, path))
    reasons = [
        (folder.name, f"{outcome.reason} [{outcome.node}]")
        for folder in folders
        if folder.state() == FAILED and (outcome := folder.outcome())
    ]
    reasons += [
        (folder.name, f"its times are not merged: {folder.refusal}")
        for folder in folders
        if folder.refusal
    ]
    unknown = ["nodes on which no job has begun are not counted"] if found.every_node else []
    left = left_jobs.of_a_gone_run(path.parent / FOLDER)
    gone = [f"{left_jobs.named(left)}: deepbench fleet run waits for them"] if left else []
    say([*reason_lines.of(reasons), *unknown, *gone, _time_left(list(by_machine.values()))], form)


def _states(by_machine: "dict[str, PlanProgress]") -> str:
    rows = [
        [
            machine,
            str(each.jobs),
            *(str(each.states[column.title]) for column in STATES[2:-1]),
            node_hours(each.left_seconds),
        ]
        for machine, each in by_machine.items()
    ]
    return terminal_tables.table(STATES, rows)


def _states_document(by_machine: "dict[str, PlanProgress]") -> dict[str, object]:
    return {
        machine: {
            **{column.title: each.states[column.title] for column in STATES[2:-1]},
            "not_merged": each.not_merged,
            "node_hours_left": round(each.left_seconds / HOUR, 4),
            "seconds_left": round(each.seconds, 1),
            "seconds_over_expected": round(each.pace, 3),
        }
        for machine, each in by_machine.items()
    }


def _time_left(found: "list[PlanProgress]") -> str:
    from deepbench_ops.asv_adapter.run_progress import duration_text

    left = sum(each.left_seconds for each in found)
    waiting = sum(each.not_merged for each in found)
    if not left and waiting:
        return f"all jobs are measured; deepbench fleet run merges {waiting} of them"
    if not left:
        return "all jobs are measured"
    return f"about {duration_text(max(each.seconds for each in found))} left"
