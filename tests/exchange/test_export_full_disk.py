"""Exports to a disk without room: one line, and the former file stays, in every format."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from deepbench_ops.exchange.workbooks import workbook_writer

pytestmark = pytest.mark.slow

pytest.importorskip("asv", reason="results are read by asv")

RESULTS = Path(__file__).resolve().parents[2] / "results"
FORMS = ("csv", "json", "parquet", "xlsx")
LIMIT = 4096
"""Bytes that a file may have, fewer than any of the exports."""

LIMITED = f"""
import resource, signal
from deepbench_ops import cli
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}))
cli.main()
"""
PLAIN = "from deepbench_ops import cli; cli.main()"
ASKED = ["--machine", "epyc-9004-2core", "--release", "numpy-2.4.6", "--set", "training"]


def export(program, path):
    """Run the command to its end."""
    command = [sys.executable, "-c", program, "export", str(path), *ASKED]
    command += ["--results", str(RESULTS)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture
def disk(tmp_path):
    """A file system of its own with room for a file of LIMIT bytes."""
    size = f"size={2 * LIMIT}"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", tmp_path], check=False)
    if mounted.returncode:
        pytest.skip("only root may mount here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def outcome(done, path):
    """Return the status and, of the one line and the folder that a failed command leaves, whether
    the line names a file, and the text of each file."""
    line = done.stderr.splitlines()[-1]
    named = re.search(rf"{path.name}|{tempfile.gettempdir()}", line) is not None
    return done.returncode, named, {each.name: each.read_text() for each in path.parent.iterdir()}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_may_not_grow_leaves_the_former_one(form, tmp_path):
    path = tmp_path / f"all.{form}"
    path.write_text("former")
    done = export(LIMITED, path)
    assert (2, True, {path.name: "former"}) == outcome(done, path), done.stderr
    assert "Traceback" not in done.stderr
    assert re.search("^deepbench: error: .*File too large", done.stderr, re.MULTILINE)


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_leaves_the_former_file(form, disk):
    path = disk / f"all.{form}"
    path.write_text("former")
    done = export(PLAIN, path)
    assert (2, True, {path.name: "former"}) == outcome(done, path), done.stderr
    assert "Traceback" not in done.stderr
    assert re.search("^deepbench: error: .*No space left on device", done.stderr, re.MULTILINE)


def test_a_writer_that_fails_again_while_it_is_closed_reports_the_disk() -> None:
    """openpyxl's error of another kind, raised on the way out, hides the first one."""

    class Book:
        def save(self, content: object) -> None:
            try:
                raise OSError(28, "No space left on device")
            finally:
                raise RuntimeError("generator didn't stop after throw()")

    with pytest.raises(OSError, match="No space left on device"):
        workbook_writer._saved(Book())


@pytest.mark.parametrize(
    ("name", "text"),
    [("IO_EFBIG", "File too large"), ("IO_ENOSPC", "No space"), ("IO_WRITE", "Input/output")],
)
def test_the_error_of_lxml_reports_the_disk(name: str, text: str) -> None:
    """openpyxl writes by lxml where that is installed."""

    class SerialisationError(Exception):
        """As lxml's own."""

    class Book:
        def save(self, content: object) -> None:
            raise SerialisationError(name)

    with pytest.raises(OSError, match=text):
        workbook_writer._saved(Book())
