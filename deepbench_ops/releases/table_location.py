"""The release table that dates the results of a folder.

It lies with them: the table of the project whose results folder it is, as the asv.conf.json of the
current project or the nearest one above the folder says. A results folder that belongs to no
project has a table of its own, releases.csv inside it, for the days on which its results were
published.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from deepbench_ops import project
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.project import CONFIGURATION, read_configuration
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release

RELEASES = "releases"
"""The value of `dvcs` by which asv takes a release table for its repository."""


def path_of(results: Path) -> Path:
    """Return the table of a results folder, which need not be there yet.

    Raises DeepbenchError for a configuration above the folder that is broken.
    """
    above = results.resolve().parents
    nearest = next((each for each in above if (each / CONFIGURATION).is_file()), None)
    for folder in filter(None, (nearest, project.find(Path.cwd()))):
        values = read_configuration(folder / CONFIGURATION)
        own = folder / str(values.get("results_dir", "results"))
        if own.resolve() == results.resolve() and values.get("dvcs") == RELEASES:
            return of_configuration(folder / CONFIGURATION, values)
    return results / "releases.csv"


def of_configuration(path: Path, values: Mapping[str, object]) -> Path:
    """Return the table that a configuration file names, given its values.

    Raises DeepbenchError where it names none.
    """
    if "repo" not in values:
        raise DeepbenchError(f"{path}: repo is missing: write the path of the release table")
    return path.parent / str(values["repo"])


def of_project() -> Path:
    """Return the release table of the project folder. Raises DeepbenchError outside of one."""
    return path_of(project.results())


def load(results: Path) -> tuple[Release, ...]:
    """Return the releases of a results folder's table, of the package's and of other
    distributions', oldest first.

    Raises DeepbenchError naming file and line for a table that is wrong.
    """
    path = path_of(results)
    known = {release.hash: release for release in release_table.load()}
    if path.exists():
        known |= {release.hash: release for release in release_table.load(path)}
    return release_table.with_plugins(known.values())


def measurable(results: Path) -> list[Release]:
    """Return those of `load` that can be measured: no published figures."""
    return [release for release in load(results) if release.measurable]


def append(results: Path, releases: Iterable[Release]) -> int:
    """Add the rows that the table of a results folder lacks; return their number."""
    releases = list(releases)
    return release_table.append(path_of(results), releases) if releases else 0
