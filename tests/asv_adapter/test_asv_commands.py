"""asv's own commands over local releases, from a copy of the project and without a network.

The frameworks are tiny wheels, so every command is the real one and takes seconds.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import full_disk
import processes
import pytest
import wheelhouse

from deepbench_ops.storage import locks

ROOT = Path(__file__).resolve().parents[2]
RELEASES = """framework,version,date,pins,on_request,index
numpy,0.9.0,2019-01-01,,no,
numpy,1.0.0,2020-01-01,,no,
numpy,1.1.0,2020-06-01,,no,
numpy,2.0.0,2021-01-01,,no,
torch,1.0.0,2020-03-01,,yes,
"""
MISSING = "numpy-0.9.0"
FRAMEWORK = """import time
__version__ = {0!r}
def work():
    time.sleep({1})
"""
SECONDS = {"1.0.0": 0.03, "1.1.0": 0.03, "2.0.0": 0.09}
BENCHMARK = """import numpy
import os

class Suite:
    params = ["a", "b"]
    param_names = ["problem"]
    rounds = 2
    repeat = 10
    number = 1
    warmup_time = 0
    version = "1"

    def time_work(self, problem):
        numpy.work()

def track_release():
    name = os.environ["DEEPBENCH_FRAMEWORK"] + "-" + numpy.__version__
    return int(os.environ["DEEPBENCH_RELEASE"] == name)

def track_setting():
    return 1 + (os.environ.get("OPENBLAS_CORETYPE") == "Haswell")
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """A copy of the project with a small suite and its own releases, three of them measured."""
    root = tmp_path_factory.mktemp("suite")
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("deepbench_ops", "asv_bench_deepbench"):
        shutil.copytree(ROOT / name, root / name, ignore=ignore)
    # The benchmark type needs a numpy that computes.
    (root / "asv_bench_deepbench" / "benchmarks" / "kernel.py").unlink()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root / name)
    conf = (ROOT / "asv.conf.json").read_text(encoding="utf-8")
    conf = conf.replace("deepbench_ops/releases/releases.csv", "releases.csv")
    (root / "asv.conf.json").write_text(conf, encoding="utf-8")
    (root / "releases.csv").write_text(RELEASES)
    (root / "benchmarks").mkdir()
    (root / "benchmarks" / "__init__.py").touch()
    (root / "benchmarks" / "tiny.py").write_text(BENCHMARK)
    wheelhouse.stock(root / "wheels")
    for version, seconds in SECONDS.items():
        source = FRAMEWORK.format(version, seconds)
        wheelhouse.build(root / "wheels", "numpy", version, source)
    asv(root, "machine", "--yes")
    asv(root, "run", "--interleave-rounds", "numpy-0.9.0..numpy-2.0.0")
    return root


def asv(root: Path, *arguments: str, code: int = 0, **variables: str) -> str:
    """Run asv in the suite; the exit code must be the expected one, and no traceback printed."""
    environ = {**environment(root), **variables}
    done = processes.run([sys.executable, "-m", "asv", *arguments], root, environ)
    assert "Traceback" not in done.stdout, done.stdout
    assert code == done.returncode, done.stdout
    return done.stdout


def environment(root: Path) -> dict[str, str]:
    """The variables of a user who has only the suite's wheels."""
    env = {**os.environ, **wheelhouse.pip_environment(root / "wheels"), "HOME": str(root)}
    env.pop("DEEPBENCH_ON_REQUEST", None)
    env.pop("DEEPBENCH_SPOOL", None)
    return {name: value for name, value in env.items() if not name.startswith("OPENBLAS_")}


def results(root: Path) -> dict[str, dict[str, list[float]]]:
    """Values by release and benchmark, from the files that asv wrote."""
    found = {}
    for path in root.glob("results/*/*-release-*.json"):
        data = json.loads(path.read_text())
        found[data["commit_hash"]] = {name: row[0] for name, row in data["results"].items()}
    listed = (row.split(",")[:2] for row in RELEASES.splitlines()[1:])
    names = {
        wheelhouse.commit(framework, version): f"{framework}-{version}"
        for framework, version in listed
    }
    return {names[commit]: values for commit, values in found.items()}


