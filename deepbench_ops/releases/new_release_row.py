"""New rows of the release table that a user asks for, tried with pip before they are written."""

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from deepbench_ops.backends import NAMES
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import (
    companion_pins,
    credentials,
    release_from_wheel_file,
    release_table,
)
from deepbench_ops.releases.environment_install import failure_line, index_options
from deepbench_ops.releases.package_index import Index
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write


def requested(text: str) -> tuple[str, Version]:
    """Return framework and version of ``torch==2.15.0``; DeepbenchError for anything else."""
    try:
        wanted = Requirement(text)
        (only,) = wanted.specifier
        version = Version(only.version)
    except (InvalidRequirement, InvalidVersion, ValueError):
        raise DeepbenchError(f"{text!r} is no exact release: write it like torch==2.15.0") from None
    if only.operator != "==" or wanted.name not in NAMES:
        raise DeepbenchError(
            f"{text!r} is no exact release of one of {', '.join(NAMES)}: write it like"
            " torch==2.15.0"
        )
    return wanted.name, version


def demand_new(framework: str, version: Version, path: Path) -> None:
    """Raise DeepbenchError for a release that the table at `path` has already."""
    for known in release_table.load(path):
        if known.framework == framework and Version(known.version) == version:
            raise DeepbenchError(f"{known.name} is in {path} already")


def listed(
    framework: str,
    version: Version,
    pins: tuple[str, ...] | None,
    day: datetime.date | None,
    index_url: str = "",
) -> Release:
    """Return the row of a release of the package index, or of a further one at `index_url`.

    pins: None for companions of the day. day: None for the index's own.
    Raises DeepbenchError where the index has no such release, or a companion is missing.
    """
    index = Index()
    if day is None:
        days = index.releases(framework)
        if version not in days:
            near = ", ".join(str(v) for v in sorted(days)[-3:])
            raise DeepbenchError(
                f"{framework} {version} is not on the package index for this Python, or yanked (the"
                f" newest: {near}): give --date with --index for another index, or --wheel"
            )
        day = days[version]
    if pins is not None:
        return Release(framework, str(version), day, pins, True, index_url)
    same = None
    if index_url and version.is_devrelease:
        same = companion_pins.build_of(framework, version, index, index_url)
    made = companion_pins.row(framework, version, day, index, same)
    if made is None:
        raise DeepbenchError(f"{framework} {version}: no companion installs here: give --pins")
    return Release(framework, str(version), day, made.pins, made.on_request, index_url)


def of_interpreter(
    framework: str,
    version: Version,
    pins: tuple[str, ...],
    day: datetime.date | None,
) -> Release:
    """Return the row of a release that an interpreter of this machine holds.

    pins: its companions as they are there. day: None for that of deepbench's own table, or of the
    package index. Raises DeepbenchError where neither has the release.
    """
    same = (
        each
        for each in release_table.load()
        if each.framework == framework and Version(each.version).public == version.public
    )
    known = next(same, None)
    if day is None and known is not None:
        return known
    if day is None:
        try:
            day = Index().releases(framework).get(version)
        except DeepbenchError:
            day = None
    if day is None:
        raise DeepbenchError(
            f"the day on which {framework} {version} came out is not known here: give --date"
        )
    return Release(framework, str(version), day, pins, True)


def from_wheel(
    framework: str,
    version: Version,
    path: Path,
    pins: tuple[str, ...] | None,
    day: datetime.date | None,
    known: Path,
) -> Release:
    """Return the row of a wheel on disk; its address stands in for that of an index.

    pins: None for those of the newest release in the table `known`. day: None for the file's own.

    Raises DeepbenchError for a wheel of another version, and without pins where no release is
    listed.
    """
    ours = [each for each in release_table.measurable(known) if each.framework == framework]
    if not ours and pins is None:
        raise DeepbenchError(f"no release of {framework} is listed to take pins from: give --pins")
    like = ours[-1] if ours else Release(framework, str(version), datetime.date.min)
    found = release_from_wheel_file.read(path, like)
    if Version(found.version) != version:
        raise DeepbenchError(f"{path} is version {found.version}, not {version}")
    return Release(
        framework,
        str(version),
        day or found.date,
        found.pins if pins is None else pins,
        True,
        Path(os.path.abspath(path)).as_uri(),  # noqa: PTH100 (a link may have the wheel's name)
    )


def built(source: str, folder: Path, framework: str) -> Path:
    """Build a wheel of a VCS address or a source folder, and return it.

    Built here, with this machine's compiler: another build than the one that is released.

    Raises DeepbenchError where there is no source, where pip does not build it, and where `folder`
    has a wheel of that name, which stays as it is.
    """
    shown = credentials.hidden(source)
    if "://" not in source and not source.startswith("git+"):
        if not Path(source).is_dir():
            raise DeepbenchError(f"{shown}: no such folder, and no address such as git+https://...")
        source = str(Path(source).resolve())  # pip takes a bare name for a project of its index
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{framework}.log"
    with tempfile.TemporaryDirectory(dir=folder) as new:
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-input", "-w", new]
        done = subprocess.run([*command, source], capture_output=True, text=True)
        if done.returncode:
            atomic_write.write_text(log, credentials.hidden(f"{done.stdout}\n{done.stderr}"))
            raise DeepbenchError(
                f"{framework} is not built from {shown}: {failure_line(done.stderr)}"
                f" [all output: {log}]"
            )
        log.unlink(missing_ok=True)
        (wheel,) = Path(new).glob("*.whl")
        made = folder / wheel.name
        if made.exists():
            raise DeepbenchError(
                f"{shown} was built before: give --wheel {made}, or remove that file first"
            )
        return wheel.rename(made)


def demand_solvable(release: Release) -> None:
    """Raise DeepbenchError unless pip finds the release and its pins, none of them yanked.

    Nothing is installed; where an index offers no metadata apart, wheels are downloaded for it.
    """
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
    command += ["--no-input", "--quiet", "--only-binary=:all:", "--report", "-"]
    wanted = release_from_wheel_file.requirement(release)
    command += [*index_options(release), wanted, *release.pins]
    done = subprocess.run(command, capture_output=True, text=True)
    pins = " ".join((release.requirement, *release.pins))
    if done.returncode:
        raise DeepbenchError(f"{release.name} is not added ({pins}): {failure_line(done.stderr)}")
    for part in json.loads(done.stdout)["install"]:
        if part.get("is_yanked"):
            about = part["metadata"]
            raise DeepbenchError(
                f"{release.name} is not added ({pins}): {about['name']} {about['version']} has been"
                " yanked"
            )


def add(release: Release, path: Path) -> None:
    """Add a row to the table at `path`.

    Raises DeepbenchError where pip cannot install the release with its pins, or it is listed.
    """
    demand_new(release.framework, Version(release.version), path)
    demand_solvable(release)
    if not release_table.append(path, [release]):
        raise DeepbenchError(f"{release.name} was added to {path} by another command meanwhile")
