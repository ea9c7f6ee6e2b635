"""The commands that read the damaged files of fuzz.py, run in this process with a limit of time."""

import contextlib
import io
import json
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from deepbench_ops import cli
from deepbench_ops.asv_adapter import asv_api, plugin

plugin.install()

MEASURED = "epyc-9005-2core"
"""The machine whose results are exported, submitted and imported."""

LIMIT, LONGEST = 60, 900
"""Longest processor time of the commands of a case, and longest time on a busy machine, in
seconds."""


class Exported(NamedTuple):
    """The columns of a row of an export that depend on files of results."""

    seconds: float
    low: float | None
    high: float | None
    samples: int
    settings: str
    unsteady: str


Times = dict[tuple[Any, ...], Any]
"""Numbers, or rows of an export, by their subject."""


class Hang(BaseException):
    """A command took too long."""


def imported(world: Path, path: Path) -> tuple[Times, str]:
    """Import a file into an empty folder; return the imported times and the printed errors."""
    given = ["--results", "there"]
    if path.suffix == ".log":
        given += ["--machine", MEASURED, "--date", "2026-11-21", "--cells"]
    _, out, err = run("import", str(path), *given, within=world)
    accepted = exported(world, results="there")
    shutil.rmtree(world / "there", ignore_errors=True)
    unread = [line for line in out.splitlines() if line.startswith(f"{path.name}: ")]
    return accepted, err or "\n".join(unread)


def exported(world: Path, errors: list[str] | None = None, results: str = "results") -> Times:
    """Return all rows of a results folder, by machine, release and kernel."""
    found: Times = {}
    for machine in sorted({path.parent.name for path in (world / results).glob("*/*.json")}):
        given = ["--machine", machine, "--results", results, "--format", "json"]
        status, out, err = run("export", *given, within=world)
        if errors is not None and (status or err):
            errors.append(err)
        for row in json.loads(out or "[]"):
            axes = ("machine", "release", "set", "problem", "precision", "pass", "ranks")
            columns = Exported(*(row[name] for name in Exported._fields))
            found[tuple(row[axis] for axis in axes)] = columns
    return found


def run(*arguments: str, within: Path) -> tuple[int, str, str]:
    """Run a command in a folder; return status, output and errors. Exceptions are passed on."""
    out, err = io.StringIO(), io.StringIO()
    argv = patch.object(sys, "argv", ["deepbench", *arguments])
    with argv, contextlib.chdir(within), quiet(out, err):
        try:
            cli.main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), err.getvalue()


def publish(world: Path) -> tuple[int, list[str]]:
    """Publish a folder; return the status and the logged errors."""
    conf = asv_api.configuration(
        {
            "project": "fuzz",
            "dvcs": "releases",
            "repo": str(world / "releases.csv"),
            "branches": ["numpy", "torch"],
            "results_dir": str(world / "results"),
            "html_dir": str(world / "html"),
            "env_dir": str(world / ".asv" / "env"),
        }
    )
    lines: list[str] = []
    logged = patch.object(asv_api.log, "error", lambda line, *_, **__: lines.append(line))
    out = io.StringIO()
    with logged, quiet(out, out):
        try:
            return asv_api.publish(conf), lines
        except asv_api.UserError as wrong:
            return 1, [str(wrong)]


@contextlib.contextmanager
def quiet(out: io.StringIO, err: io.StringIO) -> Iterator[None]:
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise Hang if the block takes longer than LIMIT or LONGEST."""

    def stop(*_: object) -> None:
        raise Hang

    timers = {signal.SIGALRM: (signal.ITIMER_REAL, LONGEST)}
    timers[signal.SIGPROF] = signal.ITIMER_PROF, LIMIT
    for number, (timer, seconds) in timers.items():
        signal.signal(number, stop)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