@pytest.mark.slow
def test_run_measures_every_release_of_a_range_in_its_own_environment(suite):
    """Each release has a result, made by its own wheel, in rounds that alternate."""
    found = results(suite)
    assert sorted(found) == ["numpy-1.0.0", "numpy-1.1.0", "numpy-2.0.0"]
    for name, values in found.items():
        assert values["tiny.track_release"] == [1], name
        assert len(values["tiny.Suite.time_work"]) == 2
    ratio = (
        found["numpy-2.0.0"]["tiny.Suite.time_work"][0]
        / found["numpy-1.0.0"]["tiny.Suite.time_work"][0]
    )
    assert 1.5 < ratio < 6


@pytest.mark.slow
def test_a_setting_from_outside_is_named_once_and_reaches_the_measured_process(suite):
    """One line, before anything is measured; without a setting there is none. asv find too."""
    asked = ("find", "--skip-save", "numpy-1.0.0..numpy-2.0.0", "tiny.Suite.time_work")
    output = asv(suite, *asked, OPENBLAS_CORETYPE="Haswell")
    assert 1 == output.count("external settings: OPENBLAS_CORETYPE=Haswell (recorded")
    assert output.index("external settings") < output.index("Running approximately")
    asked = ("run", "numpy-1.0.0..numpy-2.0.0", "--bench", "track_setting", "--dry-run")
    output = asv(suite, *asked, OPENBLAS_CORETYPE="Haswell")
    assert 1 == output.count("external settings: OPENBLAS_CORETYPE=Haswell (recorded")
    assert output.index("external settings") < output.index("points to measure")
    assert re.search(r"tiny.track_setting\s+2$", output, re.M), output
    output = asv(suite, *asked)
    assert "external settings" not in output
    assert re.search(r"tiny.track_setting\s+1$", output, re.M), output


def test_a_long_folder_of_temporary_files_stops_a_run_before_it_starts(suite):
    """One line that names the variable, its length and the longest that fits."""
    folder = suite / ("t" * 100)
    folder.mkdir()
    asked = ("run", "numpy-1.0.0", "--bench", "track_setting", "--dry-run")
    said = asv(suite, *asked, code=1, TMPDIR=str(folder))
    assert f"TMPDIR is {len(str(folder))} bytes long" in said
    assert "points to measure" not in said
    assert "1 points to measure" in asv(suite, *asked, "--launch-method=spawn", TMPDIR=str(folder))


def test_environments_outlast_runs(suite):
    """A second run switches between environments and installs nothing."""
    markers = sorted(suite.glob(".asv/env/*/deepbench-release.json"))
    before = [path.stat().st_mtime_ns for path in markers]
    said = asv(suite, "run", "--quick", "--dry-run", "numpy-1.0.0 numpy-2.0.0")
    assert "Installing" not in said
    assert len(markers) == 3
    assert before == [path.stat().st_mtime_ns for path in markers]


def test_a_bare_run_measures_the_newest_release(suite):
    """Without a range, the newest releases are run; those measured on request alone are named."""
    said = asv(suite, "run", "--quick", "--dry-run", "--bench", "track")
    assert "Measured on request only: torch-1.0.0" in said
    assert "<numpy-2.0.0>" in said
    assert "1 commits" in said
    conf = suite / "one.conf.json"
    text = (
        (suite / "asv.conf.json")
        .read_text()
        .replace('"pythons"', '"branches": ["torch"], "pythons"')
    )
    conf.write_text(text)
    said = asv(suite, "--config", str(conf), "run", "--quick", "--dry-run", code=1)
    assert "no release is measured without asking: name one, such as torch-1.0.0" in said


@pytest.mark.slow
def test_a_quick_run_in_rounds_replaces_no_measurement(suite):
    """It has one round; in the others asv would remove the stored samples."""
    before = results(suite)
    said = asv(suite, "run", "--quick", "--interleave-rounds", "numpy-1.0.0^!")
    assert "points to measure" in said
    assert before == results(suite)


