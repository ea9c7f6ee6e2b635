"""Virtual environment of one release: made once, and not changed afterwards.

An environment either holds exactly the packages in its marker file, or does not count: the marker
is written last, so an interrupted install is found out and done again. Packages are taken as wheels
only, because a framework compiled here would be another build than the one released.

pip's own configuration decides where packages come from; a row of the table may add one index.
torch's CUDA builds are installed without some packages for GPUs where there is none
(`torch_requirements_without_gpu`).
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

import deepbench_ops
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.machine_facts import accelerators
from deepbench_ops.measure import fingerprint, yardstick
from deepbench_ops.releases import (
    credentials,
    release_from_wheel_file,
    torch_requirements_without_gpu,
)
from deepbench_ops.releases.command_output import CommandFailed, command_output
from deepbench_ops.releases.project_and_plugin_wheels import copied, pip_arguments, this_project
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write, locks

RUNNER = "asv_runner==0.3.2"
YARDSTICK = f"{yardstick.WHEEL}=={yardstick.WHEEL_VERSION}"
"""The fixed workload of the yardstick: the same wheel in every environment, whatever it holds."""

MARKER = fingerprint.ENVIRONMENT
ORIGIN = "direct_url.json"
"""pip's file, in the metadata of a package that was installed from a file, with its URL."""
COPIED = "copied"
"""The marker's key for the distributions copied from here, which alone can be replaced later."""
WHEEL = "wheel"
"""The marker's key for the digest of the file that a release was installed from."""
WHERE = "import sysconfig; print(sysconfig.get_path('purelib'))"
COMPILE = """
import compileall, sysconfig
compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2, workers=0)
"""
IMPORT = "import {0}, importlib.metadata as m; print(m.version('{0}'))"


class InstallError(DeepbenchError):
    """A release could not be installed."""


