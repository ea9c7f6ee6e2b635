"""The release table as asv sees a repository: releases are commits, frameworks are branches.

``asv run``, ``asv publish`` and ``asv find`` take these ranges:

- ``numpy-1.26.4..numpy-2.2.6``: the releases after the first up to and with the second, as git
  has it; an end left out means the newest or the oldest release of that framework;
- ``numpy-2.2.6`` or ``numpy-2.2.6^!``: this one release;
- ``numpy``: every release of the framework, less those that are only measured on request;
- several of these, separated by spaces.

A single release is named ``numpy-2.2.6``, ``numpy==2.2.6``, by its hash or a unique part of it
from the left, by its framework (the newest), and with ``^`` behind it for the release before.

Releases marked on request are large. They are measured when named or when inside a range; bare
``asv run``, ``ALL``, ``NEW`` and ``TAGS`` leave them out unless DEEPBENCH_ON_REQUEST=1.
"""

import difflib
import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from asv.console import log
from asv.repo import NoSuchNameError, Repo
from asv.util import UserError

from deepbench_ops.backends import NAMES
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release

HASH_PREFIX = re.compile(r"[0-9a-f]{4,40}")


class UnknownRelease(NoSuchNameError, UserError):
    """A name that no release has.

    asv catches NoSuchNameError in some commands and lets it become a traceback in others; as a
    UserError it is printed as one line there.
    """


