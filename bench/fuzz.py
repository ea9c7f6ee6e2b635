#!/usr/bin/env python3
"""Run the commands on damaged files of every kind that they read.

    python bench/fuzz.py --cases 500 --seed 1

Each case takes a small project, damages one file (flipped bytes, a cut, a value of another type, a
huge number, NaN or infinity, deep nesting, a doubled line or item) and runs the commands that read
it. Counted are

- tracebacks: any result other than an answer or an error of one line;
- hangs: cases that take longer than `fuzzed_commands.LIMIT`;
- wrong numbers: numbers that are accepted although the damage changed them and that cannot be so,
  because they are outside of 1 ns to 1 day, changed by a cut, or in place of another type;
- silent losses: numbers missing from an answer that has status 0 and no message about them.

The numbers are seconds, intervals, counts of samples, settings and reasons for unsteadiness of all
exported times, and all others in a file (`fuzzed_figures.py`): figures of a profile, runs of
models, the level of every process, rounds with their readings. Of caches and of the list of
benchmarks it is all data of the published pages.

A changed digit that nothing contradicts gives a plausible number, and so does a number of a log in
place of another, since logs have no checksum; NaN and null in a published result stand for a kernel
that was not measured. A sample that is in a result twice may change its interval. Such numbers are
counted separately, without the intervals and reasons that follow from them. The exit status is 1 if
anything else was counted.
"""

import argparse
import gzip
import json
import os
import random
import shutil
import sys
import tempfile
import traceback
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from file_damage import damage
from fuzzed_commands import (
    MEASURED,
    Hang,
    Times,
    exported,
    imported,
    limited,
    publish,
    run,
)
from fuzzed_comparison import NOT_MEASURED, Outcome, compare, tallied
from fuzzed_figures import FIGURES, graphs_of, numbers, pages_of, times_of
from tabulate import tabulate

from deepbench_ops.asv_adapter import configuration_check, machine_entry
from deepbench_ops.asv_adapter.asv_run_journal import MeasuredPoint, RunJournal
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_plan, job_folder
from deepbench_ops.fleet.job_folder import Outcome as JobOutcome
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import ensemble_round_json, ensemble_sweeps
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.pages import page_process
from deepbench_ops.storage import ensemble_round_files, measurement_files, seconds_limits

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = "raspberry-pi-3"
OF_PAGES = {
    **dict.fromkeys(("cache of lines", "cache of fits"), pages_of),
    "benchmarks.json": graphs_of,
}
"""Functions that return the published values, by the kinds of files that have no numbers of their
own but make others."""

WITHOUT_TIMES = ("published result", "ensemble rounds", "measurements", "model runs")
"""Kinds of files in which such a value is usual."""

RELEASES = 2
"""Number of releases of the measured machine."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="begin with this case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="KIND", help="only files of this kind")
    options = parser.parse_args()
    kinds = [options.only] if options.only else list(KINDS)
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["HOME"] = scratch  # not the user's own list of machines
        os.environ[machine_entry.FILE_VARIABLE] = str(Path(scratch) / "world" / MACHINES)
        base = Path(scratch) / "base"
        sound = build(base)
        for case in range(options.first, options.cases):
            kind = kinds[case % len(kinds)]
            draw = random.Random(f"{options.seed} {case}")
            world = Path(scratch) / "world"
            shutil.copytree(base, world)
            path = KINDS[kind].path(world)
            before, what = without_time(path), damage(path, draw)
            if kind in WITHOUT_TIMES and without_time(path) > before:
                what = NOT_MEASURED
            found = judged(kind, world, path, what, sound)
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


def without_time(path: Path) -> int:
    """Return how often a file has a value that stands for no time; 0 if it is not readable."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            return 0
    return content.count(b"NaN") + content.count(b"null")


# The project, and the files in it.


