"""What a package index says of a project: which releases install here, and when they came out.

Asked is the index that pip is configured for, through pip's own session, so that mirrors,
certificates and credentials are those of the machine. Upload times stand in its JSON answer
(`upload-time`, PEP 700) or in its HTML links (`data-upload-time`).
"""

import datetime
import json
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser

from packaging.tags import Tag, sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from deepbench_ops.errors import DeepbenchError

ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"


@dataclass(frozen=True)
class Upload:
    """A file of a project, with the day on which the index received it; "" where it says none."""

    name: str
    day: str
    yanked: bool = False


class _Links(HTMLParser):
    """The uploads that a page of links lists."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Upload] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "a":
            name = (attributes.get("href") or "").partition("#")[0].rpartition("/")[2]
            day = (attributes.get("data-upload-time") or "")[:10]
            self.found.append(Upload(name, day, "data-yanked" in attributes))


def uploads(content_type: str, text: str) -> list[Upload]:
    """Return the files that an index's page of a project lists, in either of its forms."""
    if "json" in content_type:
        return [
            Upload(file["filename"], (file.get("upload-time") or "")[:10], bool(file.get("yanked")))
            for file in json.loads(text)["files"]
        ]
    links = _Links()
    links.feed(text)
    return links.found


def dated(found: Iterable[Upload], tags: frozenset[Tag]) -> dict[Version, datetime.date]:
    """Return the final releases that have a wheel for one of `tags`, and the first such's day."""
    days: dict[Version, datetime.date] = {}
    for upload in found:
        try:
            _, version, _, fitting = parse_wheel_filename(upload.name)
        except InvalidWheelFilename:
            continue
        if upload.yanked or not upload.day or version.is_prerelease or version.local:
            continue
        if tags & fitting:
            day = datetime.date.fromisoformat(upload.day)
            days[version] = min(day, days.get(version, day))
    return days


class Index:
    """The package index, each project asked for once."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Version, datetime.date]] = {}

    def releases(self, project: str) -> dict[Version, datetime.date]:
        """Return the final releases that install on this Python, and the day each came out.

        Raises DeepbenchError where the index cannot be reached or states no upload times.
        """
        if project not in self._known:
            found = fetch(project)
            self._known[project] = dated(found, frozenset(sys_tags()))
            if found and not any(upload.day for upload in found):
                raise DeepbenchError(
                    f"the package index states no upload times for {project}: give --date"
                )
        return self._known[project]

    def of_the_day(self, project: str, day: datetime.date, below: str = "") -> Version | None:
        """Return the highest release that was out on `day`, below a version if one is given."""
        out = [
            version
            for version, uploaded in self.releases(project).items()
            if uploaded <= day and not (below and version >= Version(below))
        ]
        return max(out, default=None)


def fetch(project: str) -> list[Upload]:
    """Return what pip's configured index lists; DeepbenchError where it cannot be asked."""
    from pip._internal.commands import create_command  # pip offers no public way to its session

    command = create_command("download")
    options, _ = command.parse_args([project])
    with command._build_session(options) as session:  # type: ignore[attr-defined]
        url = f"{options.index_url.rstrip('/')}/{project}/"
        try:
            answer = session.get(url, headers={"Accept": ACCEPT}, timeout=60)
        except OSError as error:
            raise DeepbenchError(
                f"the package index cannot be asked for {project}: {error}"
            ) from None
        if answer.status_code != 200:
            raise DeepbenchError(
                f"the package index answers {answer.status_code} for {project}: is it spelt right?"
            )
        return uploads(answer.headers.get("Content-Type", ""), answer.text)
