"""JSON messages, one a line, over a socket between a group and each of its ranks."""

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

Message = dict[str, Any]

CHUNK = 65536


class Line:
    """One end. Several threads may send; one receives."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._sending = threading.Lock()
        self._unread = b""

    @classmethod
    def to(cls, path: Path) -> "Line":
        """Connect to the socket at this path."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        return cls(connection)

    def fileno(self) -> int:
        """Let a selector watch it."""
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Send one message; OSError when nobody is at the other end."""
        data = json.dumps(message).encode() + b"\n"
        with self._sending:
            self._socket.sendall(data)

    def receive(self) -> list[Message] | None:
        """Return the messages that have become whole, waiting for bytes once; None at the end."""
        try:
            data = self._socket.recv(CHUNK)
        except ConnectionResetError:
            data = b""
        if not data:
            return None
        *whole, self._unread = (self._unread + data).split(b"\n")
        return [json.loads(text) for text in whole]

    def wait_for_end(self, seconds: float) -> None:
        """Return once the other end has hung up, whatever it says before, or the time is over."""
        with suppress(OSError):
            self._socket.settimeout(seconds)
            while self._socket.recv(CHUNK):
                continue

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
