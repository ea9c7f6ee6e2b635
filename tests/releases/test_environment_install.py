"""Environments of releases: real installs of tiny local wheels, and the remains of failing ones."""

import datetime
import json
import logging
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import wheelhouse
from filelock import FileLock, Timeout

from deepbench_ops.asv_adapter import asv_api, asv_environment
from deepbench_ops.asv_adapter.asv_environment import NotInstalled, ReleaseEnvironment
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import environment_install, release_from_wheel_file
from deepbench_ops.releases.environment_install import Installation, InstallError
from deepbench_ops.releases.release_table import Release

ROWS = """framework,version,date,pins,on_request,index
numpy,1.0.0,2020-01-01,companion==1.0,no,
numpy,2.0.0,2021-01-01,companion==2.0,no,
numpy,3.0.0,2022-01-01,,no,
"""


def released(version: str, *pins: str) -> Release:
    return Release("numpy", version, datetime.date(2020, 1, 1), pins)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project to install next to releases, in place of this one."""
    root = tmp_path_factory.mktemp("project")
    (root / "neighbour.py").write_text("there = True\n")
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools>=77"]\n'
        'build-backend = "setuptools.build_meta"\n'
        '[project]\nname = "neighbour"\nversion = "1"\ndependencies = ["not-to-be-installed"]\n'
        '[tool.setuptools]\npy-modules = ["neighbour"]\n'
    )
    return root


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Two good releases, one that does not import and one that conflicts with its companion."""
    folder = tmp_path_factory.mktemp("wheels")
    wheelhouse.stock(folder)
    for version in ("1.0.0", "2.0.0"):
        wheelhouse.build(folder, "numpy", version, f"__version__ = '{version}'\n")
        wheelhouse.build(folder, "companion", version.removesuffix(".0"), "")
    wheelhouse.build(folder, "numpy", "4.0.0", "import libcudart_of_another_system\n")
    wheelhouse.build(folder, "picky", "1.0", "", "numpy<1")
    return folder


@pytest.fixture(scope="module")
def pip(wheels):
    """Let pip see the local wheels and nothing else."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in wheelhouse.pip_environment(wheels).items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where environments that are good for several tests lie."""
    return tmp_path_factory.mktemp("environments")


@pytest.fixture(scope="module")
def complete(folder, project, pip):
    """An installed release, over the remains of an interrupted install."""
    installation = Installation(released("1.0.0", "companion==1.0"), folder, project, 120)
    installation.python.parent.mkdir(parents=True)
    installation.python.write_text("half a file")
    assert not installation.is_complete()
    installation.ensure()
    return installation


@pytest.fixture
def made(tmp_path, project, pip):
    """Make installations in a folder of this test's own."""
    return lambda release: Installation(release, tmp_path / "env", project, 120)


