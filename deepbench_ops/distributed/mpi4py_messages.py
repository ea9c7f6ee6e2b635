"""MPI through mpi4py, with the MPI library that it finds, such as Open MPI or MPICH.

The timed calls are methods of `MPI.COMM_WORLD`, such as `Allreduce`. mpirun always starts the
ranks, also on one machine.
"""

import time
from pathlib import Path

import numpy as np
from mpi4py import MPI

from deepbench_ops.distributed.collectives import CollectiveModule
from deepbench_ops.distributed.transport_interface import Bound, Transport

TYPES = {"float32": MPI.FLOAT, "uint16": MPI.UINT16_T}
"""MPI's types of elements, by type of the arrays. MPI has no bfloat16, which is stored as
uint16: its bits can be moved but not summed (`transport.has_bfloat16`)."""

ROLL_TAG = 1
LOOK_SECONDS = 0.01


class MpiTransport(Transport):
    """MPI's world of this process; the import of mpi4py.MPI has connected it to all other ranks."""

    name = "mpi"

    def __init__(self) -> None:
        self._world = MPI.COMM_WORLD
        self._control = self._world.Dup()
        self._roll = self._world.Dup()
        self.rank = self._world.Get_rank()
        self.size = self._world.Get_size()

    @classmethod
    def join(cls, rank: int, size: int, meeting: Path, timeout: float) -> "MpiTransport":
        """Use the world that mpirun has made."""
        return cls()

    @classmethod
    def join_launched(cls, timeout: float) -> "MpiTransport":
        """Use the world that mpirun has made."""
        return cls()

    def bind(self, collective: CollectiveModule, operand: np.ndarray, result: np.ndarray) -> Bound:
        """Bind the operation to the arrays themselves, without copies."""
        pairs = ([values, TYPES[values.dtype.name]] for values in (operand, result))
        return Bound(collective.over_mpi(MPI, self._world, *pairs), _nothing, _nothing, _nothing)

    def barrier(self) -> None:
        """Wait for all ranks."""
        self._control.Barrier()

    def broadcast(self, text: str) -> str:
        """Return rank 0's text."""
        return str(self._control.bcast(text, root=0))

    def gather(self, text: str) -> list[str]:
        """Return all texts on rank 0."""
        return self._control.gather(text, root=0) or []

    def missing(self, seconds: float) -> list[int]:
        """Send every rank a token, and return the ranks whose tokens do not arrive.

        [] if the library does not allow calls during a blocked call.
        """
        if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
            return []
        absent = set(range(self.size)) - {self.rank}
        sent = [self._roll.isend(None, other, ROLL_TAG) for other in absent]
        end = time.monotonic() + seconds
        while absent and time.monotonic() < end:
            status = MPI.Status()
            if self._roll.iprobe(MPI.ANY_SOURCE, ROLL_TAG, status):
                self._roll.recv(source=status.source, tag=ROLL_TAG)
                absent.discard(status.source)
            else:
                time.sleep(LOOK_SECONDS)
        del sent
        return sorted(absent)

    def versions(self) -> dict[str, str]:
        """Return the versions of mpi4py, numpy and the MPI library."""
        library = MPI.Get_library_version().strip("\0 \n").splitlines()[0]
        return {
            "framework": f"numpy {np.__version__}",
            "numpy": np.__version__,
            "transport": "mpi",
            "mpi4py": _mpi4py_version(),
            "mpi": library.split(", package")[0],
        }

    def close(self) -> None:
        """Finalise MPI, so that mpirun treats the end of this process as regular."""
        MPI.Finalize()


def _mpi4py_version() -> str:
    import mpi4py

    return str(mpi4py.__version__)


def _nothing() -> None:
    """Do nothing: when the call returns, the result is complete and in the array."""
