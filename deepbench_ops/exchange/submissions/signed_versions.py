"""Versions of points, runs and rounds that an allowed signer has signed, and that are shown before
all others.

The ids of a submission's versions are noted with it (`submission_provenance`). Such notes are only
added, so that the shown version does not depend on the order of imports. Numbers that were measured
here, or were signed by an unknown key, count as not signed.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.exchange.submissions.shown_version import V

ID_LENGTH = 32
"""Hexadecimal digits of an id: so many that no one can make other numbers with the same one."""


@dataclass(frozen=True)
class SignedVersions:
    """The signed versions of a machine: names of their signers, by the version's id."""

    signers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, machine: Path) -> "SignedVersions":
        """Return those of a machine's folder of results.

        Raises OSError and DeepbenchError as `submission_provenance.read` does.
        """
        names: dict[str, set[str]] = defaultdict(set)
        for origin in submission_provenance.read(machine):
            for version in origin.versions if origin.signer is not None else ():
                names[version].add(origin.signer or "")
        return cls({version: ", ".join(sorted(several)) for version, several in names.items()})

    def marked(self, file: Path, versions: Iterable[V]) -> list[V]:
        """Return versions of points in a result file, or of lines of another one, each with its
        signer."""
        if not self.signers:
            return list(versions)
        return [
            replace(one, signer=self.signers.get(id_of(file, one.text), "")) for one in versions
        ]


def id_of(file: Path, text: str) -> str:
    """Return the id of a version by its text, which also names its file: equal numbers of another
    release are another version."""
    return hashlib.sha256(f"{file.name}\n{text}".encode()).hexdigest()[:ID_LENGTH]
