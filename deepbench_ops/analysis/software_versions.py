"""Software that a machine's times were measured with: libraries, threads, driver, by release.

A kernel may become slower by the release itself, or by its companions, such as another BLAS or
another code path of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.releases.release_table import PUBLISHED, Release
from deepbench_ops.storage import measurement_files

Facts = Mapping[str, str]
BYTES = "_bytes"
"""End of the names of facts that are sizes in bytes."""

SMALL_CHANGE = 0.01
"""Share of a size below which a change is none: the kernel's own share of the memory varies."""

FRAMEWORK = "framework"
"""The fact that names the framework and its version."""


@dataclass(frozen=True)
class ReleaseSoftware:
    """The software under which all times of a release on a machine were taken.

    Of a measured release it is the fingerprint, of a published one the facts of the publication.
    new: the differences to the framework's release before it on that machine, as the value there
    and here ("" where there is none); empty for the first.
    """

    release: Release
    facts: Facts
    new: Mapping[str, tuple[str, str]]


def stacks(results: Path, machine: str, timeline: Sequence[Release]) -> list[ReleaseSoftware]:
    """Return the software of a machine's releases, in the order of `timeline`.

    Releases without any record of it are left out.

    Raises DeepbenchError for a file that is not whole.
    """
    files = by_commit(results / machine)
    newest: dict[str, ReleaseSoftware] = {}
    found = []
    for release in timeline:
        facts = facts_of(release, files.get(release.hash[:8], ()))
        if facts:
            before = newest.get(release.framework)
            one = ReleaseSoftware(release, facts, changed(before.facts, facts) if before else {})
            newest[release.framework] = one
            found.append(one)
    return found


def by_commit(folder: Path) -> Mapping[str, Sequence[Path]]:
    """Return the files in a machine's folder of results by the start of their names, which is that
    of a release's hash."""
    files: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        files[path.name[:8]].append(path)
    return files


def facts_of(release: Release, files: Sequence[Path]) -> Facts:
    """Return the software under which all times of a release were taken, given its files.

    Raises DeepbenchError for a file that is not whole.
    """
    if release.framework != PUBLISHED:
        recorded = list(filter(measurement_files.is_file, files))
        return measurement_files.shared_facts(
            [measurement_files.conditions(path) for path in recorded]
        )
    return measurement_files.shared_facts(
        [_published(path) for path in files if path.suffix == ".json"]
    )


def _published(path: Path) -> Facts:
    return private_result_fields.libraries(result_files.read(path))


def changed(before: Facts, after: Facts) -> dict[str, tuple[str, str]]:
    """Return the facts that differ, by name: the value before and after, "" where there is none.

    The framework's own version is left out.
    """
    own = {FRAMEWORK, *(facts.get(FRAMEWORK, "").partition(" ")[0] for facts in (before, after))}
    names = [name for name in dict.fromkeys([*after, *before]) if name not in own]
    pairs = {name: (before.get(name) or "", after.get(name) or "") for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def as_text(news: Mapping[str, tuple[str, str]], longest: int = 60) -> str:
    """Return the result of `changed` as one line, such as "mkl 2024.2 (before: 2022.2)".

    Of texts that are longer than `longest` the words that differ are shown. Sizes are in GiB or
    MiB; one that changed by less than `SMALL_CHANGE` is left out.
    """
    shown = (
        _as_text(name, before, after, longest)
        for name, (before, after) in news.items()
        if not (name.endswith(BYTES) and _is_nearly(before, after))
    )
    return "; ".join(shown)


def _as_text(name: str, before: str, after: str, longest: int) -> str:
    if name.endswith(BYTES):
        name, before, after = name.removesuffix(BYTES), _size(before), _size(after)
    name = name.replace("_", " ")
    if before and after and max(len(before), len(after)) > longest:
        had, has = ([word.strip(",") for word in text.split()] for text in (before, after))
        before = " ".join(word for word in had if word not in has)
        after = " ".join(word for word in has if word not in had)
        if not after:
            return (
                f"{name} without {_cut(before, longest)}" if before else f"{name} in another order"
            )
        name = name if before else f"{name} with"
    return f"{name} {_cut(after, longest) or 'not recorded'}" + (
        f" (before: {_cut(before, longest)})" if before else ""
    )


def _is_nearly(before: str, after: str) -> bool:
    """Whether two numbers differ by less than `SMALL_CHANGE`."""
    if not (before.isdecimal() and after.isdecimal()):
        return False
    return abs(int(after) - int(before)) < SMALL_CHANGE * int(before)


def _size(text: str) -> str:
    """Return a number of bytes in GiB or MiB; other texts as they are."""
    if not text.isdecimal():
        return text
    size = int(text)
    return f"{size / 2**20:.4g} MiB" if size < 2**30 else f"{size / 2**30:.4g} GiB"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