def python(installation: Installation, code: str) -> str:
    command = [str(installation.python), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_an_environment_holds_the_release_its_pins_and_the_project(complete):
    """Framework, pins, runner and yardstick have the listed versions; the project is editable."""
    names = [requirement.partition("==")[0] for requirement in complete.requirements]
    code = f"import importlib.metadata as m; print(*[m.version(n) for n in {names!r}])"
    versions = [requirement.partition("==")[2] for requirement in complete.requirements]
    assert versions == python(complete, code).split()
    where = python(complete, "import neighbour; print(neighbour.__file__)")
    assert complete.project / "neighbour.py" == Path(where)


@pytest.fixture
def plugin_site(tmp_path):
    """A folder with the plugin as pip would have installed it."""
    site = tmp_path / "site"
    shutil.copytree(Path(__file__).parents[1] / "plugin", site)
    files = (path.relative_to(site) for path in site.rglob("*") if path.is_file())
    record = site / "deepbench_axpy-1.0.dist-info" / "RECORD"
    record.write_text("".join(f"{path},,\n" for path in files if path.suffix != ".pyc"))
    return site


@pytest.mark.slow
def test_a_plugin_is_installed_next_to_every_release(made, plugin_site, monkeypatch):
    """Without a network, and an environment that lacks it is not complete."""
    installation = made(released("1.0.0"))
    installation.ensure()
    monkeypatch.syspath_prepend(str(plugin_site))
    before = installation.is_complete()
    monkeypatch.setattr(Installation, "_create", None)  # the framework is not installed again

    installation.ensure()

    held = "import importlib.metadata as m; print(m.version('deepbench-axpy'))"
    assert (False, "1.0") == (before, python(installation, held))
    assert installation.is_complete()


def test_an_environment_with_an_earlier_build_of_a_plugin_is_not_complete(
    made, plugin_site, monkeypatch
):
    """pip lists the files of an installation with their hashes."""
    monkeypatch.syspath_prepend(str(plugin_site))
    installation = made(released("1.0.0"))
    installation.python.parent.mkdir(parents=True)
    installation.python.touch()
    marker = installation.path / environment_install.MARKER
    marker.write_text(json.dumps(installation.contents()))
    assert installation.is_complete()
    record = plugin_site / "deepbench_axpy-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text().replace("axpy.py,,", "axpy.py,sha256=another,9"))
    assert not installation.is_complete()


@pytest.mark.slow
def test_an_environment_of_before_threadpoolctl_gets_it(made, monkeypatch):
    """It comes from the files installed here, without a network and without a new environment."""
    installation = made(released("1.0.0"))
    installation.ensure()
    installation._run(str(installation.python), "-m", "pip", "uninstall", "-y", "threadpoolctl")
    marker = installation.path / environment_install.MARKER
    older = json.loads(marker.read_text(encoding="utf-8"))
    del older[environment_install.COPIED]
    marker.write_text(json.dumps(older | {"left_out": []}))
    before = installation.is_complete()
    monkeypatch.setattr(Installation, "_create", None)

    installation.ensure()

    version = python(installation, "import threadpoolctl; print(threadpoolctl.__version__)")
    assert (False, metadata.version("threadpoolctl")) == (before, version)
    assert installation.is_complete()


def test_an_environment_with_a_plugin_too_many_is_made_again(made):
    """A family that is no longer installed here must not be measured there."""
    installation = made(released("1.0.0"))
    installation.python.parent.mkdir(parents=True)
    installation.python.touch()
    contents = installation.contents()
    copies = [*contents[environment_install.COPIED], "removed-plugin==1.0"]
    (installation.path / environment_install.MARKER).write_text(
        json.dumps(contents | {environment_install.COPIED: copies})
    )
    installation.ensure()
    assert installation.is_complete()
    assert "1.0.0" == python(installation, "import numpy; print(numpy.__version__)")


def test_a_package_from_a_wheel_is_copied_and_another_build_replaces_it(
    tmp_path, pip, plugin_site, monkeypatch
):
    """Away from a checkout; a build of the same version changes nothing else of the environment."""
    copy = metadata.Distribution.at(plugin_site / "deepbench_axpy-1.0.dist-info")
    installation = Installation(released("1.0.0"), tmp_path / "env", None, 120)
    find = "from importlib.util import find_spec; print(find_spec('deepbench_axpy.axpy').origin)"
    seen = []
    for build in (1, 2):
        with (plugin_site / "deepbench_axpy" / "axpy.py").open("a") as module:
            module.write(f"# build {build}\n")
        monkeypatch.setattr(
            environment_install, "this_project", lambda build=build: {f"own==1 {build}": copy}
        )
        assert not installation.is_complete()
        installation.ensure()
        seen.append(Path(python(installation, find)).read_text().splitlines()[-1])
        monkeypatch.setattr(Installation, "_make", None)
    assert ["# build 1", "# build 2"] == seen


def test_a_package_that_pip_did_not_install_is_refused(monkeypatch, tmp_path):
    """The line names the folder, and how to install it."""
    assert environment_install.project_root() == Path(environment_install.__file__).parents[2]
    elsewhere = tmp_path / "deepbench_ops" / "__init__.py"
    monkeypatch.setattr(environment_install.deepbench_ops, "__file__", str(elsewhere))
    with pytest.raises(DeepbenchError, match="neither in a checkout nor installed"):
        environment_install.project_root()


def test_an_interrupted_install_is_done_again(complete):
    """An environment without its marker counted for nothing and was made again."""
    assert complete.is_complete()
    assert python(complete, "import numpy; print(numpy.__version__)") == "1.0.0"


def test_a_complete_environment_is_not_touched_again(complete, monkeypatch):
    """A second round runs no tool at all."""

    def refused(self, *command):
        raise AssertionError(command)

    monkeypatch.setattr(Installation, "_run", refused)
    complete.ensure()
    assert complete.is_complete()


@pytest.mark.parametrize("marker", ["", "{", "[]", '{"requirements": ["numpy==0.9"]}'])
def test_an_environment_with_other_contents_is_not_complete(made, marker):
    """A marker that is broken, or tells of other pins, does not pass."""
    installation = made(released("1.0.0"))
    installation.python.parent.mkdir(parents=True)
    installation.python.touch()
    (installation.path / environment_install.MARKER).write_text(marker)
    assert not installation.is_complete()
    (installation.path / environment_install.MARKER).write_text(json.dumps(installation.contents()))
    assert installation.is_complete()


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (released("3.0.0"), "No matching distribution found for numpy==3.0.0"),
        (released("4.0.0"), "No module named 'libcudart_of_another_system'"),
        (released("1.0.0", "picky==1.0"), "Cannot install numpy==1.0.0 and picky==1.0"),
    ],
    ids=["not on the index", "does not import", "pins conflict"],
)
def test_a_failed_install_is_one_line_and_leaves_nothing(made, release, expected):
    """The line names release, pins and the last output; only the log stays."""
    installation = made(release)
    with pytest.raises(InstallError) as error:
        installation.ensure()
    line = str(error.value)
    assert "\n" not in line
    assert expected in line
    assert line.startswith(f"{release.name} is not installed ({release.requirement}")
    assert not installation.path.exists()
    assert installation.log.read_text(encoding="utf-8")


