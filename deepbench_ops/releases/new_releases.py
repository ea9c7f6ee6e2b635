"""Releases that have come out since a release table was written, and their rows.

Final releases come from this package's own table, whose companions are chosen already, and from
the package index; nightly builds from the index that their project publishes them on.
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.version import Version

from deepbench_ops import __version__
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import companion_pins, release_table
from deepbench_ops.releases.package_index import Index
from deepbench_ops.releases.release_table import Release

PACKAGE = f"the table of deepbench {__version__}"
INDEX = "the package index"


@dataclass(frozen=True)
class Update:
    """A release that a table lacks.

    source: where it was found. url: the index of nightly builds, "" for a final release.
    """

    framework: str
    version: Version
    date: datetime.date
    source: str
    url: str = ""

    @property
    def name(self) -> str:
        """The tag people type, such as ``numpy-1.26.4``."""
        return f"{self.framework}-{self.version}"


def frameworks(known: Iterable[Release]) -> list[str]:
    """Return the frameworks of a table that updates are looked for."""
    return [
        name
        for name in companion_pins.frameworks_with_rules()
        if any(each.framework == name for each in known)
    ]


def final(
    framework: str, known: Iterable[Release], index: Index | None, older: bool = False
) -> list[Update]:
    """Return final releases that are newer than all that are known, by version.

    index: None for those of this package's own table alone. older: whether to return those that are
    missing in between, and before, as well.
    Raises DeepbenchError where the index cannot be asked.
    """
    oldest = Version(companion_pins.rule_of(framework).oldest)
    have = _versions(framework, known)
    listed = {Version(each.version): each.date for each in _own(framework)}
    dates = (index.releases(framework) if index else {}) | listed
    newest = max((each for each in have if not each.is_prerelease), default=oldest)
    return [
        Update(framework, version, dates[version], PACKAGE if version in listed else INDEX)
        for version in sorted(dates)
        if version not in have and not version.is_prerelease
        if version >= oldest and (older or version > newest)
    ]


def nightly(framework: str, known: Iterable[Release], index: Index) -> list[Update]:
    """Return the newest nightly build if it is newer than all that are known.

    None is returned where the project publishes no build under its own name. Raises DeepbenchError
    where its index cannot be asked.
    """
    url = companion_pins.rule_of(framework).nightly
    builds = index.nightlies(framework, url) if url else {}
    version = max(builds, default=None)
    if version is None or any(version <= each for each in _versions(framework, known)):
        return []
    return [Update(framework, version, builds[version], url, url)]


def row(update: Update, index: Index) -> Release:
    """Return the table's row of an update. Raises DeepbenchError where a companion is missing."""
    for release in _own(update.framework):
        if release.name == update.name:
            return release
    pinned = None
    if update.url:
        pinned = companion_pins.build_of(update.framework, update.version, index, update.url)
    made = companion_pins.row(update.framework, update.version, update.date, index, pinned)
    if made is None:
        raise DeepbenchError(f"{update.name} is not added: no companion of it installs here")
    if not update.url:
        return made
    return Release(made.framework, made.version, made.date, made.pins, True, update.url)


def _own(framework: str) -> list[Release]:
    return [each for each in release_table.measurable() if each.framework == framework]


def _versions(framework: str, known: Iterable[Release]) -> set[Version]:
    return {Version(each.version) for each in known if each.framework == framework}
