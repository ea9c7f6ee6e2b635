"""Orders that every rank carries out, the same on one machine and on many.

Inside the timed region are the all-reduces and nothing else: `calls` of them back to back, in
place, on vectors that all ranks hold already, from a rank's own leaving of the barrier to its
own end of the last one. Outside are filling the vectors, the barrier, and the comparison.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from deepbench_ops.distributed.initial_vectors import Pattern
from deepbench_ops.distributed.transport import Summing, Transport
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.gc_pause import no_collector
from deepbench_ops.random_operands import aligned_empty

# States of a rank, for messages on ranks that do not answer.
IDLE = "waiting for orders"
PREPARING = "preparing its vector"
MEETING = "waiting at the barrier"
SUMMING = "in the all-reduce"
COMPARING = "comparing its result"

WAITING_STATES = (MEETING, SUMMING, IDLE)
"""States in which a rank waits for other ranks."""

STAGES = {
    "join": "joining the others",
    "prepare": "preparing its vector",
    "reset": "preparing its vector",
    "run": "summing",
    "slice": "summing",
    "verify": "comparing its result",
    "peek": "showing its result",
}
"""Names of the work under each order, for messages."""

ORDERS = ("prepare", "reset", "run", "slice", "verify", "peek")


class Member:
    """One rank with its vector; orders are methods, by name."""

    def __init__(self, transport: Transport) -> None:
        self.doing = IDLE
        self._transport = transport
        self._pattern: Pattern
        self._values: np.ndarray
        self._summing: Summing
        self._calls = 0

    def obey(self, do: str, **details: Any) -> dict[str, object]:
        """Carry out one order, of ORDERS, and return its answer."""
        assert do in ORDERS
        try:
            return dict(getattr(self, do)(**details))
        finally:
            self.doing = IDLE

    def prepare(self, elements: int, seed: int = 0) -> Mapping[str, object]:
        """Make the vector of this rank, in place of any earlier one."""
        self.doing = PREPARING
        self._values = np.empty(0, np.float32)  # frees the last one first
        self._pattern = Pattern(elements, self._transport.size, seed)
        self._values = aligned_empty((elements,), np.float32)
        self._summing = self._transport.bind(self._values)
        return self.reset()

    def reset(self) -> Mapping[str, object]:
        """Put the initial values back."""
        self.doing = PREPARING
        self._pattern.fill(self._values, self._transport.rank)
        self._summing.load()
        self._summing.synchronise()
        self._calls = 0
        return {}

    def run(self) -> Mapping[str, object]:
        """Sum once, whatever the vector holds by now."""
        self.doing = SUMMING
        self._summing.run()
        self._summing.synchronise()
        self._calls += 1
        return {}

    def slice(self, calls: int) -> Mapping[str, object]:
        """Return the seconds that this rank spent on so many sums.

        It begins with the initial values. As each sum multiplies the vector by the number of
        ranks, it is reset and the ranks meet again, outside the time, before it would overflow.
        """
        seconds = 0.0
        for batch in self._batches(calls):
            if self._calls:
                self.reset()
            self.doing = MEETING
            self._transport.barrier()
            self.doing = SUMMING
            self._calls = batch
            seconds += self._timed(batch)
        return {"seconds": seconds}

    def verify(self) -> Mapping[str, object]:
        """Compare every entry with what it must be after the sums since the last reset.

        Raises DeepbenchError naming rank, entry and value.
        """
        self.doing = COMPARING
        self._summing.store()
        self._summing.synchronise()
        wrong = self._pattern.mismatch(self._values, self._calls)
        if wrong is not None:
            raise DeepbenchError(
                f"rank {self._transport.rank} of {self._transport.size} holds a wrong sum, and"
                f" its time is void: entry {wrong.entry} of {self._pattern.elements} is"
                f" {wrong.actual:.9g} instead of {wrong.expected:.9g}"
            )
        return {}

    def peek(self, entries: list[int]) -> Mapping[str, object]:
        """Return the values at a few entries."""
        self._summing.store()
        self._summing.synchronise()
        return {"values": self._values[entries].astype(np.float64).tolist()}

    def _timed(self, calls: int) -> float:
        run = self._summing.run
        with no_collector():
            start = time.perf_counter()
            for _ in range(calls):
                run()
            self._summing.synchronise()
            return time.perf_counter() - start

    def _batches(self, calls: int) -> Iterator[int]:
        most = self._pattern.most_calls
        while calls > 0:
            yield min(calls, most)
            calls -= most
