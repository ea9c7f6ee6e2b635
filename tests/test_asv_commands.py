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
from functools import partial
from pathlib import Path

import processes
import pytest
import wheelhouse

ROOT = Path(__file__).parents[1]
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
    return int(os.environ.get("OPENBLAS_CORETYPE") == "Haswell")
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
    conf = re.sub(r'"branches": \[.*\]', '"branches": ["numpy", "torch"]', conf)
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
    env.pop("OPENBLAS_CORETYPE", None)
    return env


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


def test_a_setting_from_outside_is_named_once_and_reaches_the_measured_process(suite):
    """One line, before anything is measured; without a setting there is none."""
    asked = ("run", "numpy-1.0.0..numpy-2.0.0", "--bench", "track_setting", "--dry-run")
    told = asv(suite, *asked, OPENBLAS_CORETYPE="Haswell")
    assert 1 == told.count("settings from outside: OPENBLAS_CORETYPE=Haswell (recorded")
    assert told.index("settings from outside") < told.index("points to measure")
    assert re.search(r"tiny.track_setting\s+1$", told, re.M), told
    told = asv(suite, *asked)
    assert "settings from outside" not in told
    assert re.search(r"tiny.track_setting\s+0$", told, re.M), told


def test_environments_outlast_runs(suite):
    """A second run switches between environments and installs nothing."""
    markers = sorted(suite.glob(".asv/env/*/deepbench-release.json"))
    before = [path.stat().st_mtime_ns for path in markers]
    said = asv(suite, "run", "--quick", "--dry-run", "numpy-1.0.0 numpy-2.0.0")
    assert "Installing" not in said
    assert len(markers) == 3
    assert before == [path.stat().st_mtime_ns for path in markers]


def test_a_bare_run_measures_the_newest_release(suite):
    """Without a range, the newest releases that need no asking are run; the others are told."""
    said = asv(suite, "run", "--quick", "--dry-run", "--bench", "track")
    assert "Measured on request only: torch-1.0.0" in said
    assert "<numpy-2.0.0>" in said
    assert "1 commits" in said
    conf = suite / "one.conf.json"
    text = (suite / "asv.conf.json").read_text().replace('["numpy", "torch"]', '["torch"]')
    conf.write_text(text)
    said = asv(suite, "--config", str(conf), "run", "--quick", "--dry-run", code=1)
    assert "no release is measured without asking: name one, such as torch-1.0.0" in said


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
    """What was measured before the interruption is not measured again, and then forgotten."""
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


def test_find_finds_the_release_that_became_slower(suite):
    """A search through the range ends at the release with the slower wheel."""
    said = asv(suite, "find", "--skip-save", "numpy-0.9.0..numpy-2.0.0", "tiny.Suite.time_work")
    assert "Greatest regression found:" in said
    assert "<numpy-2.0.0>" in said.partition("Greatest regression found:")[2]


def test_check_imports_the_suite(suite):
    """The suite is checked in the environment of a release."""
    assert "No problems found." in asv(suite, "check")


def test_continuous_compares_with_the_release_before(suite):
    """Without a base, a release is run beside its predecessor."""
    said = asv(
        suite, "continuous", "--quick", "--bench", "time_work", "numpy-1.1.0", "numpy-2.0.0", code=1
    )
    assert "PERFORMANCE DECREASED" in said


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
    """asv prints what is wrong with the table or the configuration, and nothing else happens."""
    broken = suite / "broken.conf.json"
    text = (suite / "asv.conf.json").read_text()
    broken.write_text(text.replace('"releases.csv"', '"nowhere.csv"'))
    said = asv(suite, "--config", str(broken), "show", "numpy-1.0.0", code=1)
    assert "nowhere.csv: No such file or directory" in said
    broken.write_text(text.replace('"launch_method"', '"launch_methd"'))
    said = asv(suite, "--config", str(broken), "run", "numpy-1.0.0", code=1)
    assert "unknown key 'launch_methd', which asv would ignore: write 'launch_method'" in said
