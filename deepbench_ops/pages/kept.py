"""What was made of a machine's results, kept until they, or what makes it, are others."""

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent
BROKEN = (OSError, EOFError, ValueError, TypeError, pickle.UnpicklingError)


@dataclass
class Kept:
    """Files of a folder, one for each machine; `of` is all else that they were made of.

    They are Python's own pickles, which only he should write who publishes.
    """

    folder: Path
    of: str = ""
    found: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """By the name of its file: of what it was made, and what."""

    def made(self, machine: Path, make: Callable[[], Any]) -> Any:
        """What `make` returns for a machine's folder of results, from the file if it is kept."""
        name = hashlib.blake2b(machine.name.encode(), digest_size=8).hexdigest()
        digest = _digest(machine, self.of)
        self.found[name] = digest, self._read(name, digest) or make()
        return self.found[name][1]

    def _read(self, name: str, digest: str) -> Any:
        try:
            with (self.folder / name).open("rb") as file:
                return pickle.load(file) if file.readline().decode().strip() == digest else None
        except BROKEN:
            return None

    def write(self) -> None:
        """Keep what was asked for, with all that was worked out of it meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, (digest, content) in self.found.items():
            unfinished = self.folder / f"{name}.partial"
            unfinished.write_bytes(f"{digest}\n".encode() + pickle.dumps(content))
            unfinished.replace(self.folder / name)
        for path in self.folder.iterdir():
            if path.name not in self.found:
                path.unlink()


def _digest(machine: Path, of: str) -> str:
    digest = hashlib.blake2b(f"{_package()} {of}".encode(), digest_size=16)
    for path in sorted(filter(Path.is_file, machine.iterdir())):
        digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _package() -> str:
    """What this package is made of: with other code or tables nothing kept is valid."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".csv"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
