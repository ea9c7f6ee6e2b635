"""The path of the Unix socket through which asv's forkserver is given points to measure.

asv makes it in the folder of temporary files (`asv.runner.ForkServer`). Where it is too long the
server ends, and asv only says "Failed to start server thread".
"""

import os
import sys
import tempfile
from pathlib import Path

from asv.config import Config
from asv.util import UserError

LONGEST = 103 if sys.platform == "darwin" else 107
"""Bytes of a Unix socket's path: `sun_path` of <sys/un.h> holds one more, its last zero byte."""

BELOW_FOLDER = len("/asv-forkserver-12345678/socket")
"""Bytes that asv adds to the folder of temporary files; `tempfile` draws eight characters."""

VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Variables that name the folder of temporary files, in the order of `tempfile`."""


def demand_short(conf: Config, launch_method: str | None) -> None:
    """Refuse a run whose socket would have too long a path.

    launch_method: of the command line, None for that of the configuration; only forkserver has a
    socket. Raises UserError.
    """
    if (launch_method or conf.launch_method) != "forkserver":
        return
    folder = tempfile.gettempdir()
    most, length = LONGEST - BELOW_FOLDER, len(os.fsencode(folder))
    if length > most:
        raise UserError(
            f"{_source(folder)} is {length} bytes long ({folder}), and asv's socket in it would"
            f" have too long a path: set TMPDIR to a folder of at most {most} bytes, such as /tmp"
        )


def _source(folder: str) -> str:
    """Return the variable that names the folder of temporary files, or words for it."""
    named = {name: os.environ.get(name) for name in VARIABLES}
    for name, path in named.items():
        if path and Path(path).absolute() == Path(folder):
            return name
    return "the folder of temporary files"
