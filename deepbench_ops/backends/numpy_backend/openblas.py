"""The OpenBLAS that numpy brought along: which release, which code path, how many threads.

numpy itself tells only what it was built with. Which of the library's code paths the processor
got, and the number of threads, are known to the loaded library alone; it is asked through
ctypes because a measured environment holds nothing but numpy. Function names vary from wheel to
wheel by prefix and suffix.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PREFIXES = ("scipy_openblas_", "openblas_")
SUFFIXES = ("64_", "")
MAPS = Path("/proc/self/maps")


class OpenBlas:
    """One loaded OpenBLAS, found by the path of its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._library = ctypes.CDLL(str(path))

    def config(self) -> str:
        """Return its release, build options and code path, as it words them."""
        return self._text("get_config")

    def core(self) -> str:
        """Return the processor generation whose kernels it chose, like 'SkylakeX'."""
        return self._text("get_corename")

    def threads(self) -> int:
        """Return the number of threads it may use."""
        return int(self._function("get_num_threads", ctypes.c_int)())

    def set_threads(self, count: int) -> None:
        """Let it use `count` threads from now on."""
        self._function("set_num_threads", None)(ctypes.c_int(count))

    def _text(self, name: str) -> str:
        raw: bytes = self._function(name, ctypes.c_char_p)()
        return raw.decode(errors="replace").strip()

    def _function(self, name: str, returns: type | None) -> Callable[..., Any]:
        for prefix in PREFIXES:
            for suffix in SUFFIXES:
                function = getattr(self._library, prefix + name + suffix, None)
                if function is not None:
                    function.restype = returns
                    return function
        raise AttributeError(f"{self.path.name} has no {name}")


def of_numpy() -> OpenBlas | None:
    """Return the OpenBLAS numpy uses, None where it uses another library or it is not found.

    Other packages may have loaded an OpenBLAS of their own into the process: the one that came
    with numpy is looked for first, then any that belongs to no other package.
    """
    package = Path(np.__file__).resolve().parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs", package / ".libs"):
        for path in sorted(folder.glob("*openblas*")):
            return _opened(path)
    for path in _mapped():
        if "site-packages" not in path.parts:
            return _opened(path)
    return None


def _opened(path: Path) -> OpenBlas | None:
    try:
        return OpenBlas(path)
    except OSError:
        return None


def _mapped() -> list[Path]:
    """Return the OpenBLAS files loaded into this process, where the system lists them."""
    try:
        lines = MAPS.read_text().splitlines()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[-1] for line in lines if "openblas" in line}
    return [Path(path) for path in sorted(paths) if path.startswith("/")]