@pytest.mark.parametrize("existing", ["--python=same", "-Eexisting:same"])
def test_an_existing_python_is_measured_and_nothing_is_stored(suite, existing):
    """It is of no release, so that the command takes none, and keeps no points for the next one."""
    before = {path: path.read_bytes() for path in suite.glob("results/*/*-*-*")}
    kept = list(suite.glob(".asv/unfinished/*.jsonl"))
    said = asv(suite, "run", existing, "--bench", "track_setting")
    assert re.search(r"tiny.track_setting\s+1$", said, re.M), said
    assert "1 of 1 points" in said
    assert before == {path: path.read_bytes() for path in suite.glob("results/*/*-*-*")}
    assert kept == list(suite.glob(".asv/unfinished/*.jsonl"))
    for where in ([existing], ["numpy-1.1.0^!"]):
        said = asv(suite, "run", *where, "--set-commit-hash", "numpy-1.0.0", code=1)
        assert "deepbench release add RELEASE --python PATH makes an existing interpreter" in said


def test_existing_leaves_out_what_cannot_be_measured(suite):
    """Results of a release that the table lacks stop no run of the others."""
    (path,) = suite.glob(f"results/*/{wheelhouse.commit('numpy', '1.0.0')[:8]}-*.json")
    foreign = path.with_name(path.name.replace(path.name[:8], "0" * 8))
    content = json.loads(path.read_text())
    foreign.write_text(json.dumps({**content, "commit_hash": "0" * 40}))
    try:
        said = asv(suite, "run", "EXISTING", "--bench", "track_setting", "--dry-run", "--quick")
    finally:
        foreign.unlink()
    assert "1 releases with results are left out: published, or not in the table" in said
    for version in SECONDS:
        assert f"<numpy-{version}>" in said


def test_tags_goes_on_after_a_release_that_cannot_be_installed(suite):
    """The others are measured under their hashes; one line tells why, and nothing is left of it."""
    said = asv(suite, "run", "--bench", "track", "TAGS", code=2)
    lines = [line for line in said.splitlines() if f"{MISSING} is not installed" in line]
    assert len(lines) == 1
    assert "No matching distribution found for numpy==0.9.0" in lines[0]
    assert "torch" not in said
    for version in SECONDS:
        assert f"<numpy-{version}>" in said
    assert sorted(f"numpy-{version}" for version in SECONDS) == sorted(results(suite))
    assert not (suite / ".asv" / "env" / MISSING).exists()


def test_an_interrupted_run_goes_on_where_it_stopped(suite):
    """Points from before the interruption are not measured again, and then leave the journal."""
    command = [sys.executable, "-m", "asv", "run", "--bench", "time_work", "numpy-1.0.0"]
    command += ["--attribute", "repeat=20"]  # long enough to be interrupted
    before = results(suite)["numpy-1.0.0"]
    # A shell's background job ignores interruptions, and so would all that it starts.
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command,
        cwd=suite,
        env=environment(suite),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heard,
    ) as run:
        while not (kept := begun(suite)) and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        said, _ = run.communicate(timeout=60)
    assert "the same command goes on from here" in said
    assert before == results(suite)["numpy-1.0.0"]
    done = len(kept[0].read_text().splitlines())
    said = asv(suite, *command[3:])
    assert f"{done} were measured by a run that was interrupted" in said
    assert "4 of 4 points" in said
    assert [] == list(suite.glob(".asv/unfinished/*.jsonl"))


@pytest.mark.slow
def test_a_disk_that_fills_up_during_a_run_costs_no_point(suite):
    """The save is one line that names the journal; the same command goes on from it."""
    machine = next(path.parent for path in suite.glob("results/*/*-release-*.json"))
    command = [sys.executable, "-m", "asv", "run", "--bench", "time_work", "numpy-1.0.0"]
    before = results(suite)["numpy-1.0.0"]
    copy = machine.parent.parent / "copy"
    shutil.copytree(machine, copy)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", machine]).returncode:
        shutil.rmtree(copy)
        pytest.skip("only root may mount here")
    try:
        shutil.copytree(copy, machine, dirs_exist_ok=True)
        with subprocess.Popen(
            command, cwd=suite, env=environment(suite), stdout=subprocess.PIPE, text=True
        ) as run:
            while not begun(suite) and run.poll() is None:
                time.sleep(0.01)
            with suppress(OSError), (machine / "filler").open("wb", buffering=0) as filler:
                while filler.write(bytes(1024)):
                    pass
            said, _ = run.communicate(timeout=120)
        assert "No space left on device); its points are kept in .asv/unfinished/" in said
        assert (1, False) == (run.returncode, "Traceback" in said)
        assert before == results(suite)["numpy-1.0.0"]
        (machine / "filler").unlink()
        said = asv(suite, *command[3:])
        assert "4 were measured by a run that was interrupted" in said
        assert before != results(suite)["numpy-1.0.0"]
        assert [] == list(suite.glob(".asv/unfinished/*.jsonl"))
    finally:
        subprocess.run(["umount", machine], check=True)
        shutil.rmtree(copy)


