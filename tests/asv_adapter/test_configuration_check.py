"""Mistakes in asv's configuration that asv takes in silence."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from asv.config import Config

from deepbench_ops.asv_adapter import configuration_check
from deepbench_ops.errors import DeepbenchError

ROOT = Path(configuration_check.__file__).parents[2]
FORMER, CURRENT = ".deepbench_ops.releases.plugin", ".deepbench_ops.asv_adapter.plugin"


@pytest.mark.parametrize("name", ["asv.conf.json", "asv.source.conf.json"])
def test_the_projects_own_configurations_hold_no_mistake(name):
    """Both configurations load, and their plugin is one that asv imports."""
    values = configuration_check.load(ROOT / name)
    assert values["plugins"] == [".deepbench_ops.asv_adapter.plugin"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"launch_methd": "spawn"}, "unknown key 'launch_methd', which asv would ignore: write"),
        ({"zzz": 1}, "unknown key 'zzz', which asv would ignore: remove it"),
        ({"plugins": ["deepbench_ops.x"]}, "would be ignored: write '.deepbench_ops.x'"),
        ({"plugins": ".deepbench_ops.x"}, "write a list of texts"),
        ({"plugins": [FORMER]}, f"{FORMER!r} has moved: write {CURRENT!r}"),
        ({"branches": "numpy"}, "branches is 'numpy': write a list of texts"),
        ({"hash_length": "8"}, "hash_length is '8': write a whole number"),
        ({"install_timeout": "long"}, "write a number"),
        ({"install_timeout": True}, "write a number"),
        ({"matrix": []}, "matrix is []: write an object"),
        ({"exclude": {}}, "exclude is {}: write a list"),
        ({"repo": 1}, "repo is 1: write a text"),
        ({"build_command": 1}, "write a text or a list of texts"),
        ({"branches": ["numpy", 3]}, "branches[1] is 3: write a text"),
        ({"include": ["numpy"]}, "include[0] is 'numpy': write an object"),
        ({"install_timeout": "long", "zzz": 1}, "unknown key 'zzz'"),
    ],
)
def test_a_mistake_is_one_line_with_its_mend(values, expected):
    """Unknown keys, wrong types and ignored plugins are named with their mend."""
    with pytest.raises(DeepbenchError) as error:
        configuration_check.check(values)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"pythons": ["3.11"]}, """pythons is ['3.11']: write ["3"], because"""),
        ({}, 'pythons is missing: write ["3"], because'),
        ({"pythons": ["3"], "matrix": {"env": []}}, "matrix.env is []: write an object"),
        ({"pythons": ["3"], "matrix": {"req": {"numpy": ["1"]}}}, "pins of the release table"),
        ({"pythons": ["3"], "matrix": {"numpy": ["1"]}}, "pins of the release table"),
        ({"pythons": ["3"], "launch_method": "thread"}, "write one of auto, spawn, forkserver"),
    ],
)
def test_what_releases_need_is_checked_where_they_are_used(values, expected):
    """With environments of releases, versions belong in the table and nowhere else."""
    with pytest.raises(DeepbenchError) as error:
        configuration_check.check({"environment_type": "release", **values})
    assert expected in str(error.value)


def test_the_schema_has_the_keys_of_asv():
    """A key that a new asv reads is no mistake, nor is one of ours; asv's own values are right."""
    read_apart = {"build_cache_size", "version"}  # asv reads these without a default of its own
    defaults = vars(Config())
    schema = (
        files("deepbench_ops.asv_adapter").joinpath(configuration_check.SCHEMA).read_text("utf-8")
    )
    ours = {"site_url"}
    assert {*defaults, *read_apart, *ours} == set(json.loads(schema)["properties"])
    configuration_check.check(defaults)


@pytest.mark.parametrize(
    "values",
    [
        {"version": 1, "plugins": [".mine", "github"], "build_cache_size": 2},
        {"branches": [None], "launch_method": None, "install_timeout": 5},
    ],
)
def test_right_configurations_are_loaded_as_they_stand(tmp_path, values):
    """asv's own keys, parts of its plugins' names and its default values are no mistakes."""
    path = tmp_path / "asv.conf.json"
    path.write_text(json.dumps(values))

    assert values == configuration_check.load(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "version": 1,\n  "repo": "." "x"\n}', "is not JSON: line 3"),
        ("[]", "holds no JSON object"),
        ("", "is not JSON: Empty strings are not legal JSON5: restore it"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_file_that_is_no_json_is_one_line(tmp_path, text, expected):
    """The line at which parsing stopped is named."""
    path = tmp_path / "asv.conf.json"
    path.write_text(text)
    with pytest.raises(DeepbenchError, match=expected) as error:
        configuration_check.load(path)
    assert "\n" not in str(error.value)


def test_a_missing_configuration_is_one_line(tmp_path):
    """Run in another folder, the line says where to go."""
    with pytest.raises(DeepbenchError, match="name the configuration of a project folder"):
        configuration_check.load(tmp_path / "asv.conf.json")


@pytest.mark.parametrize(
    ("command", "status"), [("deepbench_ops.cli config", 2), ("asv --config asv.conf.json show", 1)]
)
def test_a_configuration_of_the_former_version_is_one_line(tmp_path, command, status):
    """It names a plugin that has moved; both commands say what to write."""
    text = json.dumps({"version": 1, "repo": ".", "project": "p", "plugins": [FORMER]})
    (tmp_path / "asv.conf.json").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=tmp_path, capture_output=True, text=True
    )
    assert (status, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert f"{FORMER!r} has moved: write {CURRENT!r}" in done.stderr


def with_asv(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a command of asv in a folder whose configuration holds the text."""
    (folder / "asv.conf.json").write_text(text)
    command = [sys.executable, "-m", "asv", "show"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("plugin", [".deepbench_ops_of_no_one", 5, None])
def test_a_plugin_that_cannot_be_loaded_is_one_line_of_asv(tmp_path, plugin):
    """It comes after ours, which is loaded by then."""
    values = {"version": 1, "repo": ".", "project": "p", "plugins": [CURRENT, plugin]}
    done = with_asv(tmp_path, json.dumps(values))
    assert (1, 1, "") == (done.returncode, len(done.stdout.splitlines()), done.stderr)
    assert f"plugin {plugin!r} of the configuration cannot be loaded" in done.stdout


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("", "ValueError: Empty"),
        ('{"a"', "ValueError: <string>:1"),
        ('{"version": "1"}', "TypeError: "),
    ],
)
def test_asv_ends_before_it_loads_us_where_its_configuration_is_no_json(tmp_path, text, last):
    """Its traceback ends as the page on troubleshooting says; if a later asv prints one line, that
    page and `asv_commands.py` have to say so."""
    done = with_asv(tmp_path, text)
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(last)