def test_an_interruption_leaves_no_partial_environment(made, monkeypatch):
    """Ctrl-C between virtualenv and pip removes the environment."""
    installation = made(released("1.0.0"))

    def interrupted(self):
        assert self.path.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(Installation, "_install", interrupted)
    with pytest.raises(KeyboardInterrupt):
        installation.ensure()
    assert not installation.path.exists()


def test_one_process_makes_an_environment_at_a_time(tmp_path):
    """While one does, another waits; it goes on once the first has ended."""
    other = FileLock(tmp_path / "numpy-1.0.0.lock")
    held = environment_install.environment_lock(tmp_path, "numpy-1.0.0", "installing", 1.0)
    with held, pytest.raises(Timeout):
        other.acquire(timeout=0)
    with other.acquire(timeout=0):
        assert other.is_locked


def test_a_rows_index_is_added_to_pips_own(made, monkeypatch):
    """The index column reaches pip as an extra index; without it pip is left to itself."""
    said = []
    monkeypatch.setattr(Installation, "_run", lambda self, *command: said.append(command) or "")
    plain = made(released("1.0.0"))
    other = made(
        Release("numpy", "1.0.0", datetime.date(2020, 1, 1), index="https://example.org/simple")
    )
    plain._install()
    other._install()
    half = len(said) // 2
    assert not any("--extra-index-url" in command for command in said[:half])
    place = said[half].index("--extra-index-url")
    assert said[half][place + 1] == "https://example.org/simple"


@pytest.fixture
def own_wheel(wheels, tmp_path, monkeypatch):
    """A wheel of one's own, of a version that the index has with a tag that pip prefers."""
    theirs = wheelhouse.build(tmp_path / "index", "numpy", "5.0.0", "mine = False\n")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}-none-any"
    theirs.rename(theirs.with_name(f"numpy-5.0.0-{tag}.whl"))
    monkeypatch.setenv("PIP_FIND_LINKS", f"{wheels} {theirs.parent}")
    return wheelhouse.build(tmp_path / "built here", "numpy", "5.0.0", "mine = True\n")


@pytest.mark.parametrize("row", ["file", "folder"])
def test_a_wheel_of_ones_own_is_not_replaced_by_that_of_an_index(made, own_wheel, row):
    """Whether the row of the table names it or its folder."""
    place = own_wheel if row == "file" else own_wheel.parent
    day = datetime.date(2020, 1, 1)
    installation = made(Release("numpy", "5.0.0", day, index=place.as_uri()))
    installation.ensure()
    assert "True" == python(installation, "import numpy; print(numpy.mine)")


