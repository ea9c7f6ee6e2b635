"""File systems that are full, in place of a folder."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, size: str = "1m") -> Iterator[None]:
    """A small file system of its own in place of a folder, with its content; size: as of mount."""
    content = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    folder.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder]).returncode:
        pytest.skip("only root may mount here")
    try:
        for path, kept in content.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(kept)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(path: Path) -> None:
    """Write a file until the disk is full."""
    with suppress(OSError), path.open("wb", buffering=0) as filler:
        while filler.write(bytes(1024)):
            pass