class ReleaseRepo(Repo):
    """Release table in the form of a repository; ``repo`` in asv.conf.json is its path."""

    dvcs = "releases"

    def __init__(self, url: str, mirror_path: str) -> None:
        try:
            listed = release_table.load(Path(url))
        except DeepbenchError as error:
            raise UserError(str(error)) from None
        for line in release_table.differing(listed):
            log.warning(line)
        self._timeline = release_table.with_plugins(listed)
        self._by_hash = {release.hash: release for release in self._timeline}
        self._places = {release.hash: place for place, release in enumerate(self._timeline)}

    @classmethod
    def url_match(cls, url: str) -> bool:
        return False

    def pull(self) -> None:
        """Do nothing: the table is a local file."""

    def checkout(self, path: str, commit_hash: str) -> None:
        """Do nothing: a release lies in its environment, not in a working tree."""

    @property
    def timeline(self) -> tuple[Release, ...]:
        """All releases of the table, oldest first."""
        return self._timeline

    def release(self, name: str) -> Release:
        """Find a release by any of its names.

        Raises
        ------
        UnknownRelease
            No release has this name, or several hashes begin so; it names similar ones.
        """
        stem = str(name).rstrip("^")
        release = self._named(stem)
        for _ in range(len(str(name)) - len(stem)):
            older = self._branch(release.framework)
            place = older.index(release) + 1
            if place == len(older):
                raise UnknownRelease(f"no release before {release.name} is listed")
            release = older[place]
        return release

    def measurable(self) -> list[str]:
        """Return the hashes of releases that need not be named to be measured, newest first."""
        return [release.hash for release in self._timeline[::-1] if _wanted(release)]

    def measurable_of(self, commits: Iterable[str]) -> list[str]:
        """Return those of these hashes that are releases which can be measured, newest first."""
        given = set(commits)
        found = [one for one in self._timeline[::-1] if one.measurable and one.hash in given]
        if left := len(given) - len(found):
            log.info(f"{left} releases with results are left out: published, or not in the table")
        return [release.hash for release in found]

    def get_hash_from_name(self, name: str) -> str:
        return self.release(name).hash

    def get_hash_from_parent(self, name: str) -> str:
        return self.release(f"{name}^").hash

    def get_name_from_hash(self, commit: str) -> str | None:
        if commit in self._by_hash:
            return self._by_hash[commit].name
        if HASH_PREFIX.fullmatch(str(commit)):
            return None
        return self.release(commit).name

    def get_decorated_hash(self, commit: str, hash_length: int = 8) -> str:
        if HASH_PREFIX.fullmatch(str(commit)) and commit not in self._by_hash:
            return commit[:hash_length]
        release = self.release(commit)
        return f"{release.hash[:hash_length]} <{release.name}>"

    def get_tags(self) -> dict[str, str]:
        return {release.name: release.hash for release in self._timeline}

    def get_date(self, hash: str) -> int:
        """Return midnight UTC of the release's day, in milliseconds since 1970."""
        return self.release(hash).milliseconds

    def get_date_from_name(self, name: str) -> int:
        return self.get_date(name)

    def get_branch_commits(self, branch: str) -> list[str]:
        return [release.hash for release in self._branch(branch)]

    def get_new_branch_commits(self, branches: list[str], existing: Iterable[str]) -> list[str]:
        new = super().get_new_branch_commits(branches, existing)
        return [commit for commit in new if _wanted(self._by_hash[commit])]

    def newest_of(self, branches: Iterable[str]) -> list[str]:
        """Return each framework's newest release that is not on request, as hashes.

        A framework without one is left out and reported. Raises UserError where none is left.
        """
        found, asking = [], []
        for branch in branches:
            wanted = [release for release in self._branch(branch) if _wanted(release)]
            found += [release.hash for release in wanted[:1]]
            asking += [] if wanted else [self._branch(branch)[0].name]
        if asking:
            log.info(f"Measured on request only: {', '.join(asking)}")
        if not found:
            raise UserError(f"no release is measured without asking: name one, such as {asking[0]}")
        return found

    def get_revisions(self, commits: Iterable[str]) -> dict[str, int]:
        """Return numbers of commits along the timeline, for one publishing."""
        for commit in commits:
            if commit not in self._by_hash:
                raise UserError(
                    f"results are filed under {commit[:8]}, which is no release of the table: "
                    "add its row, install the distribution that brings it, or remove them with "
                    f"`asv rm commit_hash={commit}`"
                )
        return {
            release.hash: place
            for place, release in enumerate(self._timeline)
            if release.hash in commits
        }

    def get_range_spec(self, commit_a: str, commit_b: str) -> str:
        return f"{commit_a}..{commit_b}"

    def get_new_range_spec(self, latest_result: str, branch: str | None = None) -> str:
        framework = branch or self.release(latest_result).framework
        return f"{latest_result}..{self._branch(framework)[0].name}"

    def get_hashes_from_range(self, range: str) -> list[str]:
        """Return the hashes of a range, newest first; see the top of the module for its form."""
        chosen = {release.hash for term in range.split() for release in self._term(term)}
        return sorted(chosen, key=self._places.__getitem__, reverse=True)

    def _term(self, term: str) -> list[Release]:
        if ".." in term:
            return self._between(*re.split(r"\.\.+", term, maxsplit=1))
        if term in self.frameworks():
            return [release for release in self._branch(term) if _wanted(release)]
        return [self.release(term.removesuffix("^!"))]

    def _between(self, left: str, right: str) -> list[Release]:
        if not left and not right:
            raise UnknownRelease("range '..' has no end: write it like numpy-1.26.4..numpy-2.2.6")
        framework = self.release(left or right).framework
        branch = self._branch(framework)
        last = self.release(right) if right else branch[0]
        first = self.release(left) if left else None
        if last.framework != framework:
            raise UserError(
                f"range '{left}..{right}' runs from {framework} to {last.framework}: "
                "give one range for each framework"
            )
        stop = branch.index(first) if first else len(branch)
        start = branch.index(last)
        if start > stop:
            raise UserError(f"range '{left}..{right}' runs backwards: write '{right}..{left}'")
        return branch[start:stop]

    def measured_branches(self) -> list[str]:
        """The frameworks that have releases to measure, in the order of tables."""
        listed = {release.framework for release in self._timeline if release.measurable}
        return [name for name in NAMES if name in listed]

    def frameworks(self) -> set[str]:
        """The frameworks of the table: its branches."""
        return {release.framework for release in self._timeline}

    def _branch(self, framework: str | None) -> list[Release]:
        """A framework's releases, newest first."""
        releases = [r for r in self._timeline[::-1] if r.framework == framework]
        if not releases:
            raise UnknownRelease(self._unknown(str(framework)))
        return releases

    def _named(self, name: str) -> Release:
        if name in self.frameworks():
            return self._newest(name)
        if name in self._by_spelling:
            return self._by_spelling[name]
        if HASH_PREFIX.fullmatch(name):
            found = [r for r in self._timeline if r.hash.startswith(name)]
            if len(found) > 1:
                names = ", ".join(release.name for release in found)
                raise UnknownRelease(f"hashes of {names} begin with '{name}': give more of it")
            if found:
                return found[0]
        raise UnknownRelease(self._unknown(name))

    @cached_property
    def _by_spelling(self) -> dict[str, Release]:
        """Releases by each of their names, lastly as the published pages print them."""
        return {
            name: one
            for one in self._timeline[::-1]
            for name in (f"{one.framework} {one.version}", one.requirement, one.name, one.hash)
        }

    def _newest(self, framework: str) -> Release:
        for release in self._branch(framework):
            if _wanted(release) or not release.measurable:
                return release
        raise UnknownRelease(
            f"{framework}: every listed release is measured on request only, so name one, "
            f"such as {self._branch(framework)[0].name}"
        )

    def _unknown(self, name: str) -> str:
        known = [*self.frameworks(), *(release.name for release in self._timeline)]
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        hint = f"the nearest are {', '.join(near)}" if near else "add its row to the release table"
        return f"unknown release '{name}': {hint}"


def _wanted(release: Release) -> bool:
    asked_for = not release.on_request or os.environ.get("DEEPBENCH_ON_REQUEST") == "1"
    return release.measurable and asked_for
