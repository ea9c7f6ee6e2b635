"""Ranks that torchrun or mpirun has started, on one machine or on many, with rank 0 as leader.

All ranks run the same program. Rank 0 broadcasts an order, all ranks carry it out, and rank 0
gathers the answers, so `LaunchedRanks` has the interface of `RankGroup`. No other process
supervises them. If an order takes too long, or the transport reports a broken connection, all
running ranks answer a roll call, the lowest one prints the missing ranks, and all end.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from deepbench_ops.distributed.launchers import launcher_variables
from deepbench_ops.distributed.rank_member import STAGES, RankMember
from deepbench_ops.distributed.transport_interface import Transport
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.process_messages import Message

ROLL_SECONDS = 5.0
"""Seconds that a roll call waits; all ranks notice a fault at about the same time."""

WORD_SECONDS = 2.0
"""Seconds that the other ranks wait until the missing ranks are printed. A launcher ends all ranks
when one has ended, and messages that are not yet printed would be lost."""


class TransportWatchdog:
    """Watchdog that ends this process when its transport hangs, with a message about the missing
    ranks."""

    def __init__(self, transport: Transport, timeout: float) -> None:
        self._transport = transport
        self._timeout = timeout
        self._calling = threading.Lock()

    @contextmanager
    def supervise(self, stage: str) -> Iterator[None]:
        """Context that ends the process if the block takes too long or fails."""
        late = f"no end of it within {self._timeout:g} s"
        timer = threading.Timer(self._timeout, self._blame, (stage, late))
        timer.daemon = True
        timer.start()
        try:
            yield
        except RuntimeError as broken:  # torch and mpi4py raise it for a broken connection
            self._blame(stage, " ".join(str(broken).split()) or type(broken).__name__)
        except Exception as fault:
            self._end(f"failed while {stage}: {type(fault).__name__}: {fault}")
        finally:
            timer.cancel()

    def _blame(self, stage: str, why: str) -> NoReturn:
        """Print the missing ranks, unless a lower rank prints them, and end this process."""
        with self._calling:
            me, size = self._transport.rank, self._transport.size
            missing = sorted(set(self._roll()) - {me})
            if not missing:
                self._end(f"failed while {stage}: {why}")
            names = ", ".join(map(str, missing))
            if me == min(set(range(size)) - set(missing)):
                say(f"rank {names} of {size} no longer answers, while {stage}: {why}")
            else:
                time.sleep(WORD_SECONDS)
            os._exit(1)

    def _roll(self) -> list[int]:
        """Return the missing ranks; rank 0, which has the list, if it cannot be reached."""
        found: list[list[int]] = []
        calling = threading.Thread(
            target=lambda: found.append(self._transport.missing(ROLL_SECONDS)), daemon=True
        )
        calling.start()
        calling.join(ROLL_SECONDS + 2)
        return found[0] if found else [0]

    def _end(self, what: str) -> NoReturn:
        say(f"rank {self._transport.rank} of {self._transport.size} {what}")
        os._exit(1)


class LaunchedRanks:
    """All ranks of the launcher, with rank 0's functions to lead them."""

    def __init__(self, transport: Transport, timeout: float) -> None:
        self.name = transport.name
        self.size = transport.size
        self.here = launcher_variables.here()
        self.versions = transport.versions()
        self._transport = transport
        self._member = RankMember(transport)
        self._watchdog = TransportWatchdog(transport, timeout)

    def ask(self, do: str, **details: object) -> list[Message]:
        """Have every rank carry out an order, and return their answers by rank.

        Raises DeepbenchError with the reason of the first rank that failed, Unsupported if the
        library of a rank does not have the operation.
        """
        with self._watchdog.supervise(STAGES[do]):
            self._transport.broadcast(json.dumps({"do": do, **details}))
            answers = self._transport.gather(_answer(self._member, {"do": do, **details}))
        heard = [json.loads(answer) for answer in answers]
        for answer in heard:
            if "unsupported" in answer:
                raise Unsupported(answer["unsupported"])
            if "error" in answer:
                raise DeepbenchError(answer["error"])
        return [answer["answer"] for answer in heard]

    def close(self, status: int = 0) -> None:
        """End all ranks with this exit status."""
        with self._watchdog.supervise("ending"):
            self._transport.broadcast(json.dumps({"do": "end", "status": status}))
            self._transport.close()


def follow(transport: Transport, timeout: float) -> int:
    """Carry out the orders of rank 0 until the last one; return the exit status that it
    contains."""
    member = RankMember(transport)
    watchdog = TransportWatchdog(transport, timeout)
    while True:
        with watchdog.supervise("waiting for rank 0"):
            order = json.loads(transport.broadcast(""))
        if order["do"] == "end":
            with watchdog.supervise("ending"):
                transport.close()
            return int(order["status"])
        with watchdog.supervise(STAGES[order["do"]]):
            transport.gather(_answer(member, order))


def _answer(member: RankMember, order: Message) -> str:
    try:
        return json.dumps({"answer": member.carry_out(**order)})
    except Unsupported as reason:
        return json.dumps({"unsupported": str(reason)})
    except DeepbenchError as error:
        return json.dumps({"error": str(error)})


def say(line: str) -> None:
    """Print an error in the form of the `deepbench` command."""
    print(f"deepbench: error: {line}", file=sys.stderr, flush=True)
