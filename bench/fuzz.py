#!/usr/bin/env python3
"""Damaged files of every kind that the tool reads, and what the commands make of them.

    python bench/fuzz.py --cases 500 --seed 1

Each case takes a small project, damages one file (bytes flipped, cut, a value of another kind, a
huge number, NaN or infinity, deep nesting, a line or an item twice) and runs the commands that read
it. Counted are

- tracebacks: anything but an answer or an error of one line;
- hangs: commands that take longer than LIMIT;
- wrong numbers: times that are accepted though the damage changed them and they cannot be right:
  outside of 1 ns to 1 day, changed by a cut, or in place of a value of another kind;
- silent losses: times that are missing from an answer with status 0 and no line about it.

A digit that became another digit is a time like any other where nothing contradicts it; these are
counted as plausible, not as wrong. Ends with status 1 where anything but those was counted.
"""

import argparse
import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import openpyxl
from asv.commands.publish import Publish
from asv.config import Config
from asv.util import UserError
from tabulate import tabulate

from deepbench_ops import cli
from deepbench_ops.asv_adapter import config, plugin
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import measurements, valid_times

plugin.install()

ROOT = Path(__file__).resolve().parent.parent
MEASURED, PUBLISHED = "epyc-9005-2core", "raspberry-pi-3"
RELEASES = 2
"""Number of releases of the measured machine."""

LIMIT = 60
"""Seconds of a command."""

ODD: list[Any] = [
    *(True, None, "x", "1.0", [], {}, -1, 0, 1e9, 1e308, 1e-320, float("nan"), float("inf")),
    *(10**30, "=1+1", "<b>"),
]
"""Values that replace another; "deep" stands for a hundred thousand brackets."""

Times = dict[tuple[Any, ...], float]


@dataclass
class Outcome:
    """Outcome of the commands on a case."""

    traceback: str = ""
    hang: bool = False
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    plausible: int = 0
    refused: bool = False