def test_a_read_only_results_folder_stops_a_run_before_it_measures(suite):
    """One line that names the folder."""
    folder = suite / "results"
    if subprocess.run(["mount", "--bind", folder, folder]).returncode:
        pytest.skip("only root may mount here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        said = asv(suite, "run", "--bench", "time_work", "numpy-1.0.0", code=1)
        assert "results cannot be written to (Read-only file system): asv run needs to" in said
        assert "points to measure" not in said
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_a_second_run_in_a_clone_is_refused_with_the_name_of_the_first(suite):
    """At once, asv find as well; a kill of the first frees the clone."""
    command = [sys.executable, "-m", "asv", "run", "--bench", "time_work", "--dry-run"]
    command += ["numpy-1.0.0", "--attribute", "repeat=200"]  # longer than asv takes to start
    with subprocess.Popen(
        command,
        cwd=suite,
        env=environment(suite),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as first:
        holder = suite / ".asv" / f"{locks.NAME}.holder"
        while not holder.exists() and first.poll() is None:
            time.sleep(0.01)
        searched = ("find", "--skip-save", "numpy-1.0.0..numpy-2.0.0", "tiny.Suite.time_work")
        refused = [asv(suite, *each, code=1) for each in (command[3:], searched)]
        assert first.poll() is None
        first.kill()
    for said in refused:
        assert f"process {first.pid} (asv run --bench time_work --dry-run numpy-1.0.0" in said
        assert "measures here already" in said
        assert "Running approximately" not in said
    asv(suite, "run", "--bench", "track_release", "--dry-run", "numpy-1.0.0")


def begun(suite: Path) -> list[Path]:
    """The journals that hold something."""
    return [path for path in suite.glob(".asv/unfinished/*.jsonl") if path.stat().st_size]


def test_publish_draws_every_release(suite):
    """The site's index has a tag for every release and a branch for every framework."""
    asv(suite, "publish")
    index = json.loads((suite / "html" / "index.json").read_text())
    assert len(index["tags"]) == 5
    assert index["params"]["branch"] == ["numpy", "torch"]
    assert index["params"]["python"] == ["3"]
    assert "env-DEEPBENCH_FRAMEWORK" not in index["params"]
    graphs = list((suite / "html" / "graphs").rglob("branch-numpy/**/tiny.Suite.time_work.json"))
    assert [len(json.loads(path.read_text())) for path in graphs] == [3]


def test_compare_takes_release_names(suite):
    """The slower release is marked, both are named in the heading."""
    said = asv(suite, "compare", "numpy-1.0.0", "numpy-2.0.0")
    assert "<numpy-1.0.0>" in said
    assert "<numpy-2.0.0>" in said
    assert any(line.startswith("| +") and "time_work" in line for line in said.splitlines())


def test_show_names_the_release(suite):
    """A release is shown by its name; without one, the commits with results are listed."""
    said = asv(suite, "show", "numpy-1.1.0")
    assert f"{wheelhouse.commit('numpy', '1.1.0')[:8]} <numpy-1.1.0>" in said
    assert "tiny.Suite.time_work" in said
    assert wheelhouse.commit("numpy", "2.0.0")[:8] in asv(suite, "show")


@pytest.mark.slow
def test_find_finds_the_release_that_became_slower(suite):
    """A search through the range ends at the release with the slower wheel."""
    said = asv(suite, "find", "--skip-save", "numpy-0.9.0..numpy-2.0.0", "tiny.Suite.time_work")
    assert "Greatest regression found:" in said
    assert "<numpy-2.0.0>" in said.partition("Greatest regression found:")[2]


def test_find_stores_no_time(suite):
    """It keeps no records, so a value that it stored would differ from the raw seconds next to
    it."""
    before = {path: path.read_bytes() for path in suite.glob("results/*/*-release-*")}
    said = asv(suite, "find", "numpy-1.0.0..numpy-2.0.0", r"^tiny\.(track_release)$")
    assert "asv find stores none of its times" in said
    assert before == {path: path.read_bytes() for path in suite.glob("results/*/*-release-*")}


def test_check_imports_the_suite(suite):
    """The suite is checked in the environment of a release."""
    assert "No problems found." in asv(suite, "check")


def test_continuous_compares_with_the_release_before(suite):
    """Without a base, a release is run next to its predecessor."""
    said = asv(
        suite, "continuous", "--quick", "--bench", "time_work", "numpy-1.1.0", "numpy-2.0.0", code=1
    )
    assert "PERFORMANCE DECREASED" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("run", "numpy-1.0.1"), "unknown release 'numpy-1.0.1': the nearest are"),
        (("run", "HEAD"), "unknown release 'HEAD'"),
        (("run", "numpy-2.0.0..numpy-1.0.0"), "runs backwards"),
        (("find", "..numpy-1.1.0", "tiny.Suite.time_work"), f"{MISSING} is not installed"),
        (("show", "numpy-1.0.1"), "unknown release 'numpy-1.0.1'"),
        (("compare", "numpy-1.0.1", "numpy-2.0.0"), "unknown release 'numpy-1.0.1'"),
        (("continuous", "numpy-0.9.0^", "numpy-1.0.0"), "no release before numpy-0.9.0"),
        (("publish", "numpy-1.0.1"), "unknown release 'numpy-1.0.1'"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_line(suite, arguments, expected):
    """A wrong name or range ends the command with one line and exit code 1."""
    assert expected in asv(suite, *arguments, code=1)


def test_a_mistake_in_table_or_configuration_is_one_line(suite):
    """asv prints the fault of the table or the configuration, and nothing else happens."""
    broken = suite / "broken.conf.json"
    text = (suite / "asv.conf.json").read_text()
    broken.write_text(text.replace('"releases.csv"', '"nowhere.csv"'))
    said = asv(suite, "--config", str(broken), "show", "numpy-1.0.0", code=1)
    assert "nowhere.csv: No such file or directory" in said
    broken.write_text(text.replace('"launch_method"', '"launch_methd"'))
    said = asv(suite, "--config", str(broken), "run", "numpy-1.0.0", code=1)
    assert "unknown key 'launch_methd', which asv would ignore: write 'launch_method'" in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("run", "--bench", ""),
            "--bench '' would measure everything: if it came",
        ),
        (("run", "--bench", "("), "--bench '(' is no regular expression (missing ), unterminated"),
        (
            ("find", "numpy-1.0.0..numpy-2.0.0", "tiny("),
            "benchmark 'tiny(' is no regular expression",
        ),
        (("run", "-E", "virtualenv:3.11", "numpy-1.0.0"), "-E virtualenv:3.11: releases have env"),
        (("check", "-E", "conda"), "-E conda: releases have environments of type 'release'"),
        (("gh-pages",), "asv gh-pages would push the branch gh-pages to origin"),
        (
            ("run", "--machine", "new"),
            "machine 'new' is not described yet: deepbench machine --name",
        ),
        (("rm", "-y", "python=3"), "asv rm cannot choose by python: choose by benchmark, commit"),
        (("rm", "-y", "foo=bar"), "asv rm: some results have no field foo: choose by benchmark"),
        (("machine", "--ram", "4"), "machine 'here' has results under ram '32 GiB' instead of '4'"),
    ],
)
def test_what_cannot_be_done_is_one_line(machines, arguments, expected):
    """A command that asv ends with a traceback, or runs without asking: one line and status 1."""
    described(machines)
    said = asv(machines, *arguments, code=1)
    assert said.strip("\u00b7 \n").startswith(expected)
    assert 1 == len(said.strip().splitlines())


