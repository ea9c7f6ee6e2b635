"""Packages that a framework's environment holds with it, unless the table says otherwise.

Companions are those of the day: the newest release of each that was out when the framework's was,
as its users installed it then. Where a framework did not take them, a ceiling is named.
"""

import datetime
from importlib import import_module
from importlib.util import find_spec

from packaging.version import Version

from deepbench_ops.backends import framework_list
from deepbench_ops.backends.release_listing_rule import Rule
from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, one_line
from deepbench_ops.releases.package_index import Index, NoSuchProject
from deepbench_ops.releases.release_table import Release

MOST_BEHIND = 2
"""A companion of the same minor version may be so many patches older."""

MODULE = "listed_releases"


def frameworks_with_rules() -> list[str]:
    """Return the frameworks whose package holds a rule, in their order."""
    known = framework_list.found()[0]
    return [name for name, each in known.items() if find_spec(f"{each.package}.{MODULE}")]


def rule_of(framework: str) -> Rule:
    """Return the rule of a framework.

    Raises DeepbenchError, with the distribution of the framework, where there is none that can be
    used.
    """
    found = framework_list.found()[0][framework]
    try:
        rule = import_module(f"{found.package}.{MODULE}").RULE
        if not isinstance(rule, Rule):
            raise TypeError(f"RULE of {found.package}.{MODULE} is no Rule")
    except PLUGIN_FAULTS as fault:
        raise DeepbenchError(
            f"{found.distribution}: releases of {framework} have no rule: {one_line(fault)}"
        ) from None
    return rule


def row(
    framework: str,
    version: Version,
    day: datetime.date,
    index: Index,
    same: Version | None = None,
) -> Release | None:
    """Return the table's row for a release, None where a companion of it does not install here.

    same: the version of the companion of the same minor version, None for the usual choice.
    """
    rule = rule_of(framework)
    pins = []
    if rule.same:
        pinned = same or _same(rule.same, version, index)
        if pinned is None:
            return None
        pins.append(f"{rule.same}=={pinned}")
    for companion in rule.companions:
        ceilings = rule.ceilings.get(companion, ())
        ceiling = next((below for until, below in ceilings if day < until), "")
        found = index.of_the_day(companion, day, ceiling)
        if found is None:
            return None
        pins.append(f"{companion}=={found}")
    return Release(framework, str(version), day, tuple(pins), rule.on_request)


def build_of(framework: str, version: Version, index: Index, url: str) -> Version | None:
    """Return the development build, on the index at `url`, of the companion that has the minor
    version of the framework; None where it has none.

    Raises DeepbenchError where that index cannot be asked.
    """
    same = rule_of(framework).same
    try:
        builds = index.nightlies(same, url) if same else {}
    except NoSuchProject:
        return None
    alike = (each for each in builds if each.release[:2] == version.release[:2])
    return max((each for each in alike if each <= version), default=None)


def _same(companion: str, version: Version, index: Index) -> Version | None:
    """Return the newest companion of a version's minor version that is hardly older, if any."""
    return max(
        (
            other
            for other in index.releases(companion)
            if other <= version
            and other.release[:2] == version.release[:2]
            and version.micro - other.micro <= MOST_BEHIND
        ),
        default=None,
    )