@pytest.mark.parametrize("form", ["row", "wheel"])
def test_a_wheel_that_was_built_again_is_installed_again(made, own_wheel, form):
    """Under its old name; one that is gone leaves the environment as it is."""
    row = Release("numpy", "5.0.0", datetime.date(2020, 1, 1), index=own_wheel.as_uri())
    one = row if form == "row" else release_from_wheel_file.read(own_wheel, row)
    installation = made(one)
    installation.ensure()
    assert installation.is_complete()
    wheelhouse.build(own_wheel.parent, "numpy", "5.0.0", "mine = 'built again'\n")
    assert not installation.is_complete()
    installation.ensure()
    assert "built again" == python(installation, "import numpy; print(numpy.mine)")
    own_wheel.unlink()
    assert installation.is_complete()


def test_a_wheel_may_spell_its_version_in_another_way(made, own_wheel):
    """1.0.0-rc1 and 1.0.0rc1 are the same version."""
    wheel = wheelhouse.build(own_wheel.parent, "numpy", "1.0.0rc1", "")
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            metadata_of = name.endswith("METADATA")
            archive.writestr(
                name, content.replace(b"1.0.0rc1", b"1.0.0-rc1") if metadata_of else content
            )
    day = datetime.date(2020, 1, 1)
    installation = made(Release("numpy", "1.0.0rc1", day, index=wheel.as_uri()))
    installation.ensure()
    assert installation.is_complete()


def test_an_environment_with_another_wheel_of_the_version_is_refused(made, own_wheel, monkeypatch):
    """As an installer would leave it that prefers the index."""
    monkeypatch.setattr(release_from_wheel_file, "requirement", lambda one: one.requirement)
    day = datetime.date(2020, 1, 1)
    installation = made(Release("numpy", "5.0.0", day, index=own_wheel.as_uri()))
    with pytest.raises(InstallError, match=f"a wheel of an index was installed, not {own_wheel}"):
        installation.ensure()
    assert not installation.path.exists()


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Collecting x\nERROR: No matching distribution found for x==1\n", "No matching dis"),
        ("ERROR: Cannot install a and b\nERROR: ResolutionImpossible: for help\n", "Cannot in"),
        ("Traceback\nImportError: libcudart.so.12\n\n", "ImportError: libcudart.so.12"),
        ("WARNING: Retrying (Retry(total=4\nERROR: No matching", "the package index could not"),
        ("fatal: 'https://ada:t0ken@host/x.git' not found", "fatal: 'https://****@host/x.git' not"),
        ("", "it said nothing"),
    ],
)
def test_the_last_word_is_the_line_that_explains(output, expected):
    """Of all that pip prints, the line that names the fault is kept."""
    assert environment_install.failure_line(output).startswith(expected)


def test_versions_are_those_the_project_declares():
    """The runner and the yardstick are pinned alike in pyproject.toml and in environments."""
    root = Path(environment_install.__file__).parents[2]
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    track = declared["optional-dependencies"]["track"]
    assert [
        requirement
        for requirement in track
        if requirement in (environment_install.RUNNER, environment_install.YARDSTICK)
    ] == [environment_install.RUNNER, environment_install.YARDSTICK]


