"""The wheel: whole, and enough for every command in a folder away from the checkout."""

import gzip
import os
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
from deepbench_ops.releases.copied_distributions import PROJECT

pytest.importorskip("asv", reason="releases are measured by asv's means")

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("deepbench_ops", "asv_bench_deepbench")
MACHINE = "wheel-test"
KERNEL = "m35_n700_k2048_NN"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of what a build reads, with a file that an earlier build left behind."""
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
    """Tables, schemas, pages' files, and what a new project folder begins with."""
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


class Installed:
    """An environment with the wheel, and a folder that is in no checkout.

    Other packages come from the environment of the tests, and releases from a folder of wheels.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        pip = [self.bin / "python", "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
        subprocess.run([*pip, wheel], check=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
        others = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        # Behind the wheel's own package; the path files in those folders do not count.
        (packages / "tests.pth").write_text("\n".join(others), encoding="utf-8")
        script = "#!{0}\nimport sys; from asv.main import main; sys.exit(main())\n"
        (self.bin / "asv").write_text(script.format(self.bin / "python"))
        (self.bin / "asv").chmod(0o755)

    def run(self, command: str, folder: str = "speed", code: int = 0) -> str:
        """Run a line of the tutorial in a shell, as its reader does."""
        env = {**os.environ, **wheelhouse.pip_environment(self.folder / "wheels")}
        for name in ("PYTHONPATH", "VIRTUAL_ENV", "DEEPBENCH_SPOOL", "DEEPBENCH_RELEASE"):
            env.pop(name, None)
        env |= {"HOME": str(self.folder), "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}
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


def own_releases(path: Path) -> None:
    """Keep of the release table what is published, and numpy as it is installed here."""
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.startswith(("framework,", "published,"))]
    numpy, scipy = metadata.version("numpy"), metadata.version("scipy")
    path.write_text("".join(kept) + f"numpy,{numpy},2026-01-01,scipy=={scipy},no,\n")
