"""The wheel: whole, and enough for every command in a folder away from the checkout."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_bytes
from importlib import metadata
from pathlib import Path

import processes
import pytest
import wheelhouse

from deepbench_ops import __version__, new_project
from deepbench_ops.releases.project_and_plugin_wheels import PROJECT

pytest.importorskip("asv", reason="releases are measured by asv's means")

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("deepbench_ops", "asv_bench_deepbench")
MACHINE = "wheel-test"
KERNEL = "m35_n700_k2048_NN"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the files that a build reads, with a file that an earlier build left behind."""
    folder = tmp_path_factory.mktemp("source")
    for name in (*PACKAGES, "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for machine in sorted((ROOT / "results").glob("*/")):
        if new_project.is_published(machine):
            shutil.copytree(machine, folder / "results" / machine.name)
    shutil.copy(ROOT / "results" / "benchmarks.json", folder / "results")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "asv.conf.json"):
        shutil.copy(ROOT / name, folder)
    measured = folder / "results" / "their-machine"
    measured.mkdir()
    (measured / "machine.json").write_text("{}")
    (measured / "one.measurements.jsonl.gz").touch()
    gone = folder / "build" / "lib" / "deepbench_ops" / "gone.py"
    gone.parent.mkdir(parents=True)
    gone.touch()
    return folder


def build(source, folder, kind):
    """Build a wheel or a source archive with the setuptools that are installed here."""
    code = f"import setuptools.build_meta as b; print(b.build_{kind}({str(folder)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True
    )
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    """The built wheel."""
    return build(source, tmp_path_factory.mktemp("wheel"), "wheel")


def test_the_wheel_holds_every_file_of_the_packages(source, wheel):
    """Tables, schemas, pages' files, and the first files of a new project folder."""
    files = {
        path.relative_to(source).as_posix()
        for package in PACKAGES
        for path in (source / package).rglob("*")
        if path.is_file()
    }
    begin = ("asv.conf.json", "benchmarks/__init__.py", "results/nvidia-v100/machine.json")
    files |= {f"deepbench_ops/project_files/{name}" for name in begin}
    with zipfile.ZipFile(wheel) as archive:
        found = {*archive.namelist()}
    assert set() == files - found
    assert not [name for name in found if "their-machine" in name or "gone.py" in name]
    assert wheel.stat().st_size < 5 << 20


def test_a_source_archive_builds_the_same_wheel(source, wheel, tmp_path):
    """Files outside of the packages are in it too."""
    archive = build(source, tmp_path, "sdist")
    with tarfile.open(archive) as members:
        members.extractall(tmp_path)
    again = build(tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path, "wheel")
    names = [zipfile.ZipFile(path).namelist() for path in (wheel, again)]
    assert sorted(names[0]) == sorted(names[1])


def test_its_metadata_say_what_it_is(wheel):
    """Name, authors, platforms and extras; asv_runner asks for the beginning of the name."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("dist-info/METADATA"))
        fields = message_from_bytes(archive.read(name))
    assert (PROJECT, __version__) == (fields["Name"], fields["Version"])
    assert fields["Name"].startswith("asv_bench")
    assert "deepbench contributors" == fields["Author"]
    assert "Operating System :: POSIX :: Linux" in fields.get_all("Classifier")
    assert {"track", "tables"} <= {*fields.get_all("Provides-Extra")}


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a user whose home is a folder, with the environment in it active."""
    env = {**os.environ, "HOME": str(folder)}
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "DEEPBENCH_SPOOL", "DEEPBENCH_RELEASE"):
        env.pop(name, None)
    return env | {"PATH": f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}