@pytest.fixture
def conf(tmp_path, folder, project, pip, monkeypatch):
    """A configuration over local releases, as asv would load it."""
    (tmp_path / "releases.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(asv_environment, "project_root", lambda: project)
    monkeypatch.setattr(ReleaseEnvironment, "_failures", {})
    monkeypatch.delenv("DEEPBENCH_SPOOL", raising=False)
    return asv_api.configuration(
        {
            "project": "local",
            "repo": str(tmp_path / "releases.csv"),
            "dvcs": "releases",
            "environment_type": "release",
            "env_dir": str(folder),
            "pythons": ["3"],
            "branches": ["numpy"],
            "matrix": {"env_nobuild": {"DEEPBENCH_CACHE": ["warm", "cold"]}},
        }
    )


@pytest.mark.slow
def test_asv_sees_the_same_environment_whatever_release_is_in_it(conf):
    """Name, Python and requirements do not move, so a line of the graph is never split."""
    repo = ReleaseRepo(conf.repo, conf.project)
    warm, cold = asv_api.environments(conf)
    seen = set()
    for name in ("numpy-1.0.0", "numpy-2.0.0", "numpy-1.0.0"):
        warm.install_project(conf, repo, repo.get_hash_from_name(name))
        seen.add((warm.name, warm.python, str(warm.requirements), str(warm.env_vars)))
        assert repo.get_hash_from_name(name) == warm.installed_commit_hash
    expected = ("release-py3-DEEPBENCH_CACHEwarm", "3", "{}", "{'DEEPBENCH_CACHE': 'warm'}")
    assert {expected} == seen
    assert cold.name == "release-py3-DEEPBENCH_CACHEcold"
    assert cold.installed_commit_hash is None


def test_a_measured_process_knows_its_release(conf, monkeypatch):
    """Framework, release and spool are in its environment, but not in asv's parameters."""
    repo = ReleaseRepo(conf.repo, conf.project)
    env = next(asv_api.environments(conf))
    env.install_project(conf, repo, repo.get_hash_from_name("numpy-2.0.0"))
    code = (
        "import json, numpy, os; keys = ('FRAMEWORK', 'RELEASE', 'SPOOL', 'CACHE')\n"
        "print(json.dumps([numpy.__version__, *(os.environ['DEEPBENCH_' + k] for k in keys)]))"
    )
    path = str(Path(conf.env_dir, "numpy-2.0.0").resolve() / "spool")
    found = json.loads(env.run(["-c", code], env={**os.environ, **env.env_vars}))
    assert ["2.0.0", "numpy", "numpy-2.0.0", path, "warm"] == found
    assert env.env_vars == {"DEEPBENCH_CACHE": "warm"}
    monkeypatch.setenv("DEEPBENCH_SPOOL", "elsewhere")
    assert json.loads(env.run(["-c", code], env={**os.environ, **env.env_vars}))[3] == "elsewhere"


def test_a_failed_install_lets_asv_go_on_and_is_tried_once(conf, monkeypatch, caplog):
    """asv's build step reports failure instead of stopping, and the next round asks no index."""
    repo = ReleaseRepo(conf.repo, conf.project)
    env = next(asv_api.environments(conf))
    bad = repo.get_hash_from_name("numpy-3.0.0")
    caplog.set_level(logging.ERROR)
    assert not asv_api.build(env, conf, repo, bad)
    assert env.installed_commit_hash is None

    def untouched(self):
        raise AssertionError("installed again")

    with monkeypatch.context() as patched:
        patched.setattr(Installation, "ensure", untouched)
        assert not asv_api.build(env, conf, repo, bad)
    assert asv_api.build(env, conf, repo, repo.get_hash_from_name("numpy-1.0.0"))


def test_an_install_error_is_both_errors_asv_knows():
    """asv's run goes on after a ProcessError, and its other commands print a UserError."""
    error = NotInstalled("one line")
    assert isinstance(error, asv_api.ProcessError)
    assert isinstance(error, asv_api.UserError)
    assert str(error) == "one line"


def test_another_python_is_refused_with_the_reason(conf):
    """A Python in the environment's name would split every line of the graph."""
    with pytest.raises(asv_api.EnvironmentUnavailable, match=r"no Python '3\.12'"):
        ReleaseEnvironment(conf, "3.12", {}, {})


def test_a_mistake_in_the_configuration_stops_the_run(conf):
    """An unknown key reaches the user as asv's own kind of error."""
    conf.launch_methd = "forkserver"
    with pytest.raises(asv_api.UserError, match="unknown key 'launch_methd'"):
        ReleaseEnvironment(conf, "3", {}, {})


def test_running_before_any_install_is_refused(conf):
    """No Python of some other release is used by accident."""
    with pytest.raises(asv_api.UserError, match="no release is installed"):
        next(asv_api.environments(conf)).run(["-c", "pass"])


def test_another_repository_is_refused(conf):
    """The release environment says what it needs when asv's git support is configured."""
    with pytest.raises(asv_api.UserError, match='needs "dvcs": "releases"'):
        next(asv_api.environments(conf)).install_project(conf, object(), "0" * 40)