AUTHOR = {
    f"GIT_{role}_{part}": text
    for role in ("AUTHOR", "COMMITTER")
    for part, text in (("NAME", "a user"), ("EMAIL", "user@example.org"))
}


def git(folder: Path, *arguments: str) -> list[str]:
    """Run git in a folder; return the lines that it prints."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.slow
def test_gh_pages_pushes_only_where_asked_to(suite, tmp_path):
    """To origin, a bare repository here: nothing without DEEPBENCH_PUSH=1, nor with --no-push."""
    origin = tmp_path / "origin.git"
    git(tmp_path, "init", "--bare", str(origin))
    git(suite, "init")
    git(suite, "remote", "add", "origin", str(origin))
    try:
        for variables in ({}, {"DEEPBENCH_PUSH": "0"}):
            said = asv(suite, "gh-pages", code=1, **AUTHOR, **variables)
            assert "give --no-push, or set DEEPBENCH_PUSH=1 to push" in said
        assert [] == git(suite, "for-each-ref")
        asv(suite, "gh-pages", "--no-push", **AUTHOR)
        assert ["refs/heads/gh-pages"] == git(suite, "for-each-ref", "--format=%(refname)")
        assert [] == git(origin, "for-each-ref")
        assert "Pushing gh-pages branch" in asv(suite, "gh-pages", **AUTHOR, DEEPBENCH_PUSH="1")
        assert git(suite, "rev-parse", "gh-pages") == git(origin, "rev-parse", "gh-pages")
        files = git(origin, "ls-tree", "--name-only", "gh-pages")
        assert {"index.html", "index.json", "graphs"} <= set(files)
    finally:
        shutil.rmtree(suite / ".git")


def test_setup_prints_no_objects(suite):
    """`asv setup` prints its steps, and no objects of Python."""
    assert "object at" not in asv(suite, "setup")


def test_a_wrong_configuration_is_one_line_with_every_command(suite):
    """A key of a wrong type is named by commands that would never read it."""
    wrong = suite / "wrong.conf.json"
    text = (suite / "asv.conf.json").read_text()
    wrong.write_text(text.replace('"hash_length": 8', '"hash_length": "8"'))
    for command in (("show",), ("setup",), ("publish",), ("machine", "--yes")):
        said = asv(suite, "--config", str(wrong), *command, code=1)
        assert "hash_length is '8': write a whole number" in said


def test_a_reader_that_has_seen_enough_is_no_error(suite):
    """`asv show | head -1` ends without a word, with the status of a closed pipe."""
    with subprocess.Popen(
        [sys.executable, "-m", "asv", "show"],
        cwd=suite,
        env=environment(suite),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as show:
        show.stdout.close()
        assert "" == show.stderr.read()
    assert 141 == show.returncode


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_one_line(suite, unbuffered):
    """`asv show > /dev/full` says so on stderr."""
    variables = {**environment(suite), "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "asv", "show"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            command, cwd=suite, env=variables, stdout=full, stderr=subprocess.PIPE, text=True
        )
    expected = "asv: cannot write the output: No space left on device: make room there\n"
    assert (1, expected) == (done.returncode, done.stderr)


@pytest.mark.slow
def test_pages_for_which_there_is_no_room_are_one_line(suite):
    """It names the first file that has no place, of the many that asv copies, and the mend; the
    next command makes all pages."""
    command = ("publish", "--html-dir", "site/html")
    with full_disk.mounted(suite / "site", "20k"):
        said = asv(suite, *command, code=1)
    line = said.splitlines()[-1]
    assert re.search(r" site/html/\S+: No space left on device: make room there$", line), said
    assert 1 == said.count("No space left")
    asv(suite, *command)
    assert (suite / "site" / "html" / "index.html").exists()
    shutil.rmtree(suite / "site")


@pytest.mark.slow
def test_a_run_without_room_for_results_does_not_begin(suite):
    """The line names the file and the mend, and all results stay."""
    before = results(suite)
    with full_disk.mounted(suite / "results"):
        full_disk.fill(suite / "results" / "filler")
        said = asv(suite, "run", "--bench", "time_work", "numpy-1.0.0", code=1)
    assert said.strip().endswith("machine.json: No space left on device: make room there")
    assert before == results(suite)


def test_a_folder_that_cannot_be_written_is_one_line(suite):
    """Where pages cannot be written, the path and the reason are named."""
    conf = suite / "nowhere.conf.json"
    text = (suite / "asv.conf.json").read_text()
    conf.write_text(text.replace('"html_dir": "html"', '"html_dir": "/dev/null/html"'))
    said = asv(suite, "--config", str(conf), "publish", code=1)
    assert "/dev/null/html: Not a directory" in said


def interrupted(suite, command, begun, until=lambda: True):
    """Send Ctrl-C's signal to all processes of the command, once it has printed `begun` and `until`
    holds; return its status and the lines from `begun` on."""
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "asv", *command],
        cwd=suite,
        env=environment(suite),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=heard,
    ) as run:
        said = ""
        while begun not in said and (letter := run.stdout.read(1)):
            said += letter
        while not until() and run.poll() is None:
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        more, _ = run.communicate(timeout=60)
    return run.returncode, (begun + more).splitlines()


@pytest.mark.slow
def test_an_interruption_while_a_later_release_installs_is_one_line(suite):
    """The first release stays installed, nothing is left of the second, and the same command goes
    on from there."""
    first, second = (suite / ".asv" / "env" / f"numpy-{version}" for version in ("1.1.0", "1.0.0"))
    for path in (first, second):
        shutil.rmtree(path)
    command = ("run", "--bench", "track", "numpy-1.0.0 numpy-1.1.0")
    status, (_, ending) = interrupted(suite, command, "Building for", until=second.exists)
    assert "Interrupted: finished points are kept: the same command goes on" in ending
    assert 130 == status
    assert ((first / "deepbench-release.json").exists(), second.exists()) == (True, False)
    said = asv(suite, *command)
    assert "2 of 2 points" in said
    assert (second / "deepbench-release.json").exists()


def test_an_interruption_of_publishing_is_one_line(suite):
    """Ctrl-C ends it with one line that says what to do, and status 130."""
    status, (loading, *between, ending) = interrupted(suite, ("publish",), "Loading results")
    assert [] == between, (loading, between)
    assert "Interrupted: html/ is incomplete: asv publish writes it again" in ending
    assert 130 == status


def test_a_killed_publish_leaves_no_process(suite, monkeypatch):
    """The process that writes our pages next to asv ends with it."""
    monkeypatch.setenv(processes.MARK, "publishing")
    with subprocess.Popen(
        [sys.executable, "-m", "asv", "publish"],
        cwd=suite,
        env=environment(suite),
        stdout=subprocess.DEVNULL,
    ) as publish:
        while len(processes.marked_pids("publishing")) < 2 and publish.poll() is None:
            time.sleep(0.01)
        publish.terminate()
    assert -signal.SIGTERM == publish.returncode
    assert processes.eventually_gone("publishing", 2.0)


HERE = {
    "machine": "here",
    "os": "Linux",
    "arch": "x86_64",
    "cpu": "a processor",
    "num_cpu": "2",
    "ram": "32 GiB",
}


def described(suite, results=True, **other):
    """Have asv know this machine as `HERE`, but for `other`, with or without results."""
    entries = {"here": {**HERE, **other}, "version": 1}
    (suite / ".asv-machine.json").write_text(json.dumps(entries))
    if results:
        (suite / "results" / "here").mkdir(exist_ok=True)
        (suite / "results" / "here" / "machine.json").write_text(json.dumps({**HERE, "version": 1}))


@pytest.fixture
def machines(suite):
    """Restores asv's entries of machines, and their results."""
    before = (suite / ".asv-machine.json").read_text()
    yield suite
    (suite / ".asv-machine.json").write_text(before)
    shutil.rmtree(suite / "results" / "here", ignore_errors=True)


