"""numpy's BLAS is found among the loaded libraries, asked for its facts, and given its threads."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deepbench_ops.backends.numpy_backend import loaded_blas
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.errors import Unsupported

NUMPY_BACKEND = "deepbench_ops.backends.numpy_backend"
COMPILER = shutil.which("cc")
MKL = """
static int threads = 7;
int MKL_Get_Max_Threads(void) { return threads; }
void MKL_Set_Num_Threads(int count) { threads = count; }
int MKL_Set_Num_Threads_Local(int count) { threads = count; return 0; }
int MKL_Set_Threading_Layer(int layer) { return 3; }
void MKL_Get_Version_String(char *text, int size) {
    const char *version = "Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 1";
    int i = 0;
    for (; version[i] && i < size - 1; i++) text[i] = version[i];
    text[i] = 0;
}
"""
OPENBLAS = """
static int threads = 5;
int openblas_get_num_threads64_(void) { return threads; }
void openblas_set_num_threads64_(int count) { threads = count; }
int openblas_get_parallel64_(void) { return 1; }
char *openblas_get_config64_(void) { return " OpenBLAS 0.3.9 NO_AFFINITY Zen MAX_THREADS=64 "; }
char *openblas_get_corename64_(void) { return "Zen"; }
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Compile and load a stand-in for a BLAS, with a numpy that brings none along."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    monkeypatch.setattr(np, "__file__", str(tmp_path / "numpy" / "__init__.py"))

    def loaded(path: str, source: str) -> Path:
        library = tmp_path / path
        library.parent.mkdir(parents=True, exist_ok=True)
        code = library.with_suffix(".c")
        code.write_text(source)
        command = [COMPILER, "-shared", "-fPIC", "-o", str(library), str(code)]
        subprocess.run(command, check=True)
        handles.append(ctypes.CDLL(str(library)))
        return library

    handles: list[ctypes.CDLL] = []
    monkeypatch.setattr(
        loaded_blas, "_controllers", _below(tmp_path.resolve(), loaded_blas._controllers)
    )
    return loaded


def _below(folder, controllers):
    """Only the libraries of a test: others of this process stay loaded after theirs."""
    return lambda: [each for each in controllers() if folder in Path(each.filepath).parents]


def test_numpy_on_mkl_runs_with_the_threads_asked_for(load):
    """The count is set in the library itself, whatever the environment says."""
    load("lib/libmkl_rt.so.2", MKL)
    backend = NumpyBackend()
    assert 7 == backend.threads()
    backend.set_threads(3)
    assert 3 == backend.threads()


def test_mkl_is_described_by_name_version_and_threads(load):
    """MKL does not tell which code path it has chosen, so none is recorded."""
    load("lib/libmkl_rt.so.2", MKL)
    versions = NumpyBackend().versions()
    assert "mkl 2024.2-Product gnu threads" == versions["blas_runtime"]
    assert "7" == versions["blas_threads"]
    assert "blas_core" not in versions


def test_an_openblas_with_suffixed_names_tells_its_own_text(load):
    """Release and build options are recorded as the library words them."""
    load("numpy.libs/libopenblas64_p-r0-5aebdb42.3.9.so", OPENBLAS)
    versions = NumpyBackend().versions()
    assert "OpenBLAS 0.3.9 NO_AFFINITY Zen MAX_THREADS=64" == versions["blas_runtime"]
    assert "Zen" == versions["blas_core"]


def test_numpys_own_library_comes_first(load):
    """Libraries of the system and of other packages do not stand in for the bundled one."""
    load("lib/libopenblas.so.0", OPENBLAS)
    load("site-packages/scipy.libs/libscipy_openblas.so", OPENBLAS)
    bundled = load("numpy.libs/libopenblas64_p-r0.so", OPENBLAS)
    assert bundled.resolve() == loaded_blas.of_numpy().path


def test_libraries_of_other_packages_are_left_out(load):
    """Nothing is better than the facts of a library that numpy does not call."""
    load("site-packages/scipy.libs/libscipy_openblas.so", OPENBLAS)
    assert loaded_blas.of_numpy() is None


def test_of_two_libraries_of_the_system_the_one_numpy_was_built_with_is_taken(load):
    """Both may be loaded: one by numpy, the other by another framework."""
    load("lib/libopenblas.so.0", OPENBLAS)
    load("lib/libmkl_rt.so.2", MKL)
    assert "mkl" == loaded_blas.of_numpy("mkl-sdl 2024.2").name
    assert "openblas" == loaded_blas.of_numpy("openblas64 0.3.9").name


def test_an_unknown_blas_refuses_a_new_number_of_threads(monkeypatch):
    """Only the number that the environment asked for before numpy was imported is accepted."""
    monkeypatch.setattr(loaded_blas, "_controllers", list)
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    backend = NumpyBackend()
    backend.set_threads(2)
    with pytest.raises(Unsupported, match="OPENBLAS_NUM_THREADS=3"):
        backend.set_threads(3)


def test_asking_starts_no_thread():
    """A process that forks measured ones must have none."""
    code = """
import os, numpy
def threads(): return len(os.listdir("/proc/self/task"))
before = threads()
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
NumpyBackend().versions()
print(threads() - before)
"""
    if not Path("/proc/self/task").is_dir():
        pytest.skip("this system does not list a process's threads")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "0" == done.stdout.strip()


def test_a_second_python_thread_may_set_the_count():
    """The library obeys every thread, not only the one that asked first."""
    code = """
import threading
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
backend = NumpyBackend()
backend.set_threads(1)
thread = threading.Thread(target=backend.set_threads, args=(2,))
thread.start(); thread.join()
print(backend.threads())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "2" == done.stdout.strip()


def test_an_environment_without_threadpoolctl_is_one_line():
    """As after an update of this project alone: the line names the package to install."""
    code = (
        "import sys; sys.modules['threadpoolctl'] = None\n"
        "from deepbench_ops import backends; from deepbench_ops.errors import DeepbenchError\n"
        "try: backends.preload('numpy')\n"
        "except DeepbenchError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "install it with 'pip install threadpoolctl'" in done.stdout, done


def test_asking_sets_no_variable():
    """threadpoolctl sets a variable of OpenMP's, which would be recorded as a user's setting."""
    program = (
        "import os; before = dict(os.environ)\n"
        "from deepbench_ops.backends.numpy_backend import loaded_blas\n"
        "loaded_blas.of_numpy(); assert before == dict(os.environ)"
    )
    assert 0 == subprocess.run([sys.executable, "-c", program]).returncode
