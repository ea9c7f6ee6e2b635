"""A wheel on disk as a release: a nightly, or a build of one's own, that no table lists."""

import hashlib
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases.release_table import Release


@dataclass(frozen=True)
class Wheel(Release):
    """A release that is installed from a file."""

    path: Path = Path()

    @property
    def requirement(self) -> str:
        """The requirement for pip: the file itself."""
        return f"{self.framework} @ {self.path.resolve().as_uri()}"


def file_of(release: Release) -> Path | None:
    """Return the wheel that a release is installed from, None where an index has it.

    A row of the table names a file, or a folder: then it is the wheel of the release in there that
    fits this Python best.
    """
    if isinstance(release, Wheel):
        return release.path.resolve()
    if not release.index.startswith("file:"):
        return None
    place = path_of(release.index)
    return place if place.suffix == ".whl" else _best(place, release)


def path_of(url: str) -> Path:
    """Return the path in a URL of a file."""
    return Path(url2pathname(urlsplit(url).path))


def requirement(release: Release) -> str:
    """Return the requirement for pip: the file itself where the release is installed from one,
    since an index may have another build of the same version."""
    file = file_of(release)
    return release.requirement if file is None else f"{release.framework} @ {file.as_uri()}"


def digest_of(release: Release) -> str:
    """Return a digest of the wheel that a release is installed from; "" where an index has it, or
    the file is gone or damaged."""
    file = file_of(release)
    try:
        with zipfile.ZipFile(file or "") as archive:
            members = [(each.filename, each.CRC) for each in archive.infolist()]
    except (OSError, zipfile.BadZipFile):
        return ""
    return hashlib.sha256(repr(members).encode()).hexdigest()[:12]


def _best(folder: Path, release: Release) -> Path | None:
    """Return the wheel of a release in a folder that fits this Python best, None for none."""
    ranks = {tag: rank for rank, tag in enumerate(sys_tags())}
    fitting = []
    for path in folder.glob("*.whl"):
        try:
            name, version, _, tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        if name == canonicalize_name(release.framework) and version == Version(release.version):
            fitting += [(ranks[tag], path) for tag in tags if tag in ranks]
    return min(fitting, default=(0, None))[1]


def read(path: Path, like: Release) -> Wheel:
    """Return the wheel of that file, with the companions of a listed release.

    Raises DeepbenchError for a file that is no wheel of the same framework.
    """
    try:
        name, version, _, _ = parse_wheel_filename(path.name)
    except InvalidWheelFilename:
        raise DeepbenchError(
            f"{path} has not the name of a wheel, such as"
            f" {like.framework}-{like.version}-cp311-cp311-linux_x86_64.whl"
        ) from None
    if name != canonicalize_name(like.framework):
        raise DeepbenchError(f"{path} is a wheel of {name}, not of {like.framework}")
    if not path.is_file():
        raise DeepbenchError(f"{path}: no such file")
    _demand_wheel(path)
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    return Wheel(like.framework, str(version), day, like.pins, path=path)


def _demand_wheel(path: Path) -> None:
    """Raise DeepbenchError for a file that is no zip archive, or one without a wheel's metadata.

    pip would speak of conflicting dependencies.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        raise DeepbenchError(
            f"{path} is no wheel, which is a zip file: download or build it again"
        ) from None
    if not any(name.endswith(".dist-info/METADATA") for name in names):
        raise DeepbenchError(
            f"{path} is no wheel, since it holds no METADATA: download or build it again"
        )
