"""TCP ports on which processes listen, as Linux lists them."""

import socket
import struct
from collections.abc import Iterable
from pathlib import Path

LISTENING = "0A"


def processes_below(pid: int) -> list[int]:
    """A process and all its descendants, without those that end meanwhile."""
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = path.read_text().split()
        except OSError:  # the thread has ended
            continue
        for child in children:
            found += processes_below(int(child))
    return found


def listening(pids: Iterable[int]) -> set[str]:
    """The addresses at which processes listen for TCP connections."""
    return set(listening_sockets(pids).values())


def listening_sockets(pids: Iterable[int]) -> dict[str, str]:
    """Their listening TCP sockets: the inode of each, and its address."""
    own = set()
    for pid in pids:
        for path in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                own.add(str(path.readlink()))
            except OSError:
                continue
    found = {}
    for name, kind in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path("/proc/net", name).read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENING and f"socket:[{inode}]" in own:
                words = bytes.fromhex(local.partition(":")[0])
                address = b"".join(
                    struct.pack(">I", *struct.unpack("=I", words[at : at + 4]))
                    for at in range(0, len(words), 4)
                )
                found[inode] = socket.inet_ntop(kind, address)
    return found
