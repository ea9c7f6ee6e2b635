"""Output of the last of several calls, for operations that return a new output every time."""

from collections.abc import Callable
from typing import Any


class LatestOutput:
    """A call and the output of its newest run; outputs of earlier runs are released."""

    def __init__(self, call: Callable[[], Any], nothing: Any = None) -> None:
        """Start with the output `nothing`, which every reset restores."""
        self._call = call
        self._nothing = nothing
        self.output = nothing
        self.calls = 0

    def run(self) -> None:
        """Call once, and release the previous output."""
        self.output = self._call()
        self.calls += 1

    def value(self) -> Any:
        """Return the output of the newest call; at least one call is required before."""
        assert self.output is not None, "the kernel has not run and has no output"
        return self.output

    def reset(self) -> None:
        """Release the output."""
        self.output = self._nothing