class Hang(BaseException):
    """A command took too long."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="leave out the cases before")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="KIND", help="files of this kind alone")
    options = parser.parse_args()
    kinds = [options.only] if options.only else list(KINDS)
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["HOME"] = scratch  # no one's own list of machines
        base = Path(scratch) / "base"
        sound = build(base)
        for case in range(options.first, options.cases):
            kind = kinds[case % len(kinds)]
            draw = random.Random(f"{options.seed} {case}")
            world = Path(scratch) / "world"
            shutil.copytree(base, world)
            path = KINDS[kind].path(world)
            how = DAMAGES[draw.choice(sorted(DAMAGES))]
            what = damage(path, how, draw)
            found = judged(KINDS[kind], world, path, what, sound.get(kind, sound["results"]))
            shutil.rmtree(world)
            counts[kind] += tallied(found)
            if case % 25 == 24:
                print(f"{case + 1} cases, {faults} with faults", file=sys.stderr, flush=True)
            if found.traceback or found.hang or found.wrong or found.lost:
                faults += 1
                print(f"case {case}: {kind}, {what}: {found}", flush=True)
    heads = ("cases", "refused", "plausible", "tracebacks", "hangs", "wrong", "lost")
    rows = [[kind, *(counts[kind][head] for head in heads)] for kind in kinds]
    rows.append(["all", *(sum(each[head] for each in counts.values()) for head in heads)])
    print(tabulate(rows, ["file", *heads]))
    return 1 if faults else 0


def tallied(found: Outcome) -> Counter[str]:
    return Counter(
        cases=1,
        refused=int(found.refused),
        plausible=found.plausible,
        tracebacks=int(bool(found.traceback)),
        hangs=int(found.hang),
        wrong=len(found.wrong),
        lost=len(found.lost),
    )


# The project, and the files in it.


def build(folder: Path) -> dict[str, Times]:
    """Make the project; return the times of its results and of its exports, by kind."""
    results = folder / "results"
    for machine in (MEASURED, PUBLISHED):
        shutil.copytree(ROOT / "results" / machine, results / machine)
    for path in sorted((results / MEASURED).glob("*-release-*.json"))[RELEASES:]:
        path.unlink()
        measurements.file_of(path).unlink()
    runs = (ROOT / "results" / "xeon-amx-2core" / "model_runs.jsonl").read_text()
    (results / MEASURED / "model_runs.jsonl").write_text("".join(runs.splitlines(True)[:3]))
    listed = json.loads((ROOT / "results" / "benchmarks.json").read_text())
    kept = {name: each for name, each in listed.items() if name in ("version", *BENCHMARKS)}
    (results / "benchmarks.json").write_text(json.dumps(kept))
    table = (ROOT / "deepbench_ops" / "releases" / "releases.csv").read_text()
    (folder / "releases.csv").write_text(table)
    own = config.load(ROOT / "asv.conf.json") | {"repo": "releases.csv"}
    (folder / "asv.conf.json").write_text(json.dumps(own, indent=1))
    (folder / "sent").mkdir()
    for form in ("csv", "json", "parquet"):
        run("export", f"sent/all.{form}", "--machine", MEASURED, within=folder)
    run("export", "sent/all.xlsx", "--machine", MEASURED, "--set", SET, within=folder)
    run("submit", "sent/sent.json", "--machine", MEASURED, within=folder)
    (folder / "sent" / "gemm.log").write_text(LOG)
    publish(folder)
    sound = {"results": exported(folder)}
    for name in SENT:
        sound[name] = imported(folder, folder / "sent" / SENT[name])[0]
        assert sound[name], name
    return sound


BENCHMARKS = ("gemm.Training.kernel_forward", "gemm.InferenceDevice.kernel_forward")
SET = "training"
LOG = "\n".join(
    [
        "Running training benchmark",
        "    m       n      k      a_t     b_t      precision        time (usec) ",
        *(f"1760 {n} 1760 0 0 float {n * 13.25}" for n in (16, 32, 64, 128)),
        "",
    ]
)
SENT = {
    "export csv": "all.csv",
    "export json": "all.json",
    "export parquet": "all.parquet",
    "workbook": "all.xlsx",
    "submission": "sent.json",
    "log": "gemm.log",
}


@dataclass(frozen=True)
class Kind:
    """A kind of file: its place, and its reader ("results", "sent" or "config")."""

    pattern: str
    reader: str

    def path(self, world: Path) -> Path:
        return min(world.glob(self.pattern))


KINDS = {
    "result": Kind(f"results/{MEASURED}/*-release-*.json", "results"),
    "published result": Kind(f"results/{PUBLISHED}/*-published.json", "results"),
    "benchmarks.json": Kind("results/benchmarks.json", "results"),
    "machine.json": Kind(f"results/{MEASURED}/machine.json", "results"),
    "machine.profile": Kind(f"results/{MEASURED}/machine.profile", "results"),
    "measurements": Kind(f"results/{MEASURED}/*.measurements.jsonl*", "results"),
    "model runs": Kind(f"results/{MEASURED}/model_runs.jsonl", "results"),
    "releases.csv": Kind("releases.csv", "results"),
    "asv.conf.json": Kind("asv.conf.json", "config"),
    "cache of lines": Kind(".asv/deepbench-lines/*", "results"),
    "cache of fits": Kind(".asv/fitted.json", "results"),
    **{name: Kind(f"sent/{file}", "sent") for name, file in SENT.items()},
}


# Damage.


def damage(path: Path, how: Callable[[bytes, random.Random], bytes], draw: random.Random) -> str:
    """Damage a file; return the kind of damage."""
    before = path.read_bytes()
    name = how.__name__
    if path.suffix == ".xlsx" and name not in ("flipped", "cut"):
        return _damaged_workbook(path, draw)
    after = how(before, draw)
    path.write_bytes(after)
    return name


def flipped(content: bytes, draw: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(draw.randint(1, 3)):
        found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


def cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def replaced(content: bytes, draw: random.Random) -> bytes:
    """One number of a text by something that is no such number."""
    odd = draw.choice(ODD)
    places = list(re.finditer(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])", content))
    return _with(content, draw.choice(places) if places else None, json.dumps(odd).encode())


def swapped(content: bytes, draw: random.Random) -> bytes:
    """One text by a value of another kind."""
    places = list(re.finditer(rb'"[^"\n]*"', content))
    odd = json.dumps(draw.choice(ODD)).encode()
    return _with(content, draw.choice(places) if places else None, odd)


def nested(content: bytes, draw: random.Random) -> bytes:
    """One number by a hundred thousand brackets."""
    places = list(re.finditer(rb"(?<![\w.])\d+\.\d+(?![\w.])", content))
    return _with(content, draw.choice(places) if places else None, b"[" * 100_000)


def doubled(content: bytes, draw: random.Random) -> bytes:
    """A line twice, in a file of one line an item of a list."""
    lines = content.splitlines(True)
    if len(lines) > 2:
        at = draw.randrange(len(lines))
        return b"".join([*lines[: at + 1], *lines[at:]])
    places = list(re.finditer(rb"\d+(?:\.\d+)?(?=, ?\d)", content))
    place = draw.choice(places) if places else None
    return _with(content, place, (place[0] + b", " + place[0]) if place else b"")


def _with(content: bytes, place: re.Match[bytes] | None, new: bytes) -> bytes:
    return (
        content + new if place is None else content[: place.start()] + new + content[place.end() :]
    )


def _damaged_workbook(path: Path, draw: random.Random) -> str:
    """Put something odd into a cell that holds something."""
    book = openpyxl.load_workbook(path)
    cells = [c for sheet in book.worksheets for r in sheet.iter_rows() for c in r if c.value]
    cell = draw.choice(cells)
    odd = draw.choice([each for each in ODD if not isinstance(each, list | dict | int)])
    cell.value = None if isinstance(odd, float) and odd != odd else str(odd)
    book.save(path)
    return f"replaced in {cell.parent.title}!{cell.coordinate}"


DAMAGES = {each.__name__: each for each in (flipped, cut, replaced, swapped, nested, doubled)}


# The readers of files, and the judgement of their answers.


def judged(kind: Kind, world: Path, path: Path, what: str, sound: Times) -> Outcome:
    """Run the commands that read a damaged file, and hold the times that they accept against the
    sound ones."""
    found = Outcome()
    try:
        with limited():
            if kind.reader == "config":
                found.refused = not _configured(path)
            elif kind.reader == "sent":
                accepted, errors = imported(world, path)
                found.refused = bool(errors)
                compare(found, accepted, sound, what)
            else:
                _judge_results(found, world, what, sound)
    except Hang:
        found.hang = True
    except Exception:
        found.traceback = traceback.format_exc().strip()[-400:]
    return found


def _configured(path: Path) -> bool:
    try:
        config.load(path)
    except DeepbenchError:
        return False
    run("release", "list", within=path.parent)
    return True


def _judge_results(found: Outcome, world: Path, what: str, sound: Times) -> None:
    errors: list[str] = []
    accepted = exported(world, errors)
    compare(found, accepted, sound, what)
    status, lines = publish(world)
    found.refused = bool(errors) or status != 0
    if sound.keys() - accepted.keys() and not errors:
        found.lost.append(f"{len(sound.keys() - accepted.keys())} times, by export")
    if not errors and status == 0 and what != "flipped":
        run("submit", "again.json", "--machine", MEASURED, within=world)
    for graph in (world / "html" / "graphs").rglob("*.json"):
        for value in numbers(json.loads(graph.read_text()), graph.name == "summary.json"):
            if not valid_times.is_time(value) and value is not None:
                found.wrong.append(f"{value!r} in {graph.name}")
    lines = [line for line in lines if "no release of the release table" not in line]
    if status == 0 and lines:
        found.lost.append(f"publishing named {lines[0]} and ended with status 0")


def numbers(graph: Any, of_list: bool) -> Iterator[Any]:
    """Yield the values of one of asv's graphs, each a revision and one value or several."""
    for row in () if of_list else graph:
        yield from row[1] if isinstance(row[1], list) else [row[1]]


