"""`deepbench release`: the table of releases, new rows for it, and the disk that they take."""

import datetime
import shutil
from pathlib import Path

import click

from deepbench_ops import project
from deepbench_ops.commands import tables
from deepbench_ops.commands.options import wide_tables
from deepbench_ops.errors import DeepbenchError

COLUMNS = (
    tables.Column("release"),
    tables.Column("date"),
    tables.Column("installed with it", wrap=20),
    tables.Column("MiB on disk", right=True),
)


@click.group()
def release() -> None:
    """List, add and clean up releases: the x-axis of every graph.

    \b
        deepbench release list --framework numpy
    """


@release.command("list")
@click.option("--framework", metavar="F", help="Only this framework.")
@click.option("--installed", is_flag=True, help="Only those whose environment is on disk.")
@wide_tables
def list_(framework: str | None, installed: bool) -> None:
    """List the releases with their companions and the disk they take.

    \b
        deepbench release list --framework numpy

    Companions are the packages that a release is measured with. The disk is that of the
    environments in this project folder.
    """
    from deepbench_ops.problems.suggestions import unknown
    from deepbench_ops.releases import results_table, table

    folder = project.environments()
    releases = table.measurable(results_table.of_project())
    known = list(dict.fromkeys(one.framework for one in releases))
    if framework is not None and framework not in known:
        raise unknown("framework", framework, known)
    lines = []
    total = 0
    for one in releases:
        size = disk_use(folder / one.name)
        if (framework and one.framework != framework) or (installed and not size):
            continue
        total += size
        shown = f"{size / 2**20:.0f}" if size else ""
        lines.append([one.name, one.date, " ".join(one.pins), shown])
    if not lines:
        raise DeepbenchError(f"no release{f' of {framework}' if framework else ''} is in {folder}")
    click.echo(tables.table(COLUMNS, lines))
    click.echo(f"{len(lines)} releases, {total / 2**30:.1f} GiB of environments")


@release.command()
@click.argument("requirement", metavar="FRAMEWORK==VERSION")
@click.option(
    "--wheel",
    type=click.Path(path_type=Path),
    help="A wheel on disk: a nightly, or a build of your own.",
)
@click.option("--source", metavar="URL", help="Build it from a VCS address or a source folder.")
@click.option("--index", metavar="URL", default="", help="A further package index that has it.")
@click.option("--pins", metavar="PINS", help='Packages to install with it, such as "numpy==2.4.6".')
@click.option(
    "--date", "day", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="When it came out."
)
def add(
    requirement: str,
    wheel: Path | None,
    source: str | None,
    index: str,
    pins: str | None,
    day: datetime.datetime | None,
) -> None:
    """Add a release, a nightly or a build of your own to its framework's line.

    \b
        deepbench release add onnxruntime==1.23.2
        deepbench release add torch==2.15.0.dev20261101 --wheel ./torch-2.15.0.dev20261101-...whl
        deepbench release add jax==0.11.0.dev1 --index https://... --date 2026-11-01

    The companions are the packages that were out on the release's day, unless --pins names others.
    What pip cannot install together is refused, and nothing is written. The row is in the project
    folder's release table, which `repo` in asv.conf.json names.
    """
    from deepbench_ops.releases import adding, results_table, table

    path = results_table.of_project()
    framework, version = adding.requested(requirement)
    given = tuple(pins.split()) if pins is not None else None
    for pin in given or ():
        table.demand_exact("--pins", pin)
    if index:
        table.demand_url("--index", index)
    if sum(map(bool, (wheel, source, index))) > 1:
        raise click.UsageError("give one of --wheel, --source and --index: where it comes from")
    date = day.date() if day else None
    if source is not None:
        wheel = adding.built(source, project.wheels(), framework)
    if wheel is not None:
        row = adding.from_wheel(framework, version, wheel, given, date, path)
    else:
        row = adding.listed(framework, version, given, date, index)
    adding.add(row, path)
    click.echo(f"added {row.name} ({row.date}); measure it with: asv run {row.name}^!")


@release.command()
@click.argument("names", metavar="[RELEASE]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="The environments of all releases.")
def clean(names: tuple[str, ...], everything: bool) -> None:
    """Remove the environments of releases; their results stay.

    \b
        deepbench release clean numpy-1.26.4

    The next "asv run" of a release makes its environment again.
    """
    from deepbench_ops.releases import install, results_table, table

    folder = project.environments()
    if everything == bool(names):
        raise DeepbenchError("name the releases whose environments to remove, or give --all")
    listed = table.measurable(results_table.of_project())
    chosen = listed if everything else [table.find(name, listed) for name in names]
    if not any((folder / one.name).exists() for one in chosen):
        raise DeepbenchError(
            f"no environment of {', '.join(names) or 'any release'} is in {folder}"
        )
    freed = 0
    for one in chosen:
        (folder / f"{one.name}.log").unlink(missing_ok=True)
        if (folder / one.name).exists():
            with install.alone(folder, one.name):
                freed += disk_use(folder / one.name)
                shutil.rmtree(folder / one.name, ignore_errors=True)
    click.echo(f"{freed / 2**30:.1f} GiB freed in {folder}")


def disk_use(folder: Path) -> int:
    """Return the bytes of all files in a folder, 0 where there is none."""
    files = (path for path in folder.rglob("*") if not path.is_symlink() and path.is_file())
    return sum(path.stat().st_blocks * 512 for path in files)
