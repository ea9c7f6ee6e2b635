"""Budget of seconds that a run may wait for a disturbed machine to calm: a share of its time."""

import time
from collections.abc import Callable

SHARE = 0.05
"""Seconds of waiting that a second of the run brings."""

MOST_SECONDS = 2.0
"""Seconds that can be saved up, with which a run begins."""


class WaitBudget:
    """Seconds of waiting that a run has left, over all its measuring processes.

    A disturbance of seconds is waited for; of one that lasts for minutes, every kernel would wait
    in vain.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left, self._at = MOST_SECONDS, clock()

    def spend(self, seconds: float) -> bool:
        """Return whether there are `seconds` left; they are gone then."""
        now = self._clock()
        self._left = min(MOST_SECONDS, self._left + SHARE * (now - self._at))
        self._at = now
        granted = seconds <= self._left
        if granted:
            self._left -= seconds
        return granted
