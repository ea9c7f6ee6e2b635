"""A wheel on disk as a release: a nightly, or a build of one's own, that no table lists."""

import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

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
