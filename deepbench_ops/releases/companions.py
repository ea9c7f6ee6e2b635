"""Packages that a framework's environment holds with it, unless the table says otherwise.

Companions are those of the day: the newest release of each that was out when the framework's was,
which is what its users installed then. Where a framework did not take them, a ceiling is named.
"""

import datetime
from dataclasses import dataclass

from packaging.version import Version

from deepbench_ops.releases.index import Index
from deepbench_ops.releases.table import Release


@dataclass(frozen=True)
class Rule:
    """Which releases of a framework are listed, and with which companions."""

    oldest: str
    companions: tuple[str, ...] = ()
    on_request: bool = True
    """Whether it is a large install, made only on request."""
    same: str = ""
    """A companion of the same minor version, not above the framework's and hardly below."""
    nightly: str = ""
    """The index on which the project publishes nightly builds under its own name."""


RULES = {
    "numpy": Rule(
        "1.23.2",
        ("scipy",),
        on_request=False,
        nightly="https://pypi.anaconda.org/scientific-python-nightly-wheels/simple",
    ),
    "torch": Rule("1.13", ("numpy",), nightly="https://download.pytorch.org/whl/nightly/cpu"),
    "jax": Rule(
        "0.4.1",
        ("numpy", "scipy", "ml_dtypes"),
        same="jaxlib",
        nightly="https://us-python.pkg.dev/ml-oss-artifacts-published/jax/simple",
    ),
    "onnxruntime": Rule(
        "1.15",
        ("numpy", "onnx", "protobuf"),
        nightly="https://aiinfra.pkgs.visualstudio.com/PublicPackages/_packaging/ORT-Nightly/pypi/simple",
    ),
    "openvino": Rule(
        "2023.0",
        ("numpy", "onnx", "protobuf"),
        nightly="https://storage.openvinotoolkit.org/simple/wheels/nightly",
    ),
    "tensorflow": Rule("2.12"),
    "mindspore": Rule("2.7", ("numpy",)),
}
"""The metadata of the last two bounds their companions from both sides."""

MOST_BEHIND = 2
"""A companion of the same minor version may be so many patches older."""

DAY = datetime.date.fromisoformat
CEILINGS = {
    ("torch", "numpy"): ((DAY("2024-07-24"), "2"),),
    ("onnxruntime", "numpy"): ((DAY("2024-09-01"), "2"),),
    ("openvino", "numpy"): (
        (DAY("2024-11-01"), "2"),
        (DAY("2025-01-15"), "2.2"),
        (DAY("2026-01-31"), "2.3"),
    ),
    ("jax", "numpy"): ((DAY("2024-06-16"), "2"),),
    ("mindspore", "numpy"): ((datetime.date.max, "2"),),
}
"""Before that day a framework's releases took only what is below that version of a companion; with
no such day they still do."""


def row(
    framework: str,
    version: Version,
    day: datetime.date,
    index: Index,
    same: Version | None = None,
) -> Release | None:
    """Return the table's row for a release, None where a companion of it does not install here.

    same: the version of the companion of the same minor version, None for the usual choice.
    """
    rule = RULES[framework]
    pins = []
    if rule.same:
        pinned = same or _same(rule.same, version, index)
        if pinned is None:
            return None
        pins.append(f"{rule.same}=={pinned}")
    for companion in rule.companions:
        ceilings = CEILINGS.get((framework, companion), ())
        ceiling = next((below for until, below in ceilings if day < until), "")
        found = index.of_the_day(companion, day, ceiling)
        if found is None:
            return None
        pins.append(f"{companion}=={found}")
    return Release(framework, str(version), day, tuple(pins), rule.on_request)


def _same(companion: str, version: Version, index: Index) -> Version | None:
    """Return the newest companion of a version's minor version that is hardly older, if any."""
    return max(
        (
            other
            for other in index.releases(companion)
            if other <= version
            and other.release[:2] == version.release[:2]
            and version.micro - other.micro <= MOST_BEHIND
        ),
        default=None,
    )
