"""Output of the last of several calls, for operations that return a new output every time."""

from collections.abc import Callable
from typing import Any


class LatestOutput:
    """Calls, and keeps the output of the newest call alone."""

    def __init__(self, call: Callable[[], Any], nothing: Any = None) -> None:
        """Start with the output `nothing`, and go back to it at every reset."""
        self._call = call
        self._nothing = nothing
        self.output = nothing
        self.calls = 0

    def run(self) -> None:
        """Call once, and let the previous output go."""
        self.output = self._call()
        self.calls += 1

    def value(self) -> Any:
        """Return the output of the newest call; there must have been one."""
        assert self.output is not None, "asked for the output of a kernel that has not run"
        return self.output

    def reset(self) -> None:
        """Let the output go."""
        self.output = self._nothing