def test_asv_machine_keeps_what_it_knows(machines):
    """`asv machine --yes` changes nothing of a machine that is described already."""
    described(machines)
    before = (machines / ".asv-machine.json").read_text()
    assert "machine 'here' is described already" in asv(machines, "machine", "--yes")
    assert before == (machines / ".asv-machine.json").read_text()


def test_asv_machine_describes_as_deepbench_does(machines):
    """A new machine gets an entry that no update of its system changes."""
    (machines / ".asv-machine.json").unlink()
    asv(machines, "machine", "--yes", "--machine", "new")
    entry = json.loads((machines / ".asv-machine.json").read_text())["new"]
    assert "Linux" == entry["os"]
    assert entry["ram"].endswith(" GiB")


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--dry-run", "--bench", "track_release", "numpy-1.0.0"),
        ("find", "numpy-1.0.0..numpy-2.0.0", "tiny.Suite.time_work"),
    ],
    ids=lambda command: command[0],
)
def test_an_unknown_machine_is_described_without_a_question(machines, command):
    """As `deepbench machine` does: asv would suggest an os and a ram that change."""
    (machines / ".asv-machine.json").unlink()
    output = asv(machines, *command)
    known = json.loads((machines / ".asv-machine.json").read_text())
    ((name, entry),) = [pair for pair in known.items() if pair[0] != "version"]
    assert f"described as machine {name} in " in output
    assert "No information stored" not in output
    assert "Linux" == entry["os"]
    assert entry["ram"].endswith(" GiB")


