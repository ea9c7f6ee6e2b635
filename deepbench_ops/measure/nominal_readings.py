"""Nominal readings of the yardstick as measured processes get them, and which one fits a kernel.

A yardstick reads differently in different states of a machine (`machine_states`): a copy that
does not fit a cache by a factor of 0.6. So a reading of one state never calibrates times of
another. Where the state's own is missing, times stay raw, with a remark in their record.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deepbench_ops.measure import machine_states

VARIABLE = "DEEPBENCH_NOMINAL"
"""Variable with the readings as JSON, as `machine.profile.Profile.for_processes` writes them."""

FIRST, LEVELS = "first_levels", "levels"
"""Keys in it next to the numbers of threads."""

Readings = Mapping[str, Mapping[str, float]]
"""Seconds per unit by number of threads and kind of yardstick."""

RAW = "raw seconds: "
"""Begins the remark on times that stay raw."""


@dataclass(frozen=True)
class Choice:
    """A nominal reading, None where times stay raw, and a remark on it for the record."""

    seconds: float | None
    remark: str = ""


@dataclass(frozen=True)
class NominalReadings:
    """All nominal readings of a machine.

    first: those that were taken first. first_levels: the latencies in nanoseconds at which they
    were, by number of threads, where that is known. by_level: those of each level of latency.
    """

    first: Readings = field(default_factory=dict)
    first_levels: Mapping[str, float] = field(default_factory=dict)
    by_level: Mapping[float, Readings] = field(default_factory=dict)

    @classmethod
    def given(cls, environ: Mapping[str, str] = os.environ) -> "NominalReadings":
        """Return the readings in this process's environment variables."""
        found = json.loads(environ.get(VARIABLE, "{}"))
        first_levels, levels = found.pop(FIRST, {}), found.pop(LEVELS, {})
        return cls(found, first_levels, {float(text): each for text, each in levels.items()})

    def as_text(self) -> str:
        """Return the readings as the text that `given` reads."""
        levels = {str(level): each for level, each in self.by_level.items()}
        return json.dumps({**self.first, FIRST: self.first_levels, LEVELS: levels})

    def choice(self, kind: str, threads: int, latencies: Sequence[float | None] = ()) -> Choice:
        """Return the reading for a kind of yardstick.

        latencies: core latencies before the kernel, and after it once that is known; None for
        those that could not be read.
        """
        first = self.first.get(str(threads), {}).get(kind)
        known = [each for each in latencies if each is not None]
        if not known or not self.by_level:
            return Choice(first)
        state = machine_states.state(known, list(self.by_level))
        level = machine_states.level_of(known[0], self.by_level)
        if level is not None and state not in machine_states.INCOMPARABLE:
            own = self.by_level[level].get(str(threads), {}).get(kind)
            if own is not None:
                return Choice(own)
            if str(threads) not in self.first_levels and first is not None:
                return Choice(first, f"by a nominal reading of an unrecorded state; now {state}")
        why = f"the nominal reading of state {state!r} is missing: deepbench machine takes it"
        if state in machine_states.INCOMPARABLE:
            why = f"the machine's state was {state}"
        return Choice(None, f"{RAW}{why}")