class Installed:
    """An environment with the wheel, and a folder that is in no checkout.

    Other packages come from the environment of the tests, and releases from a folder of wheels.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        pip = [self.bin / "python", "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
        subprocess.run([*pip, wheel], env=environment(folder), check=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
        others = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        # Behind the wheel's own package; the path files in those folders do not count.
        (packages / "tests.pth").write_text("\n".join(others), encoding="utf-8")
        script = "#!{0}\nimport sys; from asv.main import main; sys.exit(main())\n"
        (self.bin / "asv").write_text(script.format(self.bin / "python"))
        (self.bin / "asv").chmod(0o755)

    def run(self, command: str, folder: str = "speed", code: int = 0) -> str:
        """Run a line of the tutorial in a shell, as its reader does."""
        env = environment(self.folder) | wheelhouse.pip_environment(self.folder / "wheels")
        done = processes.run(["bash", "-c", command], self.folder / folder, env)
        assert "Traceback" not in done.stdout, done.stdout
        assert code == done.returncode, f"{command}: {done.stdout}"
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory, wheel):
    folder = tmp_path_factory.mktemp("away")
    for name in ("numpy", "scipy", "scipy-openblas32", "asv_runner"):
        wheelhouse.repack_whole(folder / "wheels", name)
    return Installed(folder, wheel)


@pytest.mark.slow
def test_the_tutorial_runs_away_from_a_checkout(installed):
    """From `deepbench init` to published pages and an export, with releases installed by pip."""
    run, folder = installed.run, installed.folder / "speed"
    numpy = f"numpy-{metadata.version('numpy')}"
    assert f"deepbench, version {__version__}\n" == run("deepbench --version", ".")
    run("deepbench init speed --history", ".")
    own_releases(folder / "releases.csv")
    assert "nothing wrong" in run("deepbench config")
    run(f"deepbench machine --yes --name {MACHINE}")
    assert KERNEL in run("deepbench problems --family gemm --set inference-device")
    selected = run("deepbench select inference-device --family gemm --precision float32")
    assert KERNEL in selected
    chosen = f"gemm.InferenceDevice.kernel_forward.*{KERNEL}.*float32"
    run(f"DEEPBENCH_YES=1 asv run --quick --show-stderr --bench '{chosen}' {numpy}")
    (records,) = (folder / "results" / MACHINE).glob("*.measurements.jsonl.gz")
    assert f'"revision": "{__version__}"' in gzip.decompress(records.read_bytes()).decode()
    assert numpy in run("deepbench release list --installed")

    run("asv publish")
    published = (folder / "html" / "index.json").read_text()
    assert MACHINE in published and "nvidia-v100" in published
    run(f"deepbench export here.csv --machine {MACHINE}")
    exported = (folder / "here.csv").read_text()
    assert KERNEL in exported and numpy.replace("-", ",") in exported
    run(f"deepbench submit here.json --machine {MACHINE}")
    assert "nvidia-v100" in run("deepbench fastest --family gemm --precision float32")


TUTORIAL = ROOT / "docs" / "tutorial" / "first_hour.md"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

IN_A_CLONE = ("make dashboard", ". .venv/bin/activate")
"""Lines of the tutorial that a folder made by `deepbench init` does without."""

SHORTER = {
    "1.26.4,2.0.2,2.4.6": "2.3.5,2.4.6",
    "--within 3% --budget 10m": "--within 30% --budget 1m",
    "numpy-1.26.4..numpy-2.4.6": "numpy-2.3.5..numpy-2.4.6",
    "asv preview": "timeout --signal=INT 5 asv preview",
}
"""Texts in the tutorial's lines, with those that take their place, so that it takes minutes."""

ANSWERS = {"deepbench verdict": (0, 3), "deepbench bisect": (0, 1, 3), "timeout": (0, 124)}
"""Statuses of lines whose answer depends on the measured times, by how they begin."""


def tutorial_lines() -> list[str]:
    """Return the commands of the tutorial for a folder away from a checkout."""
    fenced = FENCED.findall(TUTORIAL.read_text("utf-8"))
    lines = "".join(text for language, text in fenced if not language).splitlines()
    left = [line for line in lines if line.strip() and line not in IN_A_CLONE]
    for text, shorter in SHORTER.items():
        assert any(text in line for line in left), f"{TUTORIAL} no longer has {text}"
        left = [line.replace(text, shorter) for line in left]
    return left


@pytest.fixture(scope="module")
def fresh(tmp_path_factory, wheel):
    """A fresh environment in which pip has installed the wheel and all that it asks for."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv" / "bin" / "python", "-m", "pip"]
    index = [*pip, "download", "--quiet", "--no-deps", "--dest", folder / "index", "filelock"]
    if subprocess.run(index, capture_output=True).returncode:
        pytest.skip("pip reaches no package index")
    install = [*pip, "install", "--quiet", f"{wheel}[track]"]
    subprocess.run(install, env=environment(folder), check=True)
    with tarfile.open(folder / "deepbench.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(ROOT / "results", "deepbench/results")
    return folder


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs_in_a_fresh_environment(fresh):
    """Nothing but the wheel and its requirements is there, and the releases come from the index."""
    begin = [
        "deepbench init speed --history deepbench.tar.gz",
        f"cd speed && deepbench machine --yes --name {MACHINE}",
    ]
    for line in [*begin, *(f"cd speed && {line}" for line in tutorial_lines())]:
        done = processes.run(["bash", "-c", line], fresh, environment(fresh))
        assert "Traceback" not in done.stdout, f"{line}: {done.stdout}"
        assert done.returncode in statuses(line.removeprefix("cd speed && ")), (
            f"{line}: {done.stdout}"
        )
    assert MACHINE in (fresh / "speed" / "html" / "index.json").read_text("utf-8")


def statuses(line: str) -> tuple[int, ...]:
    """Return the statuses with which a line of the tutorial may end."""
    announced = re.search(r"# exits with (\d+)", line)
    if announced:
        return (int(announced[1]),)
    return next((found for begin, found in ANSWERS.items() if line.startswith(begin)), (0,))


def own_releases(path: Path) -> None:
    """Keep of the release table the published releases, and numpy as it is installed here."""
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.startswith(("framework,", "published,"))]
    numpy, scipy = metadata.version("numpy"), metadata.version("scipy")
    path.write_text("".join(kept) + f"numpy,{numpy},2026-01-01,scipy=={scipy},no,\n")
