"""Values computed from a machine's results, stored until the results or the code change."""

import hashlib
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

from deepbench_ops.storage import cache as cache_file

PACKAGE = Path(__file__).parent.parent
LIBRARIES = ("asv", "numpy", "scipy")
"""Libraries that the values depend on, besides this package."""

NAME = re.compile(r"[0-9a-f]{16}(\.\w+)?|\.[0-9a-f]{16}\.\w+\.unfinished")
"""Name of a file of the cache, also of an unfinished one."""

Value = TypeVar("Value")


@dataclass
class MachineCache(Generic[Value]):
    """Computed values, one file for each machine.

    key: everything that the values depend on besides the machine's files and the code.
    encode, decode: from a value to JSON types and back. `decode` raises LookupError, TypeError,
    ValueError or AttributeError for JSON that is no such value.
    """

    folder: Path
    key: str = ""
    encode: Callable[[Value], Any] = lambda value: value
    decode: Callable[[Any], Value] = lambda value: value
    used: set[str] = field(default_factory=set)
    """File names of all machines that were asked for."""
    new: dict[str, tuple[str, Value]] = field(default_factory=dict)
    """New values by file name: digest of the inputs, and the value."""

    def value(self, machine: Path, compute: Callable[[], Value]) -> Value:
        """The value of a machine's folder of results: from its file where that is valid, else from
        `compute`."""
        name = hashlib.blake2b(machine.name.encode(), digest_size=8).hexdigest()
        digest = _digest(machine, self.key)
        self.used.add(name)
        found = cache_file.read(self.folder / name, digest)
        if found is not None:
            with suppress(LookupError, TypeError, ValueError, AttributeError):
                return self.decode(found)
        computed = compute()
        self.new[name] = digest, computed
        return computed

    def write(self) -> None:
        """Store the new values and remove the files of machines that were not asked for.

        A value is encoded only now, so that what was computed from it meanwhile is stored as well.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, (digest, computed) in self.new.items():
            cache_file.write(self.folder / name, self.encode(computed), digest)
        for path in self.folder.iterdir():
            if NAME.fullmatch(path.name) and path.name not in self.used:
                path.unlink(missing_ok=True)


def _digest(machine: Path, key: str) -> str:
    digest = hashlib.blake2b(f"{_package_digest()} {key}".encode(), digest_size=16)
    for path in sorted(filter(Path.is_file, machine.iterdir())):
        digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _package_digest() -> str:
    """Digest of the code, tables and libraries that the values depend on."""
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    digest = hashlib.blake2b(" ".join([sys.version, *libraries]).encode(), digest_size=16)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".csv"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
