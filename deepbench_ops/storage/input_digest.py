"""Digests of the inputs of computed values: the files of a machine's results, and the code."""

import hashlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from deepbench_ops.storage import machine_files

PACKAGE = Path(__file__).parent.parent
PART = 1 << 20
"""Bytes of a file that are in memory at once."""

LIBRARIES = ("asv", "numpy", "scipy")
"""Libraries that computed values such as verdicts depend on, besides this package."""


def of_machine(folder: Path, key: str) -> str:
    """Return the digest of a machine's folder, in hexadecimal.

    key: everything that the values depend on besides the folder's files, such as `of_code`. A file
    that is removed in the meantime counts as absent. Raises OSError for one that cannot be read.
    """
    digest = hashlib.blake2b(key.encode(), digest_size=16)
    for path, size in machine_files.sizes(folder).items():
        name = path.relative_to(folder).as_posix()
        with suppress(FileNotFoundError), path.open("rb") as stream:
            digest.update(f"\n{name} {size}\n".encode())
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
def of_code(left_out: tuple[str, ...] = ()) -> str:
    """Return the digest of the code and tables of this package, in hexadecimal.

    left_out: folders of the package that the values do not depend on.
    """
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(PACKAGE.rglob("*")):
        folder = path.relative_to(PACKAGE).parts[0]
        if path.suffix in (".py", ".csv") and folder not in left_out:
            digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def of_program() -> str:
    """Return the digest of the code, and the versions of Python and of the libraries, which may
    round and sort differently: statistics depend on all of them."""
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    return " ".join([of_code(), sys.version, *libraries])