def test_none_of_several_other_machines_is_taken_for_this_one(machines):
    """One line says how to choose."""
    entries = {name: {**HERE, "machine": name} for name in ("one", "two")}
    (machines / ".asv-machine.json").write_text(json.dumps({**entries, "version": 1}))
    output = asv(machines, "run", "--dry-run", "numpy-1.0.0", code=1)
    assert "has 2 machines (one, two) and none with the host's name" in output
    assert 1 == len(output.strip().splitlines())


def test_a_question_that_no_one_can_answer_is_one_line(suite):
    """`asv rm` asks before it removes results."""
    output = asv(suite, "rm", "benchmark=tiny.track_setting", code=1)
    assert "asv rm asks, and no one can answer here: give -y" in output


def test_a_run_under_another_entry_than_the_results_is_refused(machines):
    """An entry that asv itself has overwritten elsewhere is refused before it starts new lines."""
    described(machines, os="Linux 6.1.0")
    said = asv(machines, "run", "--bench", "track", "numpy-1.0.0", code=1)
    assert "machine 'here' has results under os 'Linux' instead of 'Linux 6.1.0'" in said
    assert "deepbench machine --yes --no-measure" in said
    command = [sys.executable, "-m", "deepbench_ops.cli", "config"]
    said = processes.run(command, machines, environment(machines)).stdout
    assert "describes here otherwise than its results (os 'Linux 6.1.0' instead of 'Linux')" in said