@dataclass(frozen=True)
class Installation:
    """The environment of one release: its place and its packages."""

    release: Release
    folder: Path
    """Holds the environments of all releases."""
    project: Path | None
    """Checkout of this project, installed editable, so that its changes reach every release; None
    where it was installed from a wheel, which is copied."""
    timeout: float = 3600.0
    """Seconds an install may be silent."""

    @property
    def path(self) -> Path:
        """Folder of the environment."""
        return self.folder / self.release.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        scripts, suffix = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
        return self.path / scripts / f"python{suffix}"

    @property
    def log(self) -> Path:
        """File with the tools' output of an install that failed; absent otherwise."""
        return self.folder / f"{self.release.name}.log"

    @property
    def requirements(self) -> tuple[str, ...]:
        """The release, its pins, asv_runner and the yardstick's wheel, as pip takes them."""
        return (self.release.requirement, *self.release.pins, RUNNER, YARDSTICK)

    @property
    def announcement(self) -> str:
        """A line for the user before the environment is made."""
        packages = " ".join(self.requirements)
        return f"installing {self.release.name} in {self.folder}, to measure it there: {packages}"

    def contents(self) -> dict[str, object]:
        """Return the packages that the environment must hold, as its marker records them."""
        wheel = release_from_wheel_file.digest_of(self.release)
        return {
            "requirements": list(self.requirements),
            "index": self.release.index,
            "project": str(self.project or ""),
            "python": f"{sys.version_info.major}.{sys.version_info.minor}",
            **({WHEEL: wheel} if wheel else {}),
            COPIED: list(self._copied()),
        }

    def _copied(self) -> dict[str, metadata.Distribution]:
        return copied() if self.project else this_project() | copied()

    def is_complete(self) -> bool:
        """Return whether the environment holds all that it must."""
        marker = self._marker()
        return self._is_sound(marker) and marker.get(COPIED) == self.contents()[COPIED]

    def _marker(self) -> dict[str, object]:
        """Return the packages in the environment's marker file, {} without one."""
        try:
            marker = json.loads((self.path / MARKER).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return marker if isinstance(marker, dict) else {}

    def _is_sound(self, marker: dict[str, object]) -> bool:
        """Whether it holds the required packages and no others, copied distributions aside."""
        own = {key: value for key, value in marker.items() if key not in (COPIED, "left_out")}
        wanted = self.contents()
        if WHEEL not in wanted:  # the file is gone, and the environment may stay
            own.pop(WHEEL, None)
        names = [_names(copies) for copies in (marker.get(COPIED, []), wanted.pop(COPIED))]
        fits = not marker.get("left_out") or self._without_gpu()
        return own == wanted and names[0] <= names[1] and fits and self.python.exists()

    def ensure(self) -> None:
        """Make the environment unless it is complete.

        Raises
        ------
        InstallError
            It could not be made; its unfinished folder is removed.
        DeepbenchError
            Another process holds its lock for as long as an installation may be silent.
        """
        if self.is_complete():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with environment_lock(self.folder, self.release.name, "installing", self.timeout):
            if self.is_complete():
                return
            marker = self._marker()
            if self._is_sound(marker):
                self._copy()
                self._write_marker(marker)
            else:
                self._make()

    def _make(self) -> None:
        done = False
        try:
            if self.path.exists():
                remove(self.path)
            if self.path.exists():
                raise self._failure(f"{self.path} cannot be removed: remove it", "")
            self._create()
            left_out = self._install()
            self._check()
            self._write_marker({"left_out": left_out} if left_out else {})
            self.log.unlink(missing_ok=True)
            done = True
        finally:
            if not done:
                remove(self.path)

    def _write_marker(self, more: dict[str, object]) -> None:
        atomic_write.write_text(self.path / MARKER, json.dumps(more | self.contents(), indent=1))

    def _create(self) -> None:
        # The bundled setuptools lets this project be installed without fetching a build tool.
        arguments = ("--no-periodic-update", "--setuptools=bundle", "-p", sys.executable)
        self._run(sys.executable, "-m", "virtualenv", *arguments, str(self.path))

    def _install(self) -> list[str]:
        """Fill the environment; return the requirements of the framework that are left out."""
        left_out = self._install_lean() if self._without_gpu() else self._install_all()
        self._compile()
        own = ("--no-build-isolation", "--editable", str(self.project)) if self.project else ()
        self._copy(own)
        return left_out

    def _copy(self, more: tuple[str, ...] = ()) -> None:
        """Install distributions as they are installed here, another build of a version too.

        more: further arguments for pip, which is started once, since each start takes a second.
        """
        with tempfile.TemporaryDirectory() as folder:
            wanted = [*more]
            for distribution in self._copied().values():
                try:
                    wanted += pip_arguments(distribution, Path(folder))
                except DeepbenchError as error:
                    raise self._failure(str(error), str(error)) from None
            self._pip("--no-deps", "--no-index", "--force-reinstall", *wanted)

    def _without_gpu(self) -> bool:
        return self.release.framework == "torch" and not accelerators()

    def _install_all(self) -> list[str]:
        _, *others = self.requirements
        self._get(release_from_wheel_file.requirement(self.release), *others)
        return []

    def _install_lean(self) -> list[str]:
        _, *others = self.requirements
        framework = release_from_wheel_file.requirement(self.release)
        self._get("--no-deps", framework)
        kept, left_out = torch_requirements_without_gpu.split(self._required())
        self._get(*others, *kept)
        try:
            self._check()
        except InstallError:
            return self._install_all()
        return torch_requirements_without_gpu.absent(left_out, self._installed())

    def _required(self) -> list[str]:
        """Return the requirements in the installed framework's metadata."""
        found = self._installed()
        if self.release.framework not in found:
            raise self._failure("its metadata are not where packages lie", " ".join(found))
        return found[self.release.framework].requires or []

    def _installed(self) -> dict[str, metadata.Distribution]:
        """Return the installed packages by normalised name."""
        where = self._run(str(self.python), "-c", WHERE).splitlines()[-1:]
        return {canonicalize_name(d.name): d for d in metadata.distributions(path=where)}

    def _get(self, *wanted: str) -> None:
        """Install wheels: by uv where there is one, which is faster; else, or if it fails, by pip,
        whose configuration uv does not read.
        """
        options = ("--only-binary=:all:", *index_options(self.release))
        uv = shutil.which("uv")
        if uv is not None:
            with contextlib.suppress(InstallError):
                into = ("--quiet", "--python", str(self.python))
                self._run(uv, "pip", "install", *into, *options, *wanted)
                return
        self._pip("--no-compile", *options, *wanted)

    def _compile(self) -> None:
        """Compile all modules, so that no measured process does: on all cores, where pip would use
        one, and uv leaves it out."""
        self._run(str(self.python), "-c", COMPILE)

    def _pip(self, *wanted: str) -> None:
        quiet = ("--no-input", "--progress-bar=off")
        self._run(str(self.python), "-m", "pip", "install", *quiet, *wanted)

    def _check(self) -> None:
        """Import the framework: a wheel may install and still lack a library of this system."""
        said = self._run(str(self.python), "-c", IMPORT.format(self.release.framework))
        found = said.split()[-1]
        if _public(found) != _public(self.release.version):
            raise self._failure(f"version {found} was installed instead", said)
        self._check_origin()

    def _check_origin(self) -> None:
        """Refuse another build of the same version than the wheel that the release is of."""
        file = release_from_wheel_file.file_of(self.release)
        if file is None:
            return
        text = self._installed()[canonicalize_name(self.release.framework)].read_text(ORIGIN) or ""
        url = json.loads(text)["url"] if text else ""
        if release_from_wheel_file.path_of(url).resolve() != file.resolve():
            raise self._failure(f"{url or 'a wheel of an index'} was installed, not {file}", text)

    def _run(self, *command: str) -> str:
        # PIP_USER and PYTHONPATH of the caller would install or import outside the environment.
        env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        env |= {"PIP_USER": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        try:
            return command_output(command, self.folder, env, self.timeout)
        except CommandFailed as error:
            if error.silent:
                why = f"no output for {self.timeout:g} s; raise install_timeout in asv.conf.json"
            else:
                why = failure_line(error.output)
            raise self._failure(why, error.output) from None
        except (OSError, subprocess.SubprocessError) as error:
            raise self._failure(str(error), str(error)) from None

    def _failure(self, why: str, said: str) -> InstallError:
        atomic_write.write_text(self.log, credentials.hidden(said))
        pins = " ".join((self.release.requirement, *self.release.pins))
        return InstallError(
            f"{self.release.name} is not installed ({pins}): {why} [all output: {self.log}]"
        )


def _public(version: str) -> Version | str:
    """Return a version without its build, such as +cpu; one that is none as it stands."""
    try:
        return Version(Version(version).public)
    except InvalidVersion:
        return version.partition("+")[0]


def _names(copies: object) -> set[str]:
    """Return the names in a list of name==version, some with a digest."""
    listed = copies if isinstance(copies, list) else []
    return {str(copy).partition("==")[0] for copy in listed}


@contextlib.contextmanager
def environment_lock(folder: Path, name: str, doing: str, most: float) -> Iterator[None]:
    """Hold the lock of a release's environment: no other process makes or removes it meanwhile.

    doing: the work, for the message of a process that waits. most: seconds to wait. Raises
    DeepbenchError after them. The file that is locked stays: removing it would split the lock.
    """
    with locks.in_turn(folder, f"{doing} {name}", f"{name}.lock", most):
        yield


def remove(environment: Path) -> None:
    """Remove an environment's folder, its marker first: a part that stays does not count."""
    with contextlib.suppress(OSError):
        (environment / MARKER).unlink(missing_ok=True)
    shutil.rmtree(environment, ignore_errors=True)


def index_options(release: Release) -> tuple[str, ...]:
    """Return pip's options for a release's own index, which may be a folder of wheels, or a wheel
    whose folder may have companions."""
    if not release.index:
        return ()
    if not release.index.startswith("file:"):
        return "--extra-index-url", release.index
    place = release_from_wheel_file.path_of(release.index)
    folder = place.parent if place.suffix == ".whl" else place
    return "--find-links", folder.as_uri()


def failure_line(output: str) -> str:
    """Return the line with the reason of a failure from the output of pip or Python."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    reasons = [line for line in errors if not line.startswith("ResolutionImpossible")]
    word = (reasons or errors or lines or ["it said nothing"])[-1]
    if any(line.startswith("WARNING: Retrying") for line in lines):
        word = f"the package index could not be reached; {word}"
    return credentials.hidden(word)


def project_root() -> Path | None:
    """Return the checkout that this package is imported from; None where pip installed it.

    Raises DeepbenchError where it is neither.
    """
    root = Path(deepbench_ops.__file__).resolve().parents[1]
    if (root / "pyproject.toml").is_file():
        return root
    this_project()
    return None
