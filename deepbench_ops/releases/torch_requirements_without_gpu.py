"""Requirements of a CUDA build of torch that a machine without a GPU can do without.

Such a build wants several GB of NVIDIA's libraries next to it. Most are linked to it, so that it
does not even import without them; these are not: compilers for kernels of a GPU, and a solver that
is loaded at its first use.
"""

import re
from collections.abc import Container, Iterable

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LEFT_OUT = re.compile(r"(?:pytorch-)?triton$|cuda-bindings$|nvidia-(?:cuda-nvrtc|cusolver)\b")
EXTRAS = {"nvrtc": "nvidia-cuda-nvrtc", "cusolver": "nvidia-cusolver"}
"""Packages of these libraries by the extra of `cuda-toolkit`, NVIDIA's own list (CUDA 13)."""


def split(requires: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the requirements of a build that are installed, and those that are left out.

    requires: lines such as ``triton==3.4.0; platform_system == "Linux"``. Those whose marker does
    not hold on this machine, or that only an extra asks for, are in neither.
    """
    kept: list[str] = []
    left_out: list[str] = []
    for line in requires:
        wanted = Requirement(line)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        wanted.marker = None
        if LEFT_OUT.match(wanted.name):
            left_out.append(str(wanted))
            continue
        if wanted.name == "cuda-toolkit":
            left_out += sorted(f"cuda-toolkit[{extra}]" for extra in wanted.extras & EXTRAS.keys())
            wanted.extras -= EXTRAS.keys()
        kept.append(str(wanted))
    return kept, left_out


def absent(left_out: Iterable[str], installed: Container[str]) -> list[str]:
    """Return the left-out requirements that no other package has installed.

    installed: names as `packaging` writes them.
    """

    def packages(text: str) -> list[str]:
        wanted = Requirement(text)
        return [EXTRAS[extra] for extra in wanted.extras] or [canonicalize_name(wanted.name)]

    return [text for text in left_out if not any(name in installed for name in packages(text))]
