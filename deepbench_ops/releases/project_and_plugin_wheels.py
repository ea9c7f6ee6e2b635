"""Distributions that every measured environment gets as they are installed here.

They are threadpoolctl, the plugins (other distributions with kernel families or frameworks), and
this project where it was installed from a wheel.
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

import deepbench_ops
from deepbench_ops.backends import framework_list
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import family_list

GROUPS = (family_list.GROUP, framework_list.GROUP)
THREADPOOLCTL = "threadpoolctl"
PROJECT = "asv_bench_deepbench"
NOT_COPIED = ("RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json")
"""Files about an installation, which the next one writes."""


def installed() -> dict[str, metadata.Distribution]:
    """Return the distributions with entry points for this project, by name==version."""
    points = [point for group in GROUPS for point in metadata.entry_points(group=group)]
    found = {f"{p.dist.name}=={p.dist.version}": p.dist for p in points if p.dist is not None}
    return dict(sorted(found.items()))


def copied() -> dict[str, metadata.Distribution]:
    """Return the distributions that every measured environment gets from here, by name==version,
    plugins with a digest of their files after it.

    Raises DeepbenchError where threadpoolctl is not installed.
    """
    try:
        library = metadata.distribution(THREADPOOLCTL)
    except metadata.PackageNotFoundError:
        raise DeepbenchError(
            f"{THREADPOOLCTL} is not installed next to this project: pip install {THREADPOOLCTL}"
        ) from None
    plugins = {_with_digest(name, found): found for name, found in installed().items()}
    return {f"{THREADPOOLCTL}=={library.version}": library, **plugins}


def this_project() -> dict[str, metadata.Distribution]:
    """Return this project as it is installed, by name==version and a digest of its files.

    Raises DeepbenchError where pip has not installed the package that runs.
    """
    package = Path(deepbench_ops.__file__).resolve()
    for found in metadata.distributions(name=PROJECT):
        file = Path(str(found.locate_file(f"{package.parent.name}/{package.name}")))
        if file.resolve() == package:
            return {_with_digest(f"{PROJECT}=={found.version}", found): found}
    raise DeepbenchError(
        f"{package.parent} is neither in a checkout nor installed by pip, so no release can be"
        f" measured with it: give pip the path of its checkout or wheel, with [track] after it"
    )


def _with_digest(name: str, distribution: metadata.Distribution) -> str:
    """Return a name with a digest of the list of files, which has the hash of each."""
    files = hashlib.sha256((distribution.read_text("RECORD") or "").encode()).hexdigest()
    return f"{name} {files[:12]}"


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
        and PurePosixPath(file).name not in NOT_COPIED
    }
    named = f"{distribution.name} {distribution.version}"
    folders = (PurePosixPath(file) for file in files if file.endswith(".dist-info/METADATA"))
    info = next((str(path.parent) for path in folders), "")  # spelt as its installer spells it
    if not info or not any(file.endswith(".py") for file in files):
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
    content[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: deepbench\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    rows = "".join(f"{file},{_digest(data)},{len(data)}\n" for file, data in content.items())
    content[f"{info}/RECORD"] = f"{rows}{info}/RECORD,,\n".encode()
    path = folder / f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
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
