"""Messages between processes: JSON objects, one a line, over pipes and sockets.

It imports nothing of the project, so that a process of any environment can use it.
"""

import json
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

Message = dict[str, Any]

CHUNK = 65536
"""Bytes that are read from a socket at once."""


def encoded(message: Message) -> bytes:
    """Return a message as one line."""
    return json.dumps(message).encode() + b"\n"


def write(stream: IO[bytes], message: Message) -> None:
    """Write a message; BrokenPipeError where the reader has ended."""
    stream.write(encoded(message))
    stream.flush()


def answer(stream: IO[bytes], message: Message) -> None:
    """Write a message to the process that asked; where that has ended, end this one at once."""
    try:
        write(stream, message)
    except BrokenPipeError:
        os._exit(1)


def read(stream: IO[bytes]) -> Message | None:
    """Return the next message, waiting for it; None where the writer has ended."""
    line = stream.readline()
    return json.loads(line) if line else None


def last_printed(text: str) -> Message | None:
    """Return the last message among the lines that a process printed, None where none is one.

    Raises ValueError for an unfinished one.
    """
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else None


def reserved_output() -> IO[bytes]:
    """Return standard output for messages alone: later prints go to stderr."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


class MessageSocket:
    """One end of a socket. Several threads may send; one receives."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._sending = threading.Lock()
        self._unread = b""

    @classmethod
    def to(cls, path: Path) -> "MessageSocket":
        """Connect to the Unix socket at this path."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        return cls(connection)

    def fileno(self) -> int:
        """Return the file descriptor, which a selector watches."""
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Send one message; OSError where the other end is closed."""
        with self._sending:
            self._socket.sendall(encoded(message))

    def receive(self) -> list[Message] | None:
        """Return the messages that are complete, waiting for bytes once; None at the end."""
        try:
            data = self._socket.recv(CHUNK)
        except ConnectionResetError:
            data = b""
        if not data:
            return None
        *complete, self._unread = (self._unread + data).split(b"\n")
        return [json.loads(line) for line in complete]

    def wait_for_end(self, seconds: float) -> None:
        """Return once the other end is closed, whatever it sends before, or the time is over."""
        with suppress(OSError):
            self._socket.settimeout(seconds)
            while self._socket.recv(CHUNK):
                continue

    def close(self) -> None:
        """Close this end."""
        self._socket.close()
