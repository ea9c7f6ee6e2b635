"""A release in an existing interpreter of this machine, measured as it is installed there.

Nothing is written into that interpreter's environment. Packages that measuring needs and it lacks
are linked into a folder of the release's own, which is on the path of modules while it is measured:
the environment's `python` is a script that starts the interpreter with that path. Which interpreter
a release has is kept next to the environments, in `interpreters.json`.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import Version

from deepbench_ops import process_messages
from deepbench_ops.backends import framework_list
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import fingerprint
from deepbench_ops.releases.environment_install import RUNNER, YARDSTICK, Installation, InstallError
from deepbench_ops.releases.project_and_plugin_wheels import PROJECT, THREADPOOLCTL, installed
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write, locks

FILE = "interpreters.json"
SITE = "site"
"""Folder, in a release's environment, of the packages that its interpreter lacks."""

NUMPY = "numpy"
OLDEST = (3, 11)
OWN_PACKAGES = ("deepbench_ops", "asv_bench_deepbench")

PROBE = """
import importlib.metadata as m, json, sys
import {framework}
def version(name):
    try:
        return m.version(name)
    except m.PackageNotFoundError:
        return ""
names = json.loads(sys.argv[1])
versions = {{name: version(name) for name in names}}
print(json.dumps({{"python": list(sys.version_info[:3]), "versions": versions}}))
"""


@dataclass(frozen=True)
class InstalledPackages:
    """Versions of the Python of an interpreter, and of its packages, "" for a missing one."""

    python: tuple[int, ...]
    versions: dict[str, str]


