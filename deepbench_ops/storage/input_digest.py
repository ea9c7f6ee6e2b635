"""Digests of the inputs of computed values: the files of a machine's results, and the code."""

import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
PART = 1 << 20
"""Bytes of a file that are in memory at once."""

LIBRARIES = ("asv", "numpy", "scipy")
"""Libraries that the values depend on, besides this package."""


def of_machine(folder: Path, key: str = "") -> str:
    """Return the digest of a machine's folder, in hexadecimal.

    key: everything that the values depend on besides the folder's files and the code. Raises
    OSError for a file that cannot be read.
    """
    digest = hashlib.blake2b(f"{_of_package()} {key}".encode(), digest_size=16)
    for path in sorted(filter(Path.is_file, folder.rglob("*"))):
        name = path.relative_to(folder).as_posix()
        digest.update(f"\n{name} {path.stat().st_size}\n".encode())
        with path.open("rb") as stream:
            while part := stream.read(PART):
                digest.update(part)
    return digest.hexdigest()


def of_files(paths: Iterable[Path]) -> str:
    """Return the digest of the names and contents of small files, in hexadecimal."""
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(paths):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def _of_package() -> str:
    """Return the digest of the code, tables and libraries that the values depend on."""
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    digest = hashlib.blake2b(" ".join([sys.version, *libraries]).encode(), digest_size=16)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".csv"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
