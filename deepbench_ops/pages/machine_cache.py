"""Values computed of a machine's results, stored until the results or the code change."""

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

from deepbench_ops.storage import cache as stored

PACKAGE = Path(__file__).parent.parent
COMPUTING = ("asv", "numpy", "scipy")
"""The libraries that decide the result, next to this package."""

NAME = re.compile(r"[0-9a-f]{16}(\.\w+)?|\.[0-9a-f]{16}\.\w+\.unfinished")
"""Of the files here, unfinished ones too."""

Computed = TypeVar("Computed")


@dataclass
class Kept(Generic[Computed]):
    """Files of a folder, one for each machine.

    of: everything that the values depend on besides the machine's files and the code.
    encoded, decoded: from a value to JSON's types and back. `decoded` raises LookupError, TypeError
    or ValueError for JSON that is no such value.
    """

    folder: Path
    of: str = ""
    encoded: Callable[[Computed], Any] = lambda value: value
    decoded: Callable[[Any], Computed] = lambda value: value
    asked: set[str] = field(default_factory=set)
    """Names of the files of all machines that were asked for."""
    new: dict[str, tuple[str, Computed]] = field(default_factory=dict)
    """New values by the name of their file: the digest of the inputs, and the value."""

    def made(self, machine: Path, make: Callable[[], Computed]) -> Computed:
        """Return the value of a machine's folder of results: from its file if that is valid, else
        from `make`."""
        name = hashlib.blake2b(machine.name.encode(), digest_size=8).hexdigest()
        digest = _digest(machine, self.of)
        self.asked.add(name)
        found = stored.read(self.folder / name, digest)
        if found is not None:
            with suppress(LookupError, TypeError, ValueError, AttributeError):
                return self.decoded(found)
        made = make()
        self.new[name] = digest, made
        return made

    def write(self) -> None:
        """Store the new values, with all that was computed of them meanwhile, and remove the files
        of machines that were not asked for."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, (digest, made) in self.new.items():
            stored.write(self.folder / name, self.encoded(made), digest)
        for path in self.folder.iterdir():
            if NAME.fullmatch(path.name) and path.name not in self.asked:
                path.unlink(missing_ok=True)


def _digest(machine: Path, of: str) -> str:
    digest = hashlib.blake2b(f"{_package()} {of}".encode(), digest_size=16)
    for path in sorted(filter(Path.is_file, machine.iterdir())):
        digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _package() -> str:
    """Return a digest of the code, tables and libraries that decide the values."""
    libraries = [f"{name} {version(name)}" for name in COMPUTING]
    digest = hashlib.blake2b(" ".join([sys.version, *libraries]).encode(), digest_size=16)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".csv"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
