"""Collect the wheels that deepbench needs on a machine without network, in one folder.

python scripts/collect_wheels.py --python-version 3.12 --python-version 3.13

The folder gets the wheels that `pip install '.[track]'` would download for these versions of Python
on Linux, x86-64, and pip and setuptools. numpy and scipy are left out, since environments of
frameworks contain them; `--also scipy` adds scipy. The exit status is 1 if the folder is larger
than the limit.
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
"""Large packages that every environment of a framework contains."""

MOST_MIB = 64.0
PLATFORMS = tuple(
    f"manylinux{name}_x86_64" for name in ("_2_28", "_2_27", "_2_24", "_2_17", "2014", "1")
)
"""Names of platforms: pip accepts a wheel only for a platform named exactly."""


def requirements(pyproject: Path = ROOT / "pyproject.toml") -> list[str]:
    """Return the dependencies of the commands in pyproject.toml, and the tools that install
    them."""
    project = tomllib.loads(pyproject.read_text("utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"][EXTRA], *TOOLS]


def options(version: str) -> list[str]:
    """Return pip's options for wheels of a version of Python on Linux, x86-64."""
    platforms = [text for name in PLATFORMS for text in ("--platform", name)]
    return ["--only-binary=:all:", "--implementation=cp", "--python-version", version, *platforms]


def pip(*arguments: str) -> None:
    """Run pip of this interpreter. Raises CalledProcessError if it fails."""
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments],
        check=True,
    )


def resolved(wanted: Sequence[str], version: str) -> list[str]:
    """Return name==version of all packages to be installed, dependencies included."""
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
    """Return the size of the wheels in a folder, in MiB."""
    return sum(wheel.stat().st_size for wheel in folder.glob("*.whl")) / 2**20


def main() -> None:
    """Collect the wheels, and report their size."""
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
