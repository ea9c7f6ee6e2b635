"""`deepbench init`: a project folder, where the other commands find and keep everything."""

from pathlib import Path

import click

from deepbench_ops import new_project
from deepbench_ops.commands.options import SELECTED


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--history",
    metavar="[FROM]",
    is_flag=False,
    flag_value=new_project.PUBLISHED,
    help="Begin with results: the published ones, or those FROM a project folder, its results/, or "
    "an archive (zip, tar) of either.",
)
@click.option("--workflow", is_flag=True, help="Add a scheduled workflow that measures releases.")
def init(folder: Path, history: str | None, workflow: bool) -> None:
    """Make FOLDER a project folder, with configuration and release table.

    \b
        deepbench init speed
        deepbench init speed --history              with DeepBench's published machines
        deepbench init speed --history ../deepbench.zip

    It gets asv.conf.json, a release table, benchmarks/ and results/. FOLDER is made where it is
    missing; otherwise it must be empty but for .git. Every other command works in it and below it.
    """
    new_project.make(folder, history, workflow)
    machines = len(list(folder.glob("results/*/machine.json")))
    began = f", with results of {machines} machines" if machines else ""
    click.echo(f"{folder.resolve()} is a project folder{began}. Next, in it:")
    for line in ("deepbench machine --yes", SELECTED, "asv publish"):
        click.echo(f"  {line}")
