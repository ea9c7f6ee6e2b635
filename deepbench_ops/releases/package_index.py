"""Releases of a project on the package index that install here, and the day of each.

The indexes are those that pip is configured for, with its mirrors, certificates and credentials
(`pip_settings`). Upload times stand in the JSON answer of an index (`upload-time`, PEP 700) or in
its HTML links (`data-upload-time`, which some mirrors add).
"""

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from packaging.tags import Tag, sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import credentials, pip_settings
from deepbench_ops.releases.pip_settings import PipSettings

if TYPE_CHECKING:
    from requests import Response

DAY = re.compile(r"20\d{6}")
SECONDS = re.compile(r"\d{9,10}(\.\d+)?")
ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"


class NoSuchProject(DeepbenchError):
    """No index that was asked has a project of this name."""


@dataclass(frozen=True)
class Upload:
    """A file of a project, with the day on which the index received it; "" where it says none."""

    name: str
    day: str
    yanked: bool = False


def nightly(found: Iterable[Upload], tags: frozenset[Tag]) -> dict[Version, datetime.date]:
    """Return the development builds that have a wheel for one of `tags`, and the day of each.

    Where the index states no day it is the one in the version, such as 2.11.0.dev20251101.
    """
    days: dict[Version, datetime.date] = {}
    for upload in found:
        try:
            _, version, _, fitting = parse_wheel_filename(upload.name)
            stated = upload.day or "".join(DAY.findall(str(version))[:1])
            day = datetime.date.fromisoformat(stated)
        except (InvalidWheelFilename, ValueError):
            continue
        if version.is_devrelease and not upload.yanked and tags & fitting:
            days[version] = min(day, days.get(version, day))
    return days


def dated(found: Iterable[Upload], tags: frozenset[Tag]) -> dict[Version, datetime.date]:
    """Return the final releases with a wheel for one of `tags`, and the day of the first one."""
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
    """The package index; each project is asked for once."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Version, datetime.date]] = {}

    def releases(self, project: str) -> dict[Version, datetime.date]:
        """Return the final releases that install on this Python, and the day each came out.

        Raises DeepbenchError where the index cannot be reached or states no upload times.
        """
        if project not in self._known:
            found = fetch(project)
            if found and not any(upload.day for upload in found):
                raise DeepbenchError(
                    f"the package index states no upload times for {project}: give --date"
                )
            self._known[project] = dated(found, frozenset(sys_tags()))
        return self._known[project]

    def nightlies(self, project: str, url: str) -> dict[Version, datetime.date]:
        """Return the development builds on the index at `url` that install here, with their days.

        Raises DeepbenchError where that index cannot be reached or has no such project.
        """
        key = f"{project} {url}"
        if key not in self._known:
            self._known[key] = nightly(fetch(project, url), frozenset(sys_tags()))
        return self._known[key]

    def of_the_day(self, project: str, day: datetime.date, below: str = "") -> Version | None:
        """Return the highest release that was out on `day`, below a version if one is given."""
        out = [
            version
            for version, uploaded in self.releases(project).items()
            if uploaded <= day and not (below and version >= Version(below))
        ]
        return max(out, default=None)


def fetch(project: str, url: str = "") -> list[Upload]:
    """Return the files of a project on the package indexes that pip is configured for.

    url: an index to ask instead. Raises DeepbenchError where one of them cannot be asked,
    or none has the project.
    """
    settings = pip_settings.read()
    urls = (url,) if url else settings.urls
    if not urls:
        raise DeepbenchError(
            f"pip may ask no package index for {project} (no-index is set): give --date"
        )
    pages = [_uploads(project, each, settings) for each in urls]
    if all(page is None for page in pages):
        raise NoSuchProject(f"the package index has no {project}: is it spelt right?")
    return [upload for page in pages for upload in page or ()]


def _uploads(project: str, url: str, settings: PipSettings) -> list[Upload] | None:
    """Return the files of a project on one index, None where it has no such project."""
    folder = _folder(url)
    if folder is not None:
        page = folder / canonicalize_name(project) / "index.html"
        return linked(page.read_bytes()) if page.is_file() else None
    try:
        answer = _get(f"{url.rstrip('/')}/{canonicalize_name(project)}/", settings)
    except OSError as error:
        reason = credentials.hidden(str(error))
        raise DeepbenchError(f"the package index cannot be asked for {project}: {reason}") from None
    if answer.status_code == 404:
        return None
    if answer.status_code != 200:
        raise DeepbenchError(
            f"the package index at {urlsplit(url).hostname} answers {answer.status_code} for"
            f" {project}: see `pip config list` for its address and credentials"
        )
    try:
        return listed(project, answer)
    except ValueError as error:
        reason = credentials.hidden(" ".join(str(error).split()))
        raise DeepbenchError(f"the package index's page of {project} is broken: {reason}") from None


def listed(project: str, answer: "Response") -> list[Upload]:
    """Return the files in an index's answer, in either of its forms."""
    from pypi_simple import ProjectPage

    if "json" not in answer.headers.get("Content-Type", ""):
        return linked(answer.content)
    return [
        Upload(
            file.filename,
            file.upload_time.date().isoformat() if file.upload_time else "",
            bool(file.is_yanked),
        )
        for file in ProjectPage.from_response(answer, project).packages
    ]


def linked(page: bytes) -> list[Upload]:
    """Return the files that a page of links lists; their days where the index adds them."""
    from pypi_simple import RepositoryPage

    return [
        Upload(
            name=unquote(urlsplit(link.url).path.rpartition("/")[2]),
            day=_day(str(link.attrs.get("data-upload-time", ""))),
            yanked="data-yanked" in link.attrs,
        )
        for link in RepositoryPage.from_html(page).links
    ]


def _day(text: str) -> str:
    """Return the day of an upload time, which mirrors write as a date or as seconds since 1970; ""
    for any other text."""
    try:
        if SECONDS.fullmatch(text):
            return datetime.datetime.fromtimestamp(float(text), datetime.UTC).date().isoformat()
        return datetime.date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return ""


def _get(url: str, settings: PipSettings) -> "Response":
    """Return an index's answer; requests itself reads .netrc and the variables of proxies."""
    import requests

    parts = urlsplit(url)
    trusted = {parts.hostname, parts.netloc.rpartition("@")[2]} & {*settings.trusted}
    return requests.get(
        url,
        headers={"Accept": ACCEPT},
        timeout=settings.timeout,
        verify=False if trusted else settings.certificates or True,
        cert=settings.client_certificate or None,
        proxies={"http": settings.proxy, "https": settings.proxy} if settings.proxy else None,
    )


def _folder(url: str) -> Path | None:
    """Return the folder of an index on this disk."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if "://" in url else Path(url)