def build(folder: Path) -> dict[str, Times]:
    """Make the project; return the times of its results and exports by kind of file."""
    results = folder / "results"
    for machine in (MEASURED, PUBLISHED):
        shutil.copytree(ROOT / "results" / machine, results / machine)
    for path in sorted((results / MEASURED).glob("*-release-*.json"))[RELEASES:]:
        path.unlink()
        measurement_files.file_of(path).unlink()
    known = machine_profile.read(results, MEASURED)
    assert known is not None
    machine_profile.write(results, known)  # with a checksum
    runs = (ROOT / "results" / "xeon-amx-2core" / "model_runs.jsonl").read_text()
    (results / MEASURED / "model_runs.jsonl").write_text("".join(runs.splitlines(True)[:3]))
    listed = json.loads((ROOT / "results" / "benchmarks.json").read_text())
    kept = {name: each for name, each in listed.items() if name in ("version", *BENCHMARKS)}
    (results / "benchmarks.json").write_text(json.dumps(kept))
    table = (ROOT / "deepbench_ops" / "releases" / "releases.csv").read_text()
    (folder / "releases.csv").write_text(table)
    own = configuration_check.load(ROOT / "asv.conf.json") | {"repo": "releases.csv"}
    (folder / "asv.conf.json").write_text(json.dumps(own, indent=1))
    (folder / "sent").mkdir()
    for form in ("csv", "json", "parquet"):
        run("export", f"sent/all.{form}", "--machine", MEASURED, within=folder)
    run("export", "sent/all.xlsx", "--machine", MEASURED, "--set", SET, within=folder)
    run("submit", "sent/sent.json", "--machine", MEASURED, within=folder)
    (folder / "sent" / "gemm.log").write_text(LOG)
    rounds = ensemble_round_files.path_of(folder / "results" / MEASURED, "numpy")
    rounds.parent.mkdir()
    shutil.copy(ROOT / "results" / "epyc-9004-2core" / "ensembles" / rounds.name, rounds)
    _write_journals(folder)
    _write_store(folder)
    _write_fleet(folder)
    entry = dict.fromkeys(("arch", "cpu", "num_cpu", "os", "ram"), "x") | {"machine": "box"}
    machine_entry.write_file(folder / MACHINES, entry)
    with patch.object(page_process, "FORKS", False):
        publish(folder)  # here: processes of later publishings find all lists and templates read
    sound = {
        "results": exported(folder),
        "ensemble rounds": times_of(ensemble_round_json.load(rounds)),
        **{f"figures of {name}": of(KINDS[name].path(folder)) for name, of in FIGURES.items()},
        **{f"pages by {name}": of(folder) for name, of in OF_PAGES.items()},
    }
    shutil.rmtree(folder / "html")
    assert all(sound.values()), [name for name in sound if not sound[name]]
    sound |= dict.fromkeys(("store", "checksums of the store"), exported(folder, results=STORED))
    for name, read in JOURNALS.items():
        sound[name] = read(KINDS[name].path(folder))
        assert sound[name], name
    for name in SENT:
        sound[name] = imported(folder, folder / "sent" / SENT[name])[0]
        assert sound[name], name
    return sound


def _write_journals(folder: Path) -> None:
    """Write the files of interrupted measurements: a journal of points, and one of rounds."""
    run = RunJournal(folder / ".asv" / "unfinished", {})
    store = RoundStore(folder / ".asv" / "history" / "numpy.jsonl", NAMES)
    for number, n in enumerate((16, 32, 64, 128)):
        problem, seconds = f"m1760_n{n}_k1760_NN", [1e-3 * (n + part) for part in range(4)]
        point = (BENCHMARKS[0], (problem, "float32"))
        answer = {"result": [True], "samples": [seconds], "number": [3], "errcode": 0}
        record = {"benchmark": point[0], "params": list(point[1]), "yardstick": seconds}
        record["fingerprint"] = {"framework": "numpy 2.4.6"}
        record |= {"seconds": seconds, "started_at": 1e9 + n, "spent": {"measuring": 1.5}}
        run.add(point, MeasuredPoint({**answer, "stderr": "", "profile": None}, [record]))
        sweeps = [dict.fromkeys(NAMES, each) for each in seconds]
        taken = Round(sweeps, id=f"1-{number}", anchor=NAMES[0], started_at=1e9 + n)
        taken.conditions, taken.latencies = ensemble_sweeps.conditions(), [250.0, 251.0]
        store.add(KernelIdentity("gemm", problem, "float32"), taken)


def _write_store(folder: Path) -> None:
    """Write a store of the published machine, away from the results that other cases damage."""
    shutil.copytree(folder / "results" / PUBLISHED, folder / STORED / PUBLISHED)
    shutil.copy(folder / "releases.csv", folder / STORED)
    assert run("store", "build", "--results", STORED, within=folder)[0] == 0


