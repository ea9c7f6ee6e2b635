"""Count the updates that are lost when twenty commands that write start at once.

Every command is started many times at the same moment in one folder, and each process has its own
data to write. Counted are lost updates (a command that ended with status 0 but whose data is
missing), refusals (status 2 and one line), and tracebacks.

    python bench/simultaneous_writers.py [--at-once 20] [--seed 20261124] [--command NAME]

The exit status is 1 if an update is lost or a command ends in another way. No network is needed.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from killed_runs import LOG, Suite, saved_in, variables_in
from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import workbooks  # noqa: E402

from deepbench_ops.analysis.parquet_store import Store  # noqa: E402
from deepbench_ops.exchange.submissions import submission_signature  # noqa: E402
from deepbench_ops.fleet import fleet_plan  # noqa: E402
from deepbench_ops.releases import installed_release, release_table  # noqa: E402
from deepbench_ops.storage import ensemble_round_files  # noqa: E402

HEADER = "framework,version,date,pins,on_request,index\n"
CONF = {
    "dvcs": "releases",
    "repo": "releases.csv",
    "env_dir": ".asv/env",
    "plugins": [".deepbench_ops.asv_adapter.plugin"],
}
PUBLISHED = "published,2017.7.14,2017-07-14,,no,\n"


def prepare(folder: Path, at_once: int) -> None:
    """Make a project with a published machine and a measured one."""
    (folder / "in").mkdir()
    (folder / "asv.conf.json").write_text(json.dumps({"version": 1, "project": "p", **CONF}))
    (folder / "releases.csv").write_text(f"{HEADER}numpy,2.2.6,2025-05-17,,no,\n{PUBLISHED}")
    book = folder / "in" / "given.xlsx"
    workbooks.write(book, workbooks.gemm((1760, 16, 1760, "N", "N", 0.055)))
    given = ["--machine", "given", "--date", "2017-07-14", "--results", "results"]
    first = ["-m", "deepbench_ops.cli", "import", str(book), *given]
    subprocess.run([sys.executable, *first], cwd=folder, check=True, capture_output=True)
    machine = folder / "results" / "card"
    machine.mkdir()
    (machine / "machine.json").write_text(json.dumps({"machine": "card", "version": 1}))
    columns = ["result", "params", "version"]
    rows = {f"gemm.Set{n}.kernel_forward": [[1.0], [["'a'"]], "1"] for n in range(at_once + 1)}
    stored = {
        "commit_hash": "0" * 40,
        "env_name": "release",
        "date": 0,
        "params": {"machine": "card"},
        "python": "3",
        "requirements": {},
        "env_vars": {},
        "result_columns": columns,
        "results": rows,
        "durations": {},
        "version": 2,
    }
    (machine / "00000000-release.json").write_text(json.dumps(stored))


@dataclass(frozen=True)
class Writer:
    """A command that writes.

    arguments: those of a process of the command, from its folder and its number. there: whether the
    data of that process is in the folder. refusal: text of the line with which one is refused.
    make: makes the folder for so many processes. variables: of the environment, from the folder.
    """

    arguments: Callable[[Path, int], list[str]]
    there: Callable[[Path, int], bool]
    refusal: str = "process "
    make: Callable[[Path, int], None] = prepare
    variables: Callable[[Path], dict[str, str]] = lambda folder: {}


def _import(folder: Path, number: int) -> list[str]:
    book = folder / "in" / f"{number}.xlsx"
    rows = (1760, 16, 1760, "N", "N", 0.055), (number + 1, 16, 1760, "N", "N", 0.01)
    workbooks.write(book, workbooks.gemm(*rows))
    given = ["--machine", "card", "--date", f"2017-07-{14 + number % 3}"]
    return ["-m", "deepbench_ops.cli", "import", str(book), *given, "--results", "results"]


def _imported(folder: Path, number: int) -> bool:
    text = "".join(path.read_text() for path in folder.glob("results/card/*-published.json"))
    return f"'m{number + 1}_n16_k1760_NN'" in text and _has_rows(folder)


def _has_rows(folder: Path) -> bool:
    days = {line.split(",")[2] for line in (folder / "releases.csv").read_text().splitlines()}
    return {"2017-07-14", "2017-07-15", "2017-07-16"} <= days


def _add_row(folder: Path, number: int) -> list[str]:
    program = (
        "from deepbench_ops import cli; from deepbench_ops.releases import new_release_row\n"
        "new_release_row.demand_solvable = lambda release: None\n"
        "cli.main()"
    )
    index = ["--index", "https://example.org/simple", "--date", "2020-01-01", "--pins", ""]
    return ["-c", program, "release", "add", f"numpy==9.0.{number}", *index]


def _row_added(folder: Path, number: int) -> bool:
    return f"numpy,9.0.{number},2020-01-01" in (folder / "releases.csv").read_text()


def _update_table(folder: Path, number: int) -> list[str]:
    program = (
        "import datetime, sys\n"
        "from packaging.version import Version\n"
        "from deepbench_ops import cli\n"
        "from deepbench_ops.releases import companion_pins, new_releases, new_release_row\n"
        "from deepbench_ops.releases.release_table import Release\n"
        "new_release_row.demand_solvable = lambda release: None\n"
        "found = 'numpy', Version(f'9.0.{sys.argv.pop()}'), datetime.date(2020, 1, 1)\n"
        "new_releases.final = lambda *_: [new_releases.Update(*found, new_releases.INDEX)]\n"
        "companion_pins.row = lambda name, version, day, *_: Release(name, str(version), day)\n"
        "cli.main()"
    )
    return ["-c", program, "release", "update", "--framework", "numpy", "--add", str(number)]


def _make_installed(folder: Path, at_once: int) -> None:
    """Make a project with as many releases, which existing interpreters hold."""
    prepare(folder, at_once)
    environments = folder / ".asv" / "env"
    names = [f"9.0.{number}" for number in range(at_once + 1)]
    with (folder / "releases.csv").open("a") as table:
        table.writelines(f"numpy,{name},2020-01-01,,no,\n" for name in names)
    for name in names:
        (environments / f"numpy-{name}").mkdir(parents=True)
        (environments / f"numpy-{name}" / "file").write_text("content")
        installed_release.remember(environments, f"numpy-{name}", Path(sys.executable))


def _clean(folder: Path, number: int) -> list[str]:
    return ["-m", "deepbench_ops.cli", "release", "clean", f"numpy-9.0.{number}"]


def _cleaned(folder: Path, number: int) -> bool:
    environments, name = folder / ".asv" / "env", f"numpy-9.0.{number}"
    known = installed_release.interpreters(environments)
    others = [each for each in known if not (environments / each).exists()]
    return name not in known and not (environments / name).exists() and not others


def _save_runs(folder: Path, number: int) -> list[str]:
    program = (
        "import sys; from pathlib import Path; from deepbench_ops.storage import model_runs\n"
        "run = {'kind': 'scaling', 'model': 'bert', 'batch': 1, 'ranks': int(sys.argv[1]),"
        " 'precision': 'float32', 'threads': 1, 'split': False, 'device': 'cpu',"
        " 'release': 'torch-2.13.0', 'step_seconds': 1.0}\n"
        "model_runs.add(Path('results/card'), [run])"
    )
    return ["-c", program, str(number + 1)]


def _runs_saved(folder: Path, number: int) -> bool:
    lines = (folder / "results/card/model_runs.jsonl").read_text().splitlines()
    return any(json.loads(line)["ranks"] == number + 1 for line in lines)


def _machine(folder: Path, number: int) -> list[str]:
    given = ["--name", f"box{number}", "--results", "results", "--yes", "--no-measure"]
    return ["-m", "deepbench_ops.cli", "machine", *given]


def _machine_described(folder: Path, number: int) -> bool:
    return f"box{number}" in json.loads((folder / ".asv-machine.json").read_text())


def _remove(folder: Path, number: int) -> list[str]:
    return ["-m", "asv", "rm", "-y", f"benchmark=gemm.Set{number}.kernel_forward"]


def _removed(folder: Path, number: int) -> bool:
    stored = json.loads((folder / "results/card/00000000-release.json").read_text())
    return f"gemm.Set{number}.kernel_forward" not in stored["results"]


def _submit(folder: Path, number: int) -> list[str]:
    given = ["same.json", "--machine", "given", "--results", "results"]
    return ["-m", "deepbench_ops.cli", "submit", *given]


def _submitted(folder: Path, number: int) -> bool:
    return bool(json.loads((folder / "same.json").read_text())["results"])


def _make_key(folder: Path, at_once: int) -> None:
    """Make a project with a key of SSH."""
    prepare(folder, at_once)
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")]
    subprocess.run(made, check=True)


def _sign(folder: Path, number: int) -> list[str]:
    return [*_submit(folder, number), "--sign", "key"]


def _signed(folder: Path, number: int) -> bool:
    path = folder / "same.json"
    return submission_signature.verify(path, path.read_bytes(), None) is not None


def _export(folder: Path, number: int) -> list[str]:
    form = ("csv", "json", "xlsx", "parquet")[number % 4]
    given = [f"same.{form}", "--machine", "given", "--results", "results"]
    return ["-m", "deepbench_ops.cli", "export", *given]


def _exported(folder: Path, number: int) -> bool:
    return (folder / f"same.{('csv', 'json', 'xlsx', 'parquet')[number % 4]}").stat().st_size > 0


def _add_round(folder: Path, number: int) -> list[str]:
    program = (
        "import sys; from pathlib import Path\n"
        "from deepbench_ops.measure.ensemble_round import Round\n"
        "from deepbench_ops.measure.unfinished_rounds import RoundStore\n"
        "from deepbench_ops.measure.kernel_identity import KernelIdentity\n"
        "task = KernelIdentity('gemm', 'm35_n8457_k1760_NN', 'float32')\n"
        "store = RoundStore(Path('.asv/confirm/a..b.jsonl'), ('a', 'b'))\n"
        "store.add(task, Round([{'a': 1.0, 'b': 1.1}] * 20, id=f'0-{sys.argv[1]}', anchor='b'))"
    )
    return ["-c", program, str(number)]


def _round_added(folder: Path, number: int) -> bool:
    text = (folder / ".asv/confirm/a..b.jsonl").read_text()
    return any(json.loads(line)["round"] == f"0-{number}" for line in text.splitlines() if line)


def _file_round(folder: Path, number: int) -> list[str]:
    program = (
        "import sys; from pathlib import Path\n"
        "from deepbench_ops.measure import ensemble_sweeps\n"
        "from deepbench_ops.measure.ensemble_round import Round\n"
        "from deepbench_ops.measure.unfinished_rounds import RoundStore\n"
        "from deepbench_ops.measure.kernel_identity import KernelIdentity\n"
        "task = KernelIdentity('gemm', 'm35_n8457_k1760_NN', 'float32')\n"
        "here = ensemble_sweeps.conditions()\n"
        "filed = Path('results/card/ensembles/numpy.jsonl.gz')\n"
        "store = RoundStore(Path(f'.asv/history/{sys.argv[1]}.jsonl'), ('a', 'b'), filed)\n"
        "sweeps = [{'a': 1.0, 'b': 1.1}] * 20\n"
        "taken = Round(sweeps, id=f'0-{sys.argv[1]}', anchor='b', conditions=here)\n"
        "store.add(task, taken)\n"
        "store.file(); store.forget()"
    )
    return ["-c", program, str(number)]


def _round_filed(folder: Path, number: int) -> bool:
    stored = ensemble_round_files.load(folder / "results/card/ensembles/numpy.jsonl.gz")
    return any(entry["round"] == f"0-{number}" for entry in stored.entries)


def _describe(folder: Path, number: int) -> list[str]:
    return ["-m", "asv", "machine", "--yes", "--machine", f"box{number}"]


def _make_whole(folder: Path, at_once: int) -> None:
    """Make a project whose results are all of known benchmarks."""
    prepare(folder, at_once)
    shutil.rmtree(folder / "results" / "card")
    shutil.copy(ROOT / "results" / "benchmarks.json", folder / "results")


def _publish(folder: Path, number: int) -> list[str]:
    return ["-m", "asv", "publish"]


def _published(folder: Path, number: int) -> bool:
    written = json.loads((folder / "html" / "index.json").read_text())
    pages = [folder / "html" / f"{name}.html" for name in ("index", "machine", "benchmarks")]
    return "given" in str(written) and all("</html>" in path.read_text() for path in pages)


def _build(folder: Path, number: int) -> list[str]:
    return ["-m", "deepbench_ops.cli", "store", "build", "--results", "results"]


def _built(folder: Path, number: int) -> bool:
    return Store(folder / "store", folder / "results").outdated() == []


def _plan(folder: Path, number: int) -> list[str]:
    given = ["--framework", "numpy", "--job-hours", str(1 + number), "--results", "results"]
    return ["-m", "deepbench_ops.cli", "fleet", "plan", "--replace", *given]


def _planned(folder: Path, number: int) -> bool:
    return bool(fleet_plan.read(folder / "fleet" / "plan.json").jobs)


def _begin(folder: Path, number: int) -> list[str]:
    return ["-m", "deepbench_ops.cli", "init", "speed"]


def _begun(folder: Path, number: int) -> bool:
    made = folder / "speed"
    names = {".gitignore", "asv.conf.json", "benchmarks", "releases.csv", "results"}
    return {path.name for path in made.iterdir()} == names and bool(
        release_table.load(made / "releases.csv")
    )


def _make_suite(folder: Path, at_once: int) -> None:
    (folder / "suite").mkdir()
    Suite(folder / "suite")
    (folder / "suite" / LOG).unlink()


def _run(folder: Path, number: int) -> list[str]:
    program = "import os, runpy; os.chdir('suite'); runpy.run_module('asv', run_name='__main__')"
    return ["-c", program, "run", "numpy-1.0.0 numpy-1.1.0"]


def _ran(folder: Path, number: int) -> bool:
    """Whether each point has the two measurements of a run, with their raw seconds."""
    lines = (folder / "suite" / LOG).read_text().splitlines()
    measured = {tuple(json.loads(line)) for line in lines}
    saved = saved_in(folder / "suite").values()
    return [len(parts) for parts in saved] == [2] * 6 and all(
        measured.issuperset(parts) for parts in saved
    )


WRITERS = {
    "import": Writer(_import, _imported),
    "release add": Writer(_add_row, _row_added),
    "release update --add": Writer(_update_table, _row_added),
    "release clean": Writer(_clean, _cleaned, make=_make_installed),
    "latency, scaling --save": Writer(_save_runs, _runs_saved),
    "machine": Writer(_machine, _machine_described),
    "asv machine": Writer(_describe, _machine_described),
    "asv rm": Writer(_remove, _removed),
    "submit": Writer(_submit, _submitted),
    "submit --sign": Writer(_sign, _signed, make=_make_key),
    "export": Writer(_export, _exported),
    "verdict --confirm": Writer(_add_round, _round_added),
    "history": Writer(_file_round, _round_filed),
    "asv publish": Writer(_publish, _published, make=_make_whole),
    "store build": Writer(_build, _built, make=_make_whole),
    "fleet plan": Writer(_plan, _planned),
    "init": Writer(_begin, _begun, "already|another deepbench init|is not empty"),
    "asv run": Writer(
        _run, _ran, make=_make_suite, variables=lambda folder: variables_in(folder / "suite")
    ),
}


def tried(name: str, at_once: int, draw: random.Random) -> tuple[int, int, int, int, str]:
    """Start one command `at_once` times; count done, lost, refused and failed ones."""
    writer = WRITERS[name]
    with tempfile.TemporaryDirectory(prefix="writers-") as temporary:
        folder = Path(temporary)
        writer.make(folder, at_once)
        numbers = draw.sample(range(at_once), at_once)
        commands = [[sys.executable, *writer.arguments(folder, number)] for number in numbers]
        environment = {**os.environ, "HOME": str(folder), **writer.variables(folder)}
        started = [
            subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for command in commands
        ]
        said = [process.communicate()[0] for process in started]
        good = [n for n, process in zip(numbers, started, strict=True) if process.returncode == 0]
        lost = sum(not writer.there(folder, number) for number in good)
        refused, wrong = 0, ""
        for process, text in zip(started, said, strict=True):
            if process.returncode and _is_refusal(text, writer.refusal):
                refused += 1
            elif process.returncode:
                wrong = text
        failed = at_once - len(good) - refused
        unfinished = [path.name for path in folder.rglob("*.unfinished")]
        return len(good), lost, refused, failed, wrong or " ".join(unfinished)


def _is_refusal(text: str, why: str) -> bool:
    return "Traceback" not in text and re.search(why, text) is not None


def main() -> None:
    """Print a table of all commands, and exit with 1 if an update is lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument("--command", action="append", choices=WRITERS, help="(default: all)")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    rows, bad = [], 0
    if shutil.which("ssh-keygen") is None:
        del WRITERS["submit --sign"]
    for name in arguments.command or WRITERS:
        done, lost, refused, failed, wrong = tried(name, arguments.at_once, draw)
        rows.append((name, arguments.at_once, done, lost, refused, failed))
        bad += lost + failed
        if lost or wrong:
            print(f"{name}: {wrong or 'updates lost'}", flush=True)
    print(tabulate(rows, ("command", "started", "done", "updates lost", "refused", "failed")))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
