"""The limit of a folder of temporary files for asv's forkserver."""

import io
import os
import socket
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from asv.config import Config
from asv.runner import ForkServer
from asv.util import UserError

from deepbench_ops.asv_adapter import socket_path

MOST = socket_path.LONGEST - socket_path.BELOW_FOLDER


def conf(launch_method: str | None = "forkserver") -> Config:
    """A configuration with a way of starting processes."""
    made = Config()
    made.launch_method = launch_method
    return made


@pytest.fixture
def folder(monkeypatch):
    """Make a folder of temporary files with a path of so many bytes, which TMPDIR names."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:

        def make(length: int, variable: str = "TMPDIR") -> Path:
            path = Path(top, "x" * (length - len(top) - 1))
            path.mkdir()
            for name in socket_path.VARIABLES:
                monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv(variable, str(path))
            monkeypatch.setattr(tempfile, "tempdir", None)
            return path

        yield make


@pytest.mark.parametrize("variable", socket_path.VARIABLES)
def test_one_byte_too_many_is_refused(folder, variable):
    """The line names the variable, its length and the longest folder that fits."""
    folder(MOST)
    socket_path.demand_short(conf(), None)
    folder(MOST + 1, variable)
    with pytest.raises(
        UserError, match=rf"^{variable} is {MOST + 1} bytes .* at most {MOST} bytes"
    ):
        socket_path.demand_short(conf(), None)


def test_characters_of_several_bytes_count_as_bytes(folder, monkeypatch):
    """A folder of few characters is refused where its bytes are too many."""
    path = folder(30) / ("\u00e9" * 25)
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert len(str(path)) <= MOST < len(os.fsencode(path))
    with pytest.raises(UserError, match=f"is {len(os.fsencode(path))} bytes"):
        socket_path.demand_short(conf(), None)


@pytest.mark.parametrize(
    ("configured", "asked"), [("spawn", None), (None, None), ("forkserver", "spawn")]
)
def test_without_a_forkserver_any_folder_will_do(folder, configured, asked):
    """Processes that asv starts one by one have no socket."""
    folder(MOST + 1)
    with pytest.raises(UserError):
        socket_path.demand_short(conf(), None)
    socket_path.demand_short(conf(configured), asked)


def test_the_longest_folder_holds_the_socket_that_asv_makes(folder):
    """A socket can be bound where asv puts it, and at a path of one byte more it cannot."""
    folder(MOST)
    bound = []

    def run(arguments, **options):
        bound.append(socket.socket(socket.AF_UNIX))
        bound[0].bind(arguments[-1])
        return SimpleNamespace(stdout=io.BytesIO(), pid=0)

    env = SimpleNamespace(env_vars={}, run=run)
    server = ForkServer(env, "benchmarks")
    name = server.socket_name
    assert socket_path.LONGEST == len(os.fsencode(name))
    with bound[0], socket.socket(socket.AF_UNIX) as other, pytest.raises(OSError, match="too long"):
        other.bind(f"{name}x")