def _write_fleet(folder: Path) -> None:
    """Write a plan of jobs, the first ended."""
    run("fleet", "plan", "--framework", "numpy", "--job-hours", "0.1", within=folder)
    path = folder / "fleet" / "plan.json"
    first = next(job_folder.folders(fleet_plan.read(path), path))
    first.end(JobOutcome(True, "node-1", 12.5))


STORED, MACHINES = "stored/results", "machines.json"
BENCHMARKS = ("gemm.Training.kernel_forward", "gemm.InferenceDevice.kernel_forward")
NAMES = ("numpy-2.2.5", "numpy-2.2.6")
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
    """A kind of file: its path and its reader.

    Readers are "results", "sent", "config", "rounds", "journal", "store" and "command", for which
    the commands are those of `COMMANDS`.
    """

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
    "ensemble rounds": Kind(f"results/{MEASURED}/ensembles/*.jsonl.gz", "rounds"),
    "journal of points": Kind(".asv/unfinished/*.jsonl", "journal"),
    "journal of rounds": Kind(".asv/history/*.jsonl", "journal"),
    "releases.csv": Kind("releases.csv", "results"),
    "asv.conf.json": Kind("asv.conf.json", "config"),
    "cache of lines": Kind(".asv/deepbench-lines/*", "results"),
    "cache of fits": Kind(".asv/fitted.json", "results"),
    "store": Kind("stored/store/times/*.parquet", "store"),
    "checksums of the store": Kind("stored/store/checksums/*", "store"),
    "list of machines": Kind(MACHINES, "command"),
    "plan of a fleet": Kind("fleet/plan.json", "command"),
    "end of a job": Kind("fleet/jobs/**/outcome.json", "command"),
    **{name: Kind(f"sent/{file}", "sent") for name, file in SENT.items()},
}


COMMANDS = {
    "list of machines": [["config"], ["frameworks"], ["machine", "--yes", "--no-measure"]],
    "plan of a fleet": [["fleet", "status"], ["fleet", "nodes"]],
    "end of a job": [["fleet", "status"], ["fleet", "nodes"]],
}

# The readers of files, and the checks of their answers.


def judged(name: str, world: Path, path: Path, what: str, all_sound: dict[str, Times]) -> Outcome:
    """Run the commands that read a damaged file of the kind `name`, and compare accepted numbers
    with the original ones."""
    found, kind = Outcome(), KINDS[name]
    sound = all_sound.get(name, all_sound["results"])
    try:
        with limited():
            if kind.reader == "config":
                found.refused = not _configured(path)
            elif kind.reader == "store":
                _judge_store(found, world, what, sound)
            elif kind.reader == "command":
                for command in COMMANDS[name]:
                    found.refused |= run(*command, within=world)[0] == 2
            elif kind.reader == "rounds":
                _judge_rounds(found, world, path, what, sound)
            elif kind.reader == "journal":
                accepted = JOURNALS[name](path)
                found.refused = bool(sound.keys() - accepted.keys())  # measured again
                compare(found, accepted, sound, what)
            elif kind.reader == "sent":
                accepted, errors = imported(world, path)
                found.refused = bool(errors)
                unchecked = path.suffix == ".log" and what == "replaced"
                compare(found, accepted, sound, "flipped" if unchecked else what)
            else:
                _judge_results(found, world, what, sound)
                if name in FIGURES:
                    _judge_figures(found, name, path, what, all_sound[f"figures of {name}"])
                if name in OF_PAGES and not found.refused:
                    accepted, pages = OF_PAGES[name](world), all_sound[f"pages by {name}"]
                    compare(found, accepted, pages, what if name == "benchmarks.json" else "")
                    missing = len(pages.keys() - accepted.keys())
                    if name == "benchmarks.json":  # times of a benchmark that it does not list
                        found.plausible += missing
                    elif missing:
                        found.lost.append(f"{missing} files of pages")
    except Hang:
        found.hang = True
    except Exception:
        found.traceback = traceback.format_exc().strip()[-400:]
    return found


def _configured(path: Path) -> bool:
    try:
        configuration_check.load(path)
    except DeepbenchError:
        return False
    run("release", "list", within=path.parent)
    return True


