"""`deepbench release`: the table of releases, new rows for it, and the disk that they take."""

import datetime
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from packaging.version import Version

from deepbench_ops import damage_reports, project
from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import Day, measure_alone, printed_as, wide_tables
from deepbench_ops.commands.output_format import show
from deepbench_ops.errors import DeepbenchError, NoAnswer

if TYPE_CHECKING:
    from deepbench_ops.releases.new_releases import Update
    from deepbench_ops.releases.package_index import Index

COLUMNS = (
    terminal_tables.Column("release"),
    terminal_tables.Column("date"),
    terminal_tables.Column("installed with it", wrap=20),
    terminal_tables.Column("MiB on disk", right=True),
)

UPDATES = (
    terminal_tables.Column("release"),
    terminal_tables.Column("date"),
    terminal_tables.Column("build"),
    terminal_tables.Column("found in"),
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
    from deepbench_ops.releases import release_table, table_location

    folder = project.environments()
    releases = release_table.measurable(table_location.of_project())
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
        raise NoAnswer(f"no release{f' of {framework}' if framework else ''} is in {folder}")
    click.echo(terminal_tables.table(COLUMNS, lines))
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
@click.option("--date", "day", metavar="YYYY-MM-DD", type=Day(), help="When it came out.")
@click.option(
    "--python",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="An interpreter that holds it already, to measure as it is.",
)
def add(
    requirement: str,
    wheel: Path | None,
    source: str | None,
    index: str,
    pins: str | None,
    day: datetime.date | None,
    python: Path | None,
) -> None:
    """Add a release, a nightly or a build of your own to its framework's line.

    \b
        deepbench release add onnxruntime==1.23.2
        deepbench release add torch==2.16.0.dev20261120 --wheel ./torch-2.16.0.dev20261120-...whl
        deepbench release add jax==0.11.0.dev20261101 --index https://... --date 2026-11-01
        deepbench release add torch==2.11.0 --python /opt/torch/bin/python3

    The companions are the packages that were out on the release's day, unless --pins names others.
    A row whose packages pip cannot install together is refused, and nothing is written. The row is
    in the project folder's release table, which `repo` in asv.conf.json names.
    """
    from deepbench_ops.releases import new_release_row, release_table, table_location

    path = table_location.of_project()
    framework, version = new_release_row.requested(requirement)
    if python is not None:
        if wheel or source or index or pins is not None:
            raise click.UsageError("give --python with no other option than --date")
        _add_installed(framework, version, day, python, path)
        return
    new_release_row.demand_new(framework, version, path)
    given = tuple(pins.split()) if pins is not None else None
    for pin in given or ():
        release_table.demand_exact("--pins", pin)
    if index:
        release_table.demand_url("--index", index)
    if sum(map(bool, (wheel, source, index))) > 1:
        raise click.UsageError("give one of --wheel, --source and --index: where it comes from")
    if source is not None:
        wheel = new_release_row.built(source, project.wheels(), framework)
    if wheel is not None:
        row = new_release_row.from_wheel(framework, version, wheel, given, day, path)
    else:
        row = new_release_row.listed(framework, version, given, day, index)
    new_release_row.add(row, path)
    click.echo(f"added {row.name} ({row.date}); measure it with: asv run {row.name}^!")


def _add_installed(
    framework: str, version: "Version", day: datetime.date | None, python: Path, path: Path
) -> None:
    """Let a release be measured by an interpreter that holds it, and name missing packages."""
    from deepbench_ops.releases import installed_release, new_release_row, release_table
    from deepbench_ops.releases.environment_install import project_root

    folder = project.environments()
    python = Path(os.path.abspath(python))  # noqa: PTH100 (a link names an environment)
    found = installed_release.probed(python, framework)
    known = {(each.framework, Version(each.version)): each for each in release_table.load(path)}
    row = known.get((framework, version)) or new_release_row.of_interpreter(
        framework, version, installed_release.pins(framework, found), day
    )
    installed_release.demand_version(python, row, found)
    if (folder / row.name).exists() and row.name not in installed_release.interpreters(folder):
        raise DeepbenchError(
            f"{row.name} has an environment of its own in {folder}: remove it first, with deepbench"
            f" release clean {row.name}"
        )
    release_table.append(path, [row])
    installed_release.remember(folder, row.name, python)
    environment = installed_release.installation(row, folder.resolve(), project_root())
    environment.ensure()
    lacking = installed_release.missing(found)
    more = (
        f"; {', '.join(lacking)} missing there: linked into {environment.path}" if lacking else ""
    )
    click.echo(
        f"added {row.name} ({row.date}), to be measured as it is installed for {python}{more};"
        f" measure it with: asv run {row.name}^!"
    )


@release.command()
@click.option("--framework", "names", metavar="F", multiple=True, help="Only this framework.")
@click.option("--nightly", is_flag=True, help="The newest nightly build of each as well.")
@click.option("--older", is_flag=True, help="Those before the newest listed release as well.")
@click.option("--add", "adds", is_flag=True, help="Add them to the release table.")
@printed_as("table", "names")
def update(names: tuple[str, ...], nightly: bool, older: bool, adds: bool, form: str) -> None:
    """List the releases that have come out since the release table was written.

    \b
        deepbench release update
        deepbench release update --nightly --framework torch --add

    For each framework of the table, newer than all that it lists: final releases from deepbench's
    own table and from the package index that pip is configured for, nightly builds from the index
    of the project. Added are those that pip can install, with companions of their day. "names"
    is one line, as "asv run" takes it. An index that does not answer is a warning, with status 1.
    """
    from deepbench_ops.problems.suggestions import unknown
    from deepbench_ops.releases import new_releases, release_table, table_location
    from deepbench_ops.releases.companion_pins import frameworks_with_rules
    from deepbench_ops.releases.package_index import Index

    path = table_location.of_project()
    known = release_table.measurable(path)
    for name in names:
        if name not in frameworks_with_rules():
            raise unknown("framework", name, frameworks_with_rules())
    index = Index()
    found: list[new_releases.Update] = []
    warnings = len(damage_reports.lines)
    for name in names or new_releases.frameworks(known):
        with _warning():
            try:
                found += new_releases.final(name, known, index, older)
            except DeepbenchError:
                found += new_releases.final(name, known, None, older)
                raise
        with _warning():
            found += new_releases.nightly(name, known, index) if nightly else []
    answered = warnings == len(damage_reports.lines)
    if adds:
        found = [each for each in found if _added(each, index, path)]
    names_found = [one.name for one in found]
    show(form, lambda: _updates_text(found, adds, answered), list, names=lambda: names_found)


@contextmanager
def _warning() -> Iterator[None]:
    """Make an error in the block a warning of one line, and the exit status 1."""
    try:
        yield
    except DeepbenchError as error:
        damage_reports.report(str(error))


def _added(update: "Update", index: "Index", path: Path) -> bool:
    """Add the row of an update, or warn; return whether it was added."""
    from deepbench_ops.releases import new_release_row, new_releases

    with _warning():
        new_release_row.add(new_releases.row(update, index), path)
        return True
    return False


def _updates_text(found: list["Update"], added: bool, answered: bool) -> str:
    """Return the updates as a table, and what to do next.

    answered: whether all indexes answered.
    """
    if not found and added:
        return "nothing was added"
    if not found and not answered:
        return "not known whether anything has come out since: not all indexes answered"
    if not found:
        return "nothing has come out since"
    lines = [
        [each.name, each.date, "nightly" if each.url else "final", each.source] for each in found
    ]
    names = " ".join(each.name for each in found)
    after = f'measure them with: asv run "{names}"' if added else "--add adds them"
    return f"{terminal_tables.table(UPDATES, lines)}\n{len(found)} releases; {after}"


@release.command()
@click.argument("names", metavar="[RELEASE]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="The environments of all releases.")
def clean(names: tuple[str, ...], everything: bool) -> None:
    """Remove the environments of releases; their results stay.

    \b
        deepbench release clean numpy-1.26.4

    The next "asv run" of a release makes its environment again. An interpreter that "deepbench
    release add --python" named stays as it is; its release gets an environment of its own then.
    """
    from deepbench_ops.releases import (
        environment_install,
        installed_release,
        release_table,
        table_location,
    )
    from deepbench_ops.storage import locks

    folder = project.environments()
    if everything == bool(names):
        raise DeepbenchError("name the releases whose environments to remove, or give --all")
    listed = release_table.measurable(table_location.of_project())
    chosen = [one.name for one in listed] if everything else list(dict.fromkeys(names))
    for name in chosen:
        if not _has_environment(folder, name):
            release_table.find(name, listed)
    if not any((folder / name).exists() for name in chosen):
        raise DeepbenchError(
            f"no environment of {', '.join(names) or 'any release'} is in {folder}"
        )
    measure_alone()
    freed = 0
    for name in chosen:
        installed_release.remember(folder, name, None)
        place, log = folder / name, folder / f"{name}.log"
        if place.exists() or log.exists():
            wait = locks.WAIT_SECONDS
            with environment_install.environment_lock(folder, name, "removing", wait):
                log.unlink(missing_ok=True)
                freed += disk_use(place)
                environment_install.remove(place)
    click.echo(f"{freed / 2**30:.1f} GiB freed in {folder}")


def _has_environment(folder: Path, name: str) -> bool:
    """Return whether a release has an environment, also one whose row of the table is gone."""
    from deepbench_ops.releases.release_table import NAME, framework_and_version

    named = NAME.fullmatch(name) is not None and all(framework_and_version(name))
    return named and (folder / name).is_dir()


def disk_use(folder: Path) -> int:
    """Return the bytes of all files in a folder, 0 where there is none."""
    files = (path for path in folder.rglob("*") if not path.is_symlink() and path.is_file())
    return sum(path.stat().st_blocks * 512 for path in files)