def probed(python: Path, framework: str) -> InstalledPackages:
    """Return the packages of an interpreter that has imported the framework.

    Raises DeepbenchError where it cannot be started, is too old, or lacks the framework or numpy.
    """
    if not os.access(python, os.X_OK) or python.is_dir():
        raise DeepbenchError(f"{python}: no such interpreter: give the path of a python")
    companions = framework_list.found()[0][framework].companions
    names = [framework, NUMPY, *companions, *map(_name, (RUNNER, YARDSTICK)), THREADPOOLCTL]
    command = [str(python), "-c", PROBE.format(framework=framework), json.dumps(names)]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        answer = None if done.returncode else process_messages.last_printed(done.stdout)
    except (OSError, ValueError) as wrong:
        raise DeepbenchError(f"{python}: is no Python interpreter: {wrong}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise DeepbenchError(f"{python}: {framework} cannot be imported: {last}")
    if answer is None:
        raise DeepbenchError(f"{python}: is no Python interpreter: it printed no answer")
    found = InstalledPackages(tuple(answer["python"]), answer["versions"])
    if found.python < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise DeepbenchError(f"{python}: is Python {_text(found)}: {wanted} or later is needed")
    if not found.versions[NUMPY]:
        raise DeepbenchError(f"{python}: numpy is missing, which every measurement needs")
    return found


@cache
def probed_once(python: Path, framework: str) -> InstalledPackages:
    """Return the same, asked for once in a run, since a large framework takes seconds to import."""
    return probed(python, framework)


def demand_version(python: Path, release: Release, found: InstalledPackages) -> None:
    """Raise DeepbenchError where an interpreter holds another version of the framework.

    A part such as ``+cu130`` names a build of the same version.
    """
    held = found.versions[release.framework]
    if not held:
        raise DeepbenchError(
            f"{python}: {release.framework} is of unknown version there, not {release.version}:"
            " install it again with pip"
        )
    if Version(held).public != Version(release.version).public:
        raise DeepbenchError(
            f"{python}: {release.framework} is {held} there, not {release.version}: give the"
            f" version that it has: deepbench release add {release.framework}=="
            f"{Version(held).public} --python {python}"
        )


def pins(framework: str, found: InstalledPackages) -> tuple[str, ...]:
    """Return the companions of a framework as an interpreter holds them."""
    names = framework_list.found()[0][framework].companions
    held = {name: found.versions[name] for name in names if found.versions[name]}
    return tuple(f"{name}=={Version(version).public}" for name, version in held.items())


def missing(found: InstalledPackages) -> list[str]:
    """Return the packages for measuring that an interpreter lacks or has in another version."""
    pinned = {_name(pin): pin.partition("==")[2] for pin in (RUNNER, YARDSTICK)}
    others = [name for name, version in pinned.items() if found.versions[name] != version]
    return others + ([] if found.versions[THREADPOOLCTL] else [THREADPOOLCTL])


def _text(found: InstalledPackages) -> str:
    return ".".join(map(str, found.python))


def _name(pin: str) -> str:
    return pin.partition("==")[0]


@dataclass(frozen=True)
class InstalledRelease(Installation):
    """Environment of a release that an existing interpreter holds."""

    interpreter: Path = Path()

    @property
    def announcement(self) -> str:
        """A line before the environment is made."""
        return f"{self.release.name} is measured as it is installed for {self.interpreter}"

    def contents(self) -> dict[str, object]:
        """Return the required contents of the folder, as its marker records them."""
        return {
            "release": self.release.requirement,
            "interpreter": str(self.interpreter),
            "project": str(self.project or ""),
            "links": sorted(installed()),
            "environment": "an interpreter of this machine, packages as they were found",
        }

    def is_complete(self) -> bool:
        """Return whether the folder holds all that it must, and the interpreter is there."""
        links = (self.path / SITE).glob("*")
        whole = self.interpreter.exists() and self.python.exists()
        return whole and self._marker() == self.contents() and all(one.exists() for one in links)

    def ensure(self) -> None:
        """Make the folder unless it is complete.

        Raises InstallError where the interpreter no longer holds the release, such as after an
        upgrade: the times of another version would be filed under this one.
        """
        try:
            found = probed_once(self.interpreter, self.release.framework)
            demand_version(self.interpreter, self.release, found)
        except DeepbenchError as wrong:
            raise self._unmeasurable(wrong) from None
        super().ensure()

    def _unmeasurable(self, wrong: DeepbenchError) -> InstallError:
        return InstallError(f"{self.release.name} cannot be measured: {wrong}")

    def _is_sound(self, marker: dict[str, object]) -> bool:
        """Return False: an incomplete folder is made from the start, which takes no time."""
        return False

    def _create(self) -> None:
        (self.path / SITE).mkdir(parents=True)

    def _install(self) -> list[str]:
        """Link the packages that the interpreter lacks, all that the framework asks for.

        Raises InstallError where one of them is not installed here.
        """
        site = self.path / SITE
        try:
            found = probed_once(self.interpreter, self.release.framework)
            lacking = [_distribution(name) for name in missing(found)]
            for distribution in (*lacking, _distribution(PROJECT), *installed().values()):
                _link(distribution, site)
        except DeepbenchError as wrong:
            raise self._unmeasurable(wrong) from None
        self._write_script(site)
        return []

    def _write_script(self, site: Path) -> None:
        lines = [
            "#!/bin/sh",
            f"PYTHONPATH={shlex.quote(str(site))}",
            f"{fingerprint.ENVIRONMENT_VARIABLE}={shlex.quote(str(self.path))}",
            "ASV_PYTHONPATH=$PYTHONPATH  # without it asv's benchmark.py drops PYTHONPATH",
            f"export PYTHONPATH ASV_PYTHONPATH {fingerprint.ENVIRONMENT_VARIABLE}",
            f'exec {shlex.quote(str(self.interpreter))} "$@"',
        ]
        self.python.parent.mkdir()
        self.python.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.python.chmod(0o755)


def _distribution(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise DeepbenchError(
            f"{name} is not installed next to deepbench ({sys.executable}): pip install {name}"
        ) from None


def _link(distribution: metadata.Distribution, site: Path) -> None:
    """Link the modules of a distribution, and its metadata, into a folder.

    Every version of Python can import them: they are written in Python alone, or load their
    library by themselves.
    """
    targets = [*_modules(distribution), *_descriptions(distribution)]
    for target in targets:
        link = site / target.name
        if not link.is_symlink():
            link.symlink_to(target.resolve())


def _modules(distribution: metadata.Distribution) -> Iterator[Path]:
    """Yield files and folders of modules; those of an editable install lie in its checkout."""
    described = (".dist-info", ".egg-info", ".pth")
    tops = {PurePosixPath(str(file)).parts[0] for file in distribution.files or ()}
    own = [
        top
        for top in sorted(tops - {"..", "__pycache__"})
        if not top.endswith(described) and not top.startswith("__editable__")
    ]
    where = [Path(str(distribution.locate_file(top))) for top in own]
    if where and all(path.exists() for path in where) and distribution.name != PROJECT:
        yield from where
        return
    tops = {point.value.partition(":")[0].partition(".")[0] for point in distribution.entry_points}
    for top in sorted(OWN_PACKAGES if distribution.name == PROJECT else tops):
        spec = find_spec(top)
        if spec is None or spec.origin is None:
            raise DeepbenchError(f"{distribution.name}: its module {top} is not found")
        origin = Path(spec.origin)
        yield origin.parent if spec.submodule_search_locations else origin


def _descriptions(distribution: metadata.Distribution) -> Iterator[Path]:
    """Yield the folder of a distribution's metadata."""
    folder = Path(str(distribution.locate_file("")))
    wanted = canonicalize_name(distribution.name)
    for path in sorted(folder.glob("*-info")):
        name = path.name.rpartition(".")[0].partition("-")[0]
        if canonicalize_name(name) == wanted:
            yield path
            return
    raise DeepbenchError(f"{distribution.name} has no metadata in {folder}: install it with pip")


# Which interpreter a release has.


def interpreters(folder: Path) -> dict[str, Path]:
    """Return the interpreters by the name of their release; {} where there are none.

    folder: of environments. Raises DeepbenchError for a damaged file.
    """
    path = folder / FILE
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): Path(python) for name, python in known.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):
        raise DeepbenchError(
            f"{path} is damaged: remove it, and add its releases again with --python"
        ) from None


def remember(folder: Path, name: str, python: Path | None) -> None:
    """Record the interpreter of a release; None removes the record."""
    if python is None and name not in interpreters(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with locks.writing(folder, doing=f"writing {FILE}"):
        known = {key: str(value) for key, value in interpreters(folder).items() if key != name}
        if python is not None:
            known[name] = str(python)
        atomic_write.write_text(folder / FILE, json.dumps(known, indent=1, sort_keys=True) + "\n")


def installation(
    release: Release, folder: Path, project: Path | None, timeout: float = 3600.0
) -> Installation:
    """Return the environment of a release: the interpreter that was named for it, or one that is
    made for it."""
    python = interpreters(folder).get(release.name)
    if python is None:
        return Installation(release, folder, project, timeout)
    return InstalledRelease(release, folder, project, timeout, python)
