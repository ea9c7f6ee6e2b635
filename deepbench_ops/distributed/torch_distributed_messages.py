"""torch.distributed: gloo between vectors in main memory, nccl between GPUs of NVIDIA or AMD.

The timed calls are functions of `torch.distributed`, as a training loop calls them. All other
messages between ranks go over gloo, also with nccl, so that they need no GPU.
"""

import os
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from deepbench_ops.distributed.collectives import Call, CollectiveModule
from deepbench_ops.distributed.launchers import launcher_variables
from deepbench_ops.distributed.one_machine import rank_command
from deepbench_ops.distributed.transport_interface import Bound, Transport
from deepbench_ops.errors import Unsupported

ROLL = "deepbench-alive"
"""Beginning of the key in the store, before the rank, with which a rank answers a roll call."""

LOOK_SECONDS = 0.1

REFUSALS = ("not support", "no support", "scalar type", "not implemented")
"""Parts of torch's errors about a call or a type that a backend does not have."""


class TorchTransport(Transport):
    """The default process group of this process, made from a store that all ranks can reach."""

    backend: ClassVar[str]

    def __init__(self, rank: int, size: int, store: Any, timeout: float) -> None:
        self.rank = rank
        self.size = size
        self._store = store
        self._demand_device()
        # The supervisor of the ranks reports first, since it knows which rank does not answer.
        limit = timedelta(seconds=2 * timeout + 30)
        dist.init_process_group(
            self.backend, store=store, rank=rank, world_size=size, timeout=limit
        )
        self._control = dist.group.WORLD
        if self.backend != "gloo":
            self._control = dist.new_group(backend="gloo", timeout=limit)

    @classmethod
    def join(cls, rank: int, size: int, meeting: Path, timeout: float) -> "TorchTransport":
        """Connect over a file; torch's store at a port could be reached by other users."""
        torch.set_num_threads(rank_command.THREADS)  # torch may have started with more
        store = dist.FileStore(str(meeting), size)
        store.set_timeout(timedelta(seconds=timeout))
        return cls(rank, size, store, timeout)

    @classmethod
    def join_launched(cls, timeout: float) -> "TorchTransport":
        """Connect by MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE, which torchrun sets.

        Of Slurm's ranks the last two are set here.
        """
        os.environ.update(launcher_variables.for_torch())
        limit = timedelta(seconds=timeout)
        store, rank, size = next(iter(rendezvous("env://", timeout=limit)))
        return cls(rank, size, store, timeout)

    def bind(self, collective: CollectiveModule, operand: np.ndarray, result: np.ndarray) -> Bound:
        """Bind the operation to the arrays themselves, without copies."""
        run = self._call(collective, _tensor(operand), _tensor(result))
        return Bound(run, _nothing, _nothing, _nothing)

    def lacks(self, fault: Exception) -> str:
        """Return the first line of torch's error about a missing operation; "" for other errors."""
        words = str(fault).strip().partition("\n")[0]
        return words if any(refusal in words.lower() for refusal in REFUSALS) else ""

    def _call(
        self, collective: CollectiveModule, operand: torch.Tensor, result: torch.Tensor
    ) -> Call:
        try:
            return collective.over_torch(dist, operand, result)
        except AttributeError as missing:
            raise Unsupported(f"torch {torch.__version__}: {missing}") from None

    def barrier(self) -> None:
        """Wait for all ranks, over gloo."""
        dist.barrier(group=self._control)

    def broadcast(self, text: str) -> str:
        """Return rank 0's text."""
        box = [text]
        dist.broadcast_object_list(box, src=0, group=self._control)
        return box[0]

    def gather(self, text: str) -> list[str]:
        """Return all texts on rank 0."""
        box: list[str] | None = [""] * self.size if self.rank == 0 else None
        dist.gather_object(text, box, dst=0, group=self._control)
        return box or []

    def missing(self, seconds: float) -> list[int]:
        """Answer in the store, and return the ranks that do not answer; [0] without a store."""
        end = time.monotonic() + seconds
        absent = list(range(self.size))
        try:
            self._store.set(f"{ROLL}/{self.rank}", "")
            while absent and time.monotonic() < end:
                time.sleep(LOOK_SECONDS)
                absent = [r for r in absent if not self._store.check([f"{ROLL}/{r}"])]
        except RuntimeError:
            return [0]
        return absent

    def versions(self) -> dict[str, str]:
        """Return the versions of torch and numpy, the number of threads, the transport, and the
        network interface from the environment."""
        found = {
            "framework": f"torch {torch.__version__}",
            "torch": str(torch.__version__),
            "numpy": np.__version__,
            "torch_threads": str(torch.get_num_threads()),
            "transport": self.backend,
            "gloo_interface": os.environ.get("GLOO_SOCKET_IFNAME", ""),
        }
        return {key: value for key, value in found.items() if value}

    def close(self) -> None:
        """Destroy the process group."""
        dist.destroy_process_group()

    def _demand_device(self) -> None:
        """Raise Unsupported if this machine does not have the devices that the backend needs."""


class GlooTransport(TorchTransport):
    """Vectors in main memory, over TCP."""

    name = backend = "gloo"


class NcclTransport(TorchTransport):
    """Vectors on GPUs, one for each rank of a machine."""

    name = backend = "nccl"

    def bind(self, collective: CollectiveModule, operand: np.ndarray, result: np.ndarray) -> Bound:
        """Bind the operation to copies of the arrays on this rank's GPU."""
        hosts = [_tensor(result)] if operand is result else [_tensor(operand), _tensor(result)]
        on_gpu = [torch.empty_like(host, device="cuda") for host in hosts]

        def load() -> None:
            for there, host in zip(on_gpu, hosts, strict=True):
                there.copy_(host)

        return Bound(
            self._call(collective, on_gpu[0], on_gpu[-1]),
            torch.cuda.synchronize,
            load,
            partial(hosts[-1].copy_, on_gpu[-1]),
        )

    def versions(self) -> dict[str, str]:
        """Return the versions of `TorchTransport`, that of NCCL, and the name of the GPU."""
        release = torch.cuda.nccl.version()
        return {
            **super().versions(),
            "nccl": ".".join(map(str, release)) if isinstance(release, tuple) else str(release),
            "device": torch.cuda.get_device_name(),
        }

    def _demand_device(self) -> None:
        if not dist.is_nccl_available():
            raise Unsupported(f"torch {torch.__version__} is built without nccl")
        local = int(os.environ.get("LOCAL_RANK", self.rank))
        here = int(os.environ.get("LOCAL_WORLD_SIZE", self.size))
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if here > count:
            raise Unsupported(f"nccl needs a GPU for each of the {here} ranks and finds {count}")
        torch.cuda.set_device(local)


def _tensor(values: np.ndarray) -> torch.Tensor:
    """Return an array as a tensor in the same memory; uint16 becomes bfloat16."""
    if values.dtype == np.uint16:
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(values)


def _nothing() -> None:
    """Do nothing: on a CPU the operation is complete when the call returns."""
