"""The BLAS library that numpy has loaded: release, code path, number of threads.

numpy itself reports only the library that it was built with. The code path for this processor and
the number of threads come from the loaded library, through threadpoolctl, which finds OpenBLAS,
MKL, BLIS and FlexiBLAS under all their file names.
"""

import ctypes
import os
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from threadpoolctl import LibController

CONFIG = [
    f"{prefix}openblas_get_config{suffix}"
    for prefix, suffix in product(("scipy_", ""), ("64_", "_64", ""))
]
"""Names of OpenBLAS's function that describes its build; they vary from wheel to wheel."""


ALLOWS_TWO_OPENMP = "KMP_DUPLICATE_LIB_OK"
"""Environment variable of Intel's OpenMP that threadpoolctl sets when it is imported."""


def _imported() -> ModuleType:
    """Import threadpoolctl, and remove the variable that it sets: it would be recorded as a setting
    of the user."""
    known = ALLOWS_TWO_OPENMP in os.environ
    module = import_module("threadpoolctl")
    if not known:
        os.environ.pop(ALLOWS_TWO_OPENMP, None)
    return module


_threadpoolctl = _imported()


class LoadedBlas:
    """A BLAS library that this process has loaded."""

    def __init__(self, controller: "LibController") -> None:
        self._controller = controller

    @property
    def path(self) -> Path:
        """File of the library."""
        return Path(self._controller.filepath)

    @property
    def name(self) -> str:
        """Name of the library: openblas, mkl, blis or flexiblas."""
        return str(self._controller.internal_api)

    def config(self) -> str:
        """Return release and build: OpenBLAS's own description, for other libraries name, version
        and threading layer."""
        library = self._controller.dynlib
        function = next((getattr(library, n) for n in CONFIG if hasattr(library, n)), None)
        if function is None:
            return self._described()
        function.restype = ctypes.c_char_p
        raw: bytes = function()
        return raw.decode(errors="replace").strip()

    def core(self) -> str:
        """Return the processor generation of the chosen code path, such as 'SkylakeX'; "" for
        MKL."""
        return str(getattr(self._controller, "architecture", None) or "")

    def threads(self) -> int:
        """Return the number of threads that the library may use."""
        return int(self._controller.get_num_threads())

    def set_threads(self, count: int) -> None:
        """Set the number of threads, for MKL only in calls from the current Python thread."""
        # threadpoolctl allows changes of OpenBLAS's count only from the first thread that made one.
        release = getattr(self._controller, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)
        self._controller.set_num_threads(count)

    def _described(self) -> str:
        layer = getattr(self._controller, "threading_layer", None)
        threads = f"{layer} threads" if layer else ""
        return " ".join(filter(None, (self.name, self._controller.version, threads)))


def of_numpy(built_with: str = "") -> LoadedBlas | None:
    """Return the BLAS library of numpy, None where threadpoolctl finds none.

    Other packages may have loaded libraries of their own. A library in numpy's folders is
    preferred, then one outside of all packages, among these one with the name in `built_with`.
    """
    package = Path(np.__file__).resolve().parent
    own = (package.parent / "numpy.libs", package / ".dylibs", package / ".libs")
    found = [LoadedBlas(each) for each in _controllers()]
    bundled = [blas for blas in found if blas.path.parent in own]
    others = [blas for blas in found if "site-packages" not in blas.path.parts]
    others.sort(key=lambda blas: (blas.name not in built_with.lower(), blas.path))
    return next(iter((*bundled, *others)), None)


def _controllers() -> "list[LibController]":
    found: list[LibController] = (
        _threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
    )
    return sorted(found, key=lambda controller: str(controller.filepath))