def _judge_results(found: Outcome, world: Path, what: str, sound: Times) -> None:
    errors: list[str] = []
    accepted = exported(world, errors)
    compare(found, accepted, sound, what, named=bool(errors))
    status, lines = publish(world)
    found.refused = bool(errors) or status != 0
    missing = sound.keys() - accepted.keys()
    if what == NOT_MEASURED and not errors:
        found.plausible += len(missing)
    elif not errors and len(missing) > len(accepted.keys() - sound.keys()):  # others have new names
        found.lost.append(f"{len(missing)} times, by export")
    if not errors and status == 0 and not what.startswith("flipped"):
        run("submit", "again.json", "--machine", MEASURED, within=world)
    for graph in (world / "html" / "graphs").rglob("*.json"):
        for value in numbers(graph):
            if not seconds_limits.is_time(value) and value is not None:
                found.wrong.append(f"{value!r} in {graph.name}")
    lines = [line for line in lines if "no release of the release table" not in line]
    if status == 0 and lines:
        found.lost.append(f"publishing named {lines[0]} and ended with status 0")


def _judge_figures(found: Outcome, name: str, path: Path, what: str, sound: Times) -> None:
    """Compare the further figures of a file; a damaged one must have been named."""
    try:
        accepted = FIGURES[name](path)
    except DeepbenchError:
        if not found.refused:
            found.lost.append("a damaged file is not named")
        return
    gone = {sound[key] for key in sound.keys() - accepted.keys()}
    renamed = [key for key in accepted.keys() - sound.keys() if accepted[key] in gone]
    if name == "measurements":  # of another suite, for all that is known
        found.plausible += len(renamed)
        sound = {**sound, **{key: accepted[key] for key in renamed}}
    compare(found, accepted, sound, what)
    missing = len(sound.keys() - accepted.keys()) - len(accepted.keys() - sound.keys())
    missing -= len(renamed) if name == "measurements" else 0
    if what == NOT_MEASURED or name == "machine.json":  # which may have fields of other names
        found.plausible += missing
    elif missing > 0 and not found.refused:
        found.lost.append(f"{missing} figures")


def _judge_store(found: Outcome, world: Path, what: str, sound: Times) -> None:
    """Times are those of the results, and SQL is refused, until the store is built again."""
    accepted = exported(world, results=STORED)
    if accepted != sound:
        found.wrong.append("times of a damaged store")
    asked = ["query", "SELECT sum(seconds) FROM times", "--results", STORED]
    said = run(*asked, within=world)
    run("store", "build", "--again", "--results", STORED, within=world)
    right = run(*asked, within=world)
    found.refused = said[0] == 2
    if not found.refused and said != right:
        found.wrong.append("an answer of a damaged store")
    if right[0] != 0:
        found.lost.append("the store is not built again")


def _judge_rounds(found: Outcome, world: Path, path: Path, what: str, sound: Times) -> None:
    said = run("verdict", "--machine", MEASURED, within=world)[2]
    status, lines = publish(world)
    try:
        accepted = times_of(ensemble_round_json.load(path))
    except DeepbenchError:
        found.refused = True
        if path.name not in said or status == 0 or not any(path.name in line for line in lines):
            found.lost.append("a damaged file of rounds is not named")
        return
    compare(found, accepted, sound, what)
    missing = sound.keys() - accepted.keys()
    if what == NOT_MEASURED:
        found.plausible += len(missing)
    elif missing and not what.startswith("flipped"):
        found.lost.append(f"{len(missing)} times of rounds")


def points_of(path: Path) -> Times:
    """Return the samples that a run reads from a journal, by point."""
    journal, found = RunJournal(path.parent, {}), {}
    for point in [(BENCHMARKS[0], (f"m1760_n{n}_k1760_NN", "float32")) for n in (16, 32, 64, 128)]:
        entry = journal.take(point)
        for number, seconds in enumerate(entry.answer["samples"][0]) if entry else ():
            found[(*point, number)] = seconds
    return found


def rounds_of(path: Path) -> Times:
    """Return the times that a history reads from its journal."""
    rounds = RoundStore(path, NAMES).rounds
    return times_of({task: several.values() for task, several in rounds.items()})


JOURNALS = {"journal of points": points_of, "journal of rounds": rounds_of}


if __name__ == "__main__":
    sys.exit(main())
