"""Releases named by text: `1.26.4..2.4.6`, or `1.23.5,1.26.4,2.0.0..2.1.3`."""

from collections.abc import Sequence

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release


def select(text: str, releases: Sequence[Release]) -> list[Release]:
    """Return the releases that `text` names, in the order of `releases`, each once.

    `text` holds versions, names and spans FROM..TO, both ends included, separated by commas.
    `releases` are those of one framework, oldest first. Raises DeepbenchError for an unknown
    release, an empty part and a span whose older end does not come first.
    """
    chosen = {name for part in text.split(",") for name in _names(part.strip(), releases)}
    return [release for release in releases if release.name in chosen]


def _names(part: str, releases: Sequence[Release]) -> list[str]:
    """Return the names of the releases of one version or span."""
    ends = part.split("..")
    if len(ends) > 2 or not all(ends):
        raise DeepbenchError(
            f"{part or 'an empty part'} names no releases: write 1.26.4..2.4.6, or 1.26.4,2.4.6"
        )
    first, last = (_index(end, releases) for end in (ends[0], ends[-1]))
    if len(ends) == 2 and first >= last:
        raise DeepbenchError(f"{part}: name an older release and then a newer one")
    return [release.name for release in releases[first : last + 1]]


def _index(version: str, releases: Sequence[Release]) -> int:
    framework = releases[0].framework
    name = version if version.startswith(f"{framework}-") else f"{framework}-{version}"
    return list(releases).index(release_table.find(name, releases))