def compare(found: Outcome, accepted: Times, sound: Times, what: str) -> None:
    """Count the accepted times that are not the sound ones."""
    for key, seconds in accepted.items():
        if seconds == sound.get(key):
            continue
        if what == "flipped" and valid_times.is_time(seconds):
            found.plausible += 1
        else:
            found.wrong.append(f"{key}: {seconds!r}, not {sound.get(key)!r}")


def imported(world: Path, path: Path) -> tuple[Times, str]:
    """Take a file in, in an empty folder; return the times there and the printed errors."""
    given = ["--results", "there"]
    if path.suffix == ".log":
        given += ["--machine", MEASURED, "--date", "2026-11-21", "--cells"]
    _, out, err = run("import", str(path), *given, within=world)
    accepted = exported(world, results="there")
    shutil.rmtree(world / "there", ignore_errors=True)
    unread = [line for line in out.splitlines() if line.startswith(f"{path.name}: ")]
    return accepted, err or "\n".join(unread)


def exported(world: Path, errors: list[str] | None = None, results: str = "results") -> Times:
    """Return all times of a results folder in seconds, by machine, release and kernel."""
    found: Times = {}
    for machine in sorted({path.parent.name for path in (world / results).glob("*/*.json")}):
        given = ["--machine", machine, "--results", results, "--format", "json"]
        status, out, err = run("export", *given, within=world)
        if errors is not None and (status or err):
            errors.append(err)
        for row in json.loads(out or "[]"):
            axes = ("machine", "release", "set", "problem", "precision", "pass", "ranks")
            found[tuple(row[axis] for axis in axes)] = row["seconds"]
    return found


def run(*arguments: str, within: Path) -> tuple[int, str, str]:
    """Run a command in a folder; return status, output and errors. Raises its exception."""
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
    """Publish a folder; return the status and the errors that were logged."""
    conf = Config.from_json(
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
    logged = patch("asv.console.log.error", lambda line, *_, **__: lines.append(line))
    out = io.StringIO()
    with logged, quiet(out, out):
        try:
            return int(Publish.run(conf) or 0), lines
        except UserError as wrong:
            return 1, [str(wrong)]


@contextlib.contextmanager
def quiet(out: io.StringIO, err: io.StringIO) -> Iterator[None]:
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise Hang where the block takes longer than LIMIT."""

    def stop(*_: object) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    sys.exit(main())
