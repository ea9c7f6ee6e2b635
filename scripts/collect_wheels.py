"""Wheels that deepbench needs where nothing can be downloaded, in a folder to carry there.

python scripts/collect_wheels.py --python-version 3.12 --python-version 3.13

The folder gets what `pip install '.[track]'` would download for these versions of Python on Linux,
x86-64, with pip and setuptools, but for what a framework brings anyway: numpy and scipy. `--also
scipy` adds it. Exits with 1 where the folder grows beyond the limit.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "wheels"
EXTRA = "track"
TOOLS = ("pip", "setuptools>=77")
BROUGHT = ("numpy", "scipy")
"""Packages that are in every environment of a framework, and are large."""

MOST_MIB = 64.0
PLATFORMS = tuple(
    f"manylinux{name}_x86_64" for name in ("_2_28", "_2_27", "_2_24", "_2_17", "2014", "1")
)
"""pip takes each of them by its exact name alone."""


def requirements(pyproject: Path = ROOT / "pyproject.toml") -> list[str]:
    """Return what the commands need, as pyproject.toml lists it, and the tools that install it."""
    project = tomllib.loads(pyproject.read_text("utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"][EXTRA], *TOOLS]


def options(version: str) -> list[str]:
    """Return pip's options for wheels of a version of Python on Linux, x86-64."""
    platforms = [text for name in PLATFORMS for text in ("--platform", name)]
    return ["--only-binary=:all:", "--implementation=cp", "--python-version", version, *platforms]


def pip(*arguments: str) -> None:
    """Run pip of this interpreter; CalledProcessError where it fails."""
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments],
        check=True,
    )


def resolved(wanted: Sequence[str], version: str) -> list[str]:
    """Return name==version of all that would be installed, dependencies too."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        where = ["--dry-run", "--ignore-installed", "--target", folder, "--report", str(report)]
        pip("install", *where, *options(version), *wanted)
        found = json.loads(report.read_text("utf-8"))["install"]
    return [f"{each['metadata']['name']}=={each['metadata']['version']}" for each in found]


def collect(folder: Path, versions: Iterable[str], also: Sequence[str] = ()) -> None:
    """Download the wheels for some versions of Python into a folder."""
    left_out = set(BROUGHT) - set(also)
    for version in versions:
        pins = resolved([*requirements(), *also], version)
        kept = [pin for pin in pins if pin.partition("==")[0].lower() not in left_out]
        pip("download", "--no-deps", "--dest", str(folder), *options(version), *kept)


def size(folder: Path) -> float:
    """Return the MiB of the wheels in a folder."""
    return sum(wheel.stat().st_size for wheel in folder.glob("*.whl")) / 2**20


def main() -> None:
    """Collect, and report the size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--python-version", action="append", metavar="3.12")
    parser.add_argument("--also", action="append", default=[], metavar="PACKAGE")
    parser.add_argument("--limit", type=float, default=MOST_MIB, metavar="MIB")
    given = parser.parse_args()
    collect(given.folder, given.python_version or ["3.12"], given.also)
    total = size(given.folder)
    print(f"{len(list(given.folder.glob('*.whl')))} wheels, {total:.1f} MiB in {given.folder}")
    if total > given.limit:
        sys.exit(
            f"more than {given.limit:g} MiB: empty the folder, and collect for fewer versions of"
            " Python, or without --also"
        )


if __name__ == "__main__":
    main()
