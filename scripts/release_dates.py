"""Print when releases were uploaded, in the columns of the release table.

The table states a date for every release, and a date must come from somewhere. This asks the
package index that pip is configured for, through pip's own session, so mirrors, certificates
and credentials are those of the machine. An index states upload times either in its JSON answer
(`upload-time`, PEP 700) or as a `data-upload-time` attribute of its HTML links; one that states
neither ends this script with a line saying so, and the date must come from the release notes.

    python scripts/release_dates.py numpy 1.26.4 2.2.6
    python scripts/release_dates.py torch            (the last patch of every 2.x minor)
"""

import argparse
import json
import re
import sys
from html.parser import HTMLParser

from packaging.version import InvalidVersion, Version

ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"


class Links(HTMLParser):
    """The file name and upload time of every link of a simple-index page."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a" and found.get("data-upload-time"):
            path = (found.get("href") or "").partition("#")[0]
            self.files.append((path.rpartition("/")[2], found["data-upload-time"] or ""))


def uploads(content_type: str, text: str) -> list[tuple[str, str]]:
    """(file name, ISO upload time) of every file that an index page dates."""
    if "json" in content_type:
        files = json.loads(text)["files"]
        return [(f["filename"], f["upload-time"]) for f in files if f.get("upload-time")]
    links = Links()
    links.feed(text)
    return links.files


def first_dates(project: str, files: list[tuple[str, str]]) -> dict[Version, str]:
    """The day on which each final release's first wheel or source archive was uploaded."""
    name = re.compile(rf"{re.escape(project)}-([^-]+?)(?:-.*\.whl|\.tar\.gz|\.zip)$")
    days: dict[Version, str] = {}
    for filename, time in files:
        match = name.match(filename)
        try:
            version = Version(match[1]) if match else None
        except InvalidVersion:
            continue
        if version is None or version.is_prerelease or version.local:
            continue
        days[version] = min(time[:10], days.get(version, time[:10]))
    return days


def last_patches(days: dict[Version, str]) -> list[Version]:
    """The highest version of every minor from 2.0 on, oldest first."""
    newest: dict[tuple[int, int], Version] = {}
    for version in sorted(days):
        if version.major >= 2:
            newest[version.major, version.minor] = version
    return list(newest.values())


def fetch(project: str) -> list[tuple[str, str]]:
    """Ask pip's configured index for the project's files."""
    from pip._internal.commands import create_command  # pip offers no public way to its session

    command = create_command("download")
    options, _ = command.parse_args([project])
    with command._build_session(options) as session:  # type: ignore[attr-defined]
        url = f"{options.index_url.rstrip('/')}/{project}/"
        answer = session.get(url, headers={"Accept": ACCEPT}, timeout=60)
        answer.raise_for_status()
        return uploads(answer.headers.get("Content-Type", ""), answer.text)


def main() -> int:
    parser = argparse.ArgumentParser(description="When were these releases uploaded?")
    parser.add_argument("framework")
    parser.add_argument("versions", nargs="*")
    asked = parser.parse_args()
    days = first_dates(asked.framework, fetch(asked.framework))
    if not days:
        print(f"the package index states no upload times for {asked.framework}", file=sys.stderr)
        return 1
    wanted = [Version(text) for text in asked.versions] or last_patches(days)
    for version in wanted:
        if version not in days:
            print(f"{asked.framework} {version} is not on the package index", file=sys.stderr)
            return 1
        print(f"{asked.framework},{version},{days[version]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