def test_compare_takes_this_machine(machines):
    """Of several machines with results of both releases this one is taken, else one is to name."""
    name = next(path.parent.name for path in machines.glob("results/*/*-release-*.json"))
    other = machines / "results" / "other"
    shutil.copytree(machines / "results" / name, other)
    (other / "machine.json").write_text(json.dumps({**HERE, "machine": "other", "version": 1}))
    try:
        assert f"On {name}" in asv(machines, "compare", "numpy-1.0.0", "numpy-2.0.0")
        described(machines)
        said = asv(machines, "compare", "numpy-1.0.0", "numpy-2.0.0", code=1)
        assert "this machine, 'here', has no results of both releases: name one that has" in said
        assert f"--machine {' or '.join(sorted([name, 'other']))}" in said
    finally:
        shutil.rmtree(other)


@pytest.mark.slow
def test_a_long_run_asks_first(suite):
    """All rounds of all releases together count; a run beyond an hour starts after consent."""
    slow = suite / "results" / "vm-of-records"
    slow.mkdir()
    entry = {"benchmark": "tiny.Suite.time_work", "params": ["a"], "release": "numpy-1.0.0"}
    line = json.dumps({**entry, "spent": {"measuring": 1000.0}})
    (slow / "0.measurements.jsonl").write_text(line + "\n")
    command = ("run", "--quick", "--dry-run", "--bench", "time_work", "numpy-1.0.0 numpy-2.0.0")
    asv(suite, *command)
    whole = (*command[:1], *command[2:])
    said = asv(suite, *whole, code=1)
    assert "8 points of 2 releases take about 2 h 13 min. A selection takes less" in said
    assert "DEEPBENCH_YES=1 measures them all" in said
    assert "points to measure" not in said
    assert "4 of 4 points" in asv(suite, *whole, DEEPBENCH_YES="1")
    shutil.rmtree(slow)
