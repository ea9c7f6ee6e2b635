"""Distributions that every measured environment gets as they are installed here.

They are threadpoolctl and the plugins: other distributions with kernel families or frameworks.
No network is needed. Their dependencies are not installed: those belong in the release table.
"""

import hashlib
import json
import zipfile
from base64 import urlsafe_b64encode
from importlib import metadata
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from deepbench_ops.backends import frameworks
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import families

GROUPS = (families.GROUP, frameworks.GROUP)
THREADPOOLCTL = "threadpoolctl"


def installed() -> dict[str, metadata.Distribution]:
    """Return the distributions with entry points for this project, by name==version."""
    points = [point for group in GROUPS for point in metadata.entry_points(group=group)]
    found = {f"{p.dist.name}=={p.dist.version}": p.dist for p in points if p.dist is not None}
    return dict(sorted(found.items()))


def copied() -> dict[str, metadata.Distribution]:
    """Return what every measured environment gets from here, by name==version.

    Raises DeepbenchError where threadpoolctl is not installed.
    """
    try:
        library = metadata.distribution(THREADPOOLCTL)
    except metadata.PackageNotFoundError:
        raise DeepbenchError(
            f"{THREADPOOLCTL} is not installed next to this project: pip install {THREADPOOLCTL}"
        ) from None
    return {f"{THREADPOOLCTL}=={library.version}": library, **installed()}


def pip_arguments(distribution: metadata.Distribution, folder: Path) -> tuple[str, ...]:
    """Return pip's arguments for a distribution: its checkout, or a wheel made in `folder`."""
    checkout = _checkout(distribution)
    if checkout is not None:
        return "--no-build-isolation", "--editable", str(checkout)
    return (str(wheel(distribution, folder)),)


def wheel(distribution: metadata.Distribution, folder: Path) -> Path:
    """Pack the installed files of a distribution into a wheel in `folder`, and return its path.

    Raises DeepbenchError where the distribution does not list its files, or has compiled ones,
    which would be of this environment's libraries.
    """
    listed = distribution.files or []
    files = {
        file: Path(str(distribution.locate_file(file)))
        for file in map(str, listed)
        if ".." not in PurePosixPath(file).parts
        and "__pycache__" not in PurePosixPath(file).parts
        and PurePosixPath(file).name not in ("RECORD", "WHEEL", "INSTALLER", "REQUESTED")
    }
    named = f"{distribution.name} {distribution.version}"
    if not any(file.endswith(".py") for file in files):
        raise DeepbenchError(
            f"{named} lists no files of its own, so it cannot be installed next to a release:"
            " install it again with pip"
        )
    compiled = next((file for file in files if file.endswith((".so", ".pyd", ".dylib"))), None)
    if compiled is not None:
        raise DeepbenchError(
            f"{named} holds {compiled}, which fits this Python alone: move it into a distribution"
            " of its own, and pin that in the release table"
        )
    content = {file: path.read_bytes() for file, path in files.items()}
    module = distribution.name.replace("-", "_")
    info = f"{module}-{distribution.version}.dist-info"
    content[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: deepbench\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    rows = "".join(f"{file},{_digest(data)},{len(data)}\n" for file, data in content.items())
    content[f"{info}/RECORD"] = f"{rows}{info}/RECORD,,\n".encode()
    path = folder / f"{module}-{distribution.version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in content.items():
            archive.writestr(file, data)
    return path


def _checkout(distribution: metadata.Distribution) -> Path | None:
    """Return the folder that an editable install points to."""
    text = distribution.read_text("direct_url.json")
    origin = json.loads(text) if text else {}
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(url2pathname(urlsplit(origin["url"]).path))


def _digest(data: bytes) -> str:
    digest = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
