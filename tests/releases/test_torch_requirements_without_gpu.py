"""torch's CUDA builds where there is no GPU: packages left out, and a GPU that arrives."""

import datetime
import json

import pytest
import wheelhouse

from deepbench_ops.measure import fingerprint
from deepbench_ops.releases import environment_install, torch_requirements_without_gpu
from deepbench_ops.releases.environment_install import Installation
from deepbench_ops.releases.release_table import Release

pytestmark = pytest.mark.slow

LINUX = 'platform_system == "Linux"'


@pytest.mark.parametrize(
    ("requires", "kept", "left_out"),
    [
        (
            ["filelock", f"nvidia-cublas-cu12==12.8.4.1; {LINUX}", f"triton==3.4.0; {LINUX}"],
            ["filelock", "nvidia-cublas-cu12==12.8.4.1"],
            ["triton==3.4.0"],
        ),
        (
            ["nvidia-cuda-nvrtc-cu11 (==11.7.99)", "nvidia-cuda-runtime-cu11 (==11.7.99)"],
            ["nvidia-cuda-runtime-cu11==11.7.99"],
            ["nvidia-cuda-nvrtc-cu11==11.7.99"],
        ),
        (
            ["cuda-toolkit[cublas,cusolver,nvrtc]==13.0.3", "cuda-bindings<14,>=13.0.3"],
            ["cuda-toolkit[cublas]==13.0.3"],
            ["cuda-toolkit[cusolver]", "cuda-toolkit[nvrtc]", "cuda-bindings<14,>=13.0.3"],
        ),
        (['optree>=0.13.0; extra == "optree"', 'x; platform_system == "VMS"'], [], []),
        (["nvidia-cusparselt-cu12==0.7.1", "tritonclient"], None, []),
    ],
)
def test_only_what_the_processor_does_without_is_left_out(requires, kept, left_out):
    """Compilers and a solver of the GPU stay away; linked libraries and namesakes are installed."""
    assert torch_requirements_without_gpu.split(requires) == (
        requires if kept is None else kept,
        left_out,
    )


def test_what_another_package_brings_all_the_same_is_not_called_left_out():
    """By its name however it is written, and by the package of NVIDIA's extra."""
    asked = ["triton==3.4.0", "cuda-toolkit[nvrtc]", "cuda-toolkit[cusolver]", "Cuda_Bindings<14"]
    assert asked == torch_requirements_without_gpu.absent(asked, {"torch"})
    assert ["triton==3.4.0", "cuda-toolkit[cusolver]"] == torch_requirements_without_gpu.absent(
        asked, {"nvidia-cuda-nvrtc", "cuda-bindings"}
    )


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """A torch that imports without triton, and one that does not; neither's solver is a wheel."""
    folder = tmp_path_factory.mktemp("wheels")
    wheelhouse.stock(folder)
    wheelhouse.build(folder, "triton", "3.4.0", "")
    wheelhouse.build(folder, "nvidia-cublas-cu12", "12.8", "")
    needs = ("triton==3.4.0", "nvidia-cublas-cu12==12.8")
    wheelhouse.build(folder, "torch", "1.0.0", "import nvidia_cublas_cu12\n", *needs)
    wheelhouse.build(folder, "torch", "2.0.0", "import triton\n", *needs)
    return folder


@pytest.fixture
def installed(wheels, tmp_path, monkeypatch):
    """Return a function that installs a version, on a machine with the accelerators given."""
    (tmp_path / "neighbour").mkdir()
    (tmp_path / "neighbour" / "neighbour.py").write_text("")
    (tmp_path / "neighbour" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools>=77"]\n'
        'build-backend = "setuptools.build_meta"\n[project]\nname = "neighbour"\nversion = "1"\n'
    )
    for name, value in wheelhouse.pip_environment(wheels).items():
        monkeypatch.setenv(name, value)

    def make(version: str, gpu: dict[str, str]) -> Installation:
        monkeypatch.setattr(environment_install, "accelerators", lambda: gpu)
        release = Release("torch", version, datetime.date(2020, 1, 1), ())
        found = Installation(release, tmp_path / "env", tmp_path / "neighbour", 120)
        found.ensure()
        return found

    return make


def left_out(installation: Installation) -> list[str]:
    return json.loads((installation.path / environment_install.MARKER).read_text()).get(
        "left_out", []
    )


def has(installation: Installation, module: str) -> bool:
    return any(installation.path.glob(f"lib/python*/site-packages/{module}.py"))


def test_without_a_gpu_its_compilers_stay_away_and_the_environment_says_so(installed, monkeypatch):
    """The marker and the fingerprint of measurements there list the packages that are left out."""
    made = installed("1.0.0", {})
    assert left_out(made) == ["triton==3.4.0"]
    assert not has(made, "triton")
    assert has(made, "nvidia_cublas_cu12")
    monkeypatch.setattr(fingerprint.sys, "prefix", str(made.path))
    fingerprint.of_the_run.cache_clear()
    assert fingerprint.of_the_run()["left_out"] == "triton==3.4.0"
    fingerprint.of_the_run.cache_clear()


def test_a_build_that_does_not_import_so_is_installed_whole(installed):
    """A release that needs a package that others do not gets it, and counts as whole."""
    made = installed("2.0.0", {})
    assert left_out(made) == []
    assert has(made, "triton")


def test_a_gpu_that_arrives_makes_such_an_environment_incomplete(installed):
    """An environment without a GPU's parts is made again where there is one, and then kept."""
    made = installed("1.0.0", {})
    assert made.is_complete()
    whole = installed("1.0.0", {"accelerator": "NVIDIA T4"})
    assert left_out(whole) == []
    assert has(whole, "triton")
    assert whole.is_complete()
