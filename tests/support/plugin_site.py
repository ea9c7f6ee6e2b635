"""The distribution of tests/plugin and the library of its framework, as pip would install them."""

import shutil
import zipfile
from pathlib import Path

import wheelhouse

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"

LIBRARY = """import numpy

__version__ = {version!r}


def axpy(factor, x, y, scratch):
    for _ in range({times}):
        numpy.multiply(x, factor, scratch)
    numpy.add(y, scratch, y)
"""
TIMES = {"1.0.0": 8, "2.0.0": 1}
"""Multiplications of each release of toy: the first one does seven for nothing."""


def install(folder: Path, version: str = "2.0.0") -> Path:
    """Put the distribution and a release of its framework's library into a folder."""
    shutil.copytree(PLUGIN, folder, ignore=shutil.ignore_patterns("__pycache__"))
    record(folder, folder / "deepbench_axpy-1.0.dist-info")
    with zipfile.ZipFile(library(folder, version)) as archive:
        archive.extractall(folder)
    return folder


def record(folder: Path, info: Path) -> None:
    """List the installed files of the distribution as pip does, in the folder of its metadata."""
    found = (*folder.glob("deepbench_*/**/*"), *info.glob("*"))
    files = sorted({path for path in found if path.is_file()})
    rows = [f"{path.relative_to(folder)},," for path in files if path.name != "RECORD"]
    (info / "RECORD").write_text("\n".join(rows))


def library(folder: Path, version: str) -> Path:
    """Write a wheel of the framework's library, and return its path."""
    source = LIBRARY.format(version=version, times=TIMES[version])
    return wheelhouse.build(folder, "toy", version, source, "numpy")
