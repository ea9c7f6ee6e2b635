"""A package index in a folder, so that tests install real packages without a network."""

import hashlib
import importlib.metadata
import os
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

from deepbench_ops.releases.environment_install import RUNNER, YARDSTICK


def build(folder: Path, name: str, version: str, source: str, *requires: str) -> Path:
    """Write a wheel that holds one module of the distribution's own name."""
    module = name.replace("-", "_")
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
    return _write(folder, module, version, {f"{module}.py": source.encode()}, metadata)


def repack(folder: Path, name: str) -> Path:
    """Write a wheel of a pure-Python distribution that is installed here."""
    found = importlib.metadata.distribution(name)
    files = {
        str(path): Path(found.locate_file(path)).read_bytes()
        for path in found.files or []
        if path.suffix == ".py" and ".." not in path.parts
    }
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {found.version}\n"
    return _write(folder, name.replace("-", "_"), found.version, files, metadata)


def repack_whole(folder: Path, name: str) -> Path:
    """Write a wheel of a distribution that is installed here, with all its files.

    Its tag fits any Python, and its compiled files this one alone.
    """
    found = importlib.metadata.distribution(name)
    left = ("RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json")
    files = {
        str(path): Path(str(found.locate_file(path))).read_bytes()
        for path in found.files or []
        if ".." not in path.parts and "__pycache__" not in path.parts and path.name not in left
    }
    (metadata,) = (path for path in files if path.endswith(".dist-info/METADATA"))
    text = files.pop(metadata).decode()
    spelled = metadata.partition("/")[0].removesuffix(f"-{found.version}.dist-info")
    return _write(folder, spelled, found.version, files, text)


def stock(folder: Path) -> None:
    """Add the packages of every release's environment; the yardstick is a stand-in."""
    repack(folder, RUNNER.partition("==")[0])
    build(folder, *YARDSTICK.split("=="), "")


def pip_environment(folder: Path) -> dict[str, str]:
    """Environment variables that make pip see this folder alone, and uv nothing at all."""
    return {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_NO_COMPILE": "1",
        "UV_OFFLINE": "1",
        "UV_NO_CACHE": "1",
    }


def commit(framework: str, version: str) -> str:
    """The hash a release's results are filed under."""
    return hashlib.sha1(f"{framework}=={version}".encode()).hexdigest()


def _write(folder: Path, module: str, version: str, files: dict[str, bytes], metadata: str) -> Path:
    info = f"{module}-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**files, f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": wheel.encode()}
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return path


def _digest(data: bytes) -> str:
    digest = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
