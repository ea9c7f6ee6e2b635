"""The yardstick as one more live worker of an ensemble.

It takes part in the sweeps, a slice of a few milliseconds in each, and is stopped in between like
the workers of releases. So the readings that calibrate the anchor's seconds come from the same
sweeps. Messages are those of `measure.worker_program`: ``{"do": "prepare", "kind": ...}`` answers
with the seconds of a unit of that kind, ``{"do": "slice", "calls": n}`` with those of one in a
slice of n. Each slice begins with an untimed unit, whether the kernels are woken or not.
"""

import sys
import time

from deepbench_ops import process_messages
from deepbench_ops.measure import threads
from deepbench_ops.measure.yardstick import Yardstick


class YardstickMember:
    """The kinds of yardstick, each made when it is first needed."""

    def __init__(self) -> None:
        self._kinds: dict[str, Yardstick] = {}
        self._kind = ""

    def prepare(self, kind: str) -> dict[str, object]:
        """Choose the kind of yardstick for the next slices; return the seconds of a unit."""
        if kind not in self._kinds:
            self._kinds[kind] = Yardstick(kind, threads.wanted())
        self._kind = kind
        return {"seconds": self._kinds[kind].unit_seconds, "stoppable": True}

    def slice(self, calls: int, woken: bool = False) -> dict[str, object]:
        """Return the seconds of a unit in a slice of so many; `woken` is for kernels alone."""
        return {"seconds": self._kinds[self._kind].slice(calls), "ended": time.monotonic()}


def main() -> None:
    """Answer commands until standard input ends."""
    answers = process_messages.reserved_output()
    threads.fix()
    member = YardstickMember()
    process_messages.answer(answers, {"ready": True})
    while (command := process_messages.read(sys.stdin.buffer)) is not None:
        do = command.pop("do")
        try:
            answer = member.prepare(**command) if do == "prepare" else member.slice(**command)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        process_messages.answer(answers, answer)


if __name__ == "__main__":
    main()
