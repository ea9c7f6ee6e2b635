"""All data in results/ about a machine, except its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepbench_ops.analysis.software_versions import ReleaseSoftware
from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.pages.data_files import machine_key


@dataclass(frozen=True)
class MachineRecord:
    """A machine and the data about it.

    The fields are its name, asv's description of it, its profile (None: there is none), the stored
    runs of whole models, the software under each release in the order of the releases, a text that
    says who signed the submissions of its results ("" if they were not submitted), and a line for
    each damaged file in its folder.
    """

    name: str
    entry: Mapping[str, str]
    profile: Profile | None = None
    runs: Sequence[Mapping[str, Any]] = ()
    stacks: Sequence[ReleaseSoftware] = ()
    submitted: str = ""
    damaged: Sequence[str] = ()

    @property
    def key(self) -> str:
        """Name of the machine in addresses."""
        return machine_key(self.name)

    @property
    def mark(self) -> str:
        """One of `submission_provenance.MARKS`, "" where nothing came in unsigned."""
        return submission_provenance.mark(self.submitted)
