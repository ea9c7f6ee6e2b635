"""What was made of a machine's results, kept until they, or what makes it, are others."""

import hashlib
import os
import pickle
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent
COMPUTING = ("asv", "numpy", "scipy")
"""What beside this package decides what comes out."""

NAME = re.compile(r"[0-9a-f]{16}(\.\w+)?")
"""Of the files here, unfinished ones too."""


@dataclass
class Kept:
    """Files of a folder, one for each machine; `of` is all else that they were made of.

    They are Python's own pickles, which only he should write who publishes.
    """

    folder: Path
    of: str = ""
    asked: set[str] = field(default_factory=set)
    """Names of the files of all machines that were asked for."""
    new: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """By the name of its file: of what it was made now, and what."""

    def made(self, machine: Path, make: Callable[[], Any]) -> Any:
        """What `make` returns for a machine's folder of results, from the file if it is kept."""
        name = hashlib.blake2b(machine.name.encode(), digest_size=8).hexdigest()
        digest = _digest(machine, self.of)
        self.asked.add(name)
        content = self._read(name, digest)
        if content is None:
            content = make()
            self.new[name] = digest, content
        return content

    def _read(self, name: str, digest: str) -> Any:
        try:
            with (self.folder / name).open("rb") as file:
                return pickle.load(file) if file.readline().decode().strip() == digest else None
        except Exception:  # there is hardly one that unpickling what is broken does not raise
            return None

    def write(self) -> None:
        """Keep what was made, with all that was worked out of it meanwhile, and of machines that
        nobody asked for nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, (digest, content) in self.new.items():
            unfinished = self.folder / f"{name}.{os.getpid()}"
            unfinished.write_bytes(f"{digest}\n".encode() + pickle.dumps(content))
            unfinished.replace(self.folder / name)
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
    """What makes it: with other code, tables or libraries nothing kept is valid."""
    libraries = [f"{name} {version(name)}" for name in COMPUTING]
    digest = hashlib.blake2b(" ".join([sys.version, *libraries]).encode(), digest_size=16)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".csv"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
