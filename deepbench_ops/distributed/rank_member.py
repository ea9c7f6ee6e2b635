"""One rank: its vectors, and the orders that it carries out, the same on one machine and on many.

The timed region has only the collective operations: `calls` of them without a pause, on existing
vectors. It begins when a rank leaves the barrier and ends when its last call returns. The vectors
are filled and compared outside, and the barrier is outside as well.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from deepbench_ops.distributed.rank_contents import Contents, as_float32
from deepbench_ops.distributed.transport_interface import Bound, Transport
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.garbage_collector_pause import no_collector
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.random_operands import aligned_empty

# States of a rank, for messages about ranks that do not answer.
IDLE = "waiting for orders"
PREPARING = "preparing its vector"
MEETING = "waiting at the barrier"
EXCHANGING = "in the collective operation"
COMPARING = "comparing its result"

WAITING_STATES = (MEETING, EXCHANGING, IDLE)
"""States in which a rank waits for other ranks."""

STAGES = {
    "join": "joining the others",
    "prepare": "preparing its vector",
    "reset": "preparing its vector",
    "run": "exchanging",
    "slice": "exchanging",
    "verify": "comparing its result",
    "peek": "showing its result",
}
"""Description of each order, for messages."""

ORDERS = ("prepare", "reset", "run", "slice", "verify", "peek")


class RankMember:
    """One rank with its vectors; each order is the method of the same name."""

    def __init__(self, transport: Transport) -> None:
        self.doing = IDLE
        self._transport = transport
        self._contents: Contents
        self._operand: np.ndarray
        self._values: np.ndarray  # the result
        self._bound: Bound
        self._calls = 0

    def carry_out(self, do: str, **details: Any) -> dict[str, object]:
        """Carry out one of ORDERS and return its answer."""
        assert do in ORDERS
        try:
            return dict(getattr(self, do)(**details))
        finally:
            self.doing = IDLE

    def prepare(
        self,
        elements: int,
        seed: int = 0,
        family: str = AllReduce.family,
        precision: str = AllReduce.precisions[0],
    ) -> Mapping[str, object]:
        """Make the vectors of this rank; they replace earlier ones.

        elements: size of the whole vector, a multiple of the number of ranks if it is divided.
        """
        self.doing = PREPARING
        self._release()  # frees the earlier vectors first
        rank, size = self._transport.rank, self._transport.size
        self._contents = Contents(family, elements, size, precision, seed)
        collective, kind = self._contents.collective, self._contents.stored_type
        self._values = aligned_empty((self._contents.result_size(rank),), kind)
        self._operand = self._values
        if not collective.IN_PLACE:
            self._operand = aligned_empty((self._contents.operand_size(rank),), kind)
        self._bound = self._transport.bind(collective, self._operand, self._values)
        return self.reset()

    def reset(self) -> Mapping[str, object]:
        """Restore the initial values, and fill the result with invalid values."""
        self.doing = PREPARING
        self._contents.fill(self._operand, self._transport.rank)
        if self._operand is not self._values:
            self._contents.spoil(self._values)
        self._bound.load()
        self._bound.synchronise()
        self._calls = 0
        return {}

    def run(self) -> Mapping[str, object]:
        """Carry out the operation once, on the current contents of the vectors.

        Raises Unsupported if the library does not have it.
        """
        self.doing = EXCHANGING
        try:
            self._bound.run()
            self._bound.synchronise()
        except RuntimeError as fault:
            if refusal := self._transport.lacks(fault):
                raise Unsupported(refusal) from None
            raise
        self._calls += 1
        return {}

    def slice(self, calls: int) -> Mapping[str, object]:
        """Return the seconds of `calls` calls on this rank, from the initial values on.

        Each sum in place multiplies the vector by the number of ranks. Before it would overflow, it
        is reset and the ranks wait for each other, outside the time.
        """
        seconds = 0.0
        for batch in self._batches(calls):
            if self._calls:
                self.reset()
            self.doing = MEETING
            self._transport.barrier()
            self.doing = EXCHANGING
            self._calls = batch
            seconds += self._timed(batch)
        return {"seconds": seconds}

    def verify(self) -> Mapping[str, object]:
        """Compare every entry with its correct value after the calls since the last reset.

        Raises DeepbenchError with rank, entry and value of the first difference.
        """
        self.doing = COMPARING
        self._bound.store()
        self._bound.synchronise()
        rank = self._transport.rank
        wrong = self._contents.mismatch(self._values, self._calls, rank)
        if wrong is not None:
            raise DeepbenchError(
                f"rank {rank} of {self._transport.size} holds a wrong"
                f" {self._contents.collective.RESULT}, and its time is void: entry {wrong.entry} of"
                f" {len(self._values)} is {wrong.actual:.9g} instead of {wrong.expected:.9g}"
            )
        return {}

    def peek(self, entries: list[int]) -> Mapping[str, object]:
        """Return the values at a few entries."""
        self._bound.store()
        self._bound.synchronise()
        return {"values": as_float32(self._values[entries]).astype(np.float64).tolist()}

    def _release(self) -> None:
        self._operand = self._values = np.empty(0, np.float32)
        self._bound = Bound(*[_nothing] * 4)

    def _timed(self, calls: int) -> float:
        run = self._bound.run
        with no_collector():
            start = time.perf_counter()
            for _ in range(calls):
                run()
            self._bound.synchronise()
            return time.perf_counter() - start

    def _batches(self, calls: int) -> Iterator[int]:
        most = self._contents.most_calls or calls
        while calls > 0:
            yield min(calls, most)
            calls -= most


def _nothing() -> None:
    """Do nothing: placeholder of a call before vectors exist."""
