"""The project folder: found from any folder inside it, missed with one clear line outside."""

from pathlib import Path

import pytest
from command import deepbench, make_project

from deepbench_ops import project
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import table_location

pytest.importorskip("click", reason="the command needs the `track` extra")
pytest.importorskip("asv", reason="releases are installed by asv's means")


OF_PROJECTS = [
    ("release", "list"),
    ("release", "clean", "--all"),
    ("release", "add", "numpy==9.9"),
    ("release", "update"),
    ("noise",),
    ("history", "numpy"),
    ("bisect", "m3072_n1_k128_NN", "numpy-1.26.4..numpy-2.0.2"),
    ("verdict",),
    ("fastest",),
    ("frameworks",),
    ("overhead",),
    ("compare", "nvidia-v100"),
    ("table", "stcp920"),
    ("unsteady", "numpy-2.4.6"),
    ("query", "SELECT 1"),
    ("store", "build"),
    ("store", "status"),
    ("fleet", "plan"),
    ("fleet", "run"),
    ("fleet", "status"),
    ("fleet", "nodes"),
    ("export", "--machine", "nvidia-v100"),
    ("submit", "--machine", "nvidia-v100"),
    ("import", "ours.xlsx"),
    ("machine", "--yes"),
    ("config",),
]
"""Commands that need a project folder."""

DAMAGED = {
    "empty": b"",
    "cut": b'{"version": 1, "plugins": [".deepb',
    "one word too many": b'{\n  "version": 1,\n  "repo": "." "x"\n}',
    "another encoding": b"\xff\xfe{}",
    "a list": b"[]",
}
"""Contents of a configuration that is no JSON object."""


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A project folder with a folder inside, which is the current one."""
    make_project(tmp_path)
    inside = tmp_path / "docs" / "notes"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    return tmp_path


def test_it_is_found_from_a_folder_inside(clone):
    assert clone / "results" == project.results().resolve()
    assert clone / ".asv" / "env" == project.environments().resolve()


@pytest.mark.parametrize("start", [".", "docs/notes"])
def test_folders_are_those_of_the_configuration(clone, monkeypatch, start):
    """asv writes to them; the table of releases is found from results in any of them."""
    monkeypatch.chdir(clone / start)
    for results, environments in (("data/results", "/envs"), (f"{clone}-results", "envs")):
        folders = {"results_dir": results, "env_dir": environments}
        make_project(clone, dvcs="releases", repo="mine.csv", **folders)
        assert clone / results == project.results().resolve()
        assert clone / environments == project.environments().resolve()
        assert clone / "mine.csv" == table_location.of_project().resolve()
        assert clone / ".asv" / "history" == project.histories().resolve()


@pytest.mark.parametrize(
    ("start", "given"),
    [
        (".", "results"),
        ("results", "."),
        ("results/box", ".."),
        ("docs/notes", "../../results/box/.."),
        (".", "linked"),
    ],
)
def test_the_store_lies_next_to_the_results(clone, monkeypatch, start, given):
    """However their folder is spelt; a linked folder has its store next to the link."""
    (clone / "results" / "box").mkdir(parents=True)
    (clone / "elsewhere" / "results").mkdir(parents=True)
    (clone / "linked").symlink_to(clone / "elsewhere" / "results")
    monkeypatch.chdir(clone / start)
    assert clone / "store" == project.store(Path(given)).resolve()


def test_a_configuration_without_folders_means_those_of_asv(clone):
    """Its defaults, of the keys that the file lacks."""
    (clone / project.CONFIGURATION).write_text(f'{{"plugins": [".{project.PLUGIN}"]}} // no keys')
    from deepbench_ops.asv_adapter import asv_api

    asvs = asv_api.configuration({"repo": "releases.csv"})
    assert clone / asvs.results_dir == project.results().resolve()
    assert clone / asvs.env_dir == project.environments().resolve()


def test_another_project_of_asv_is_none(clone):
    """Its configuration does not load our plugin, and its environments are not ours."""
    (clone / "docs" / project.CONFIGURATION).write_text('{"project": "other"}')
    assert clone == project.root().resolve()
    (clone / project.CONFIGURATION).write_text('{"project": "another"}')
    with pytest.raises(DeepbenchError, match="in no project folder"):
        project.root()


@pytest.mark.parametrize("arguments", OF_PROJECTS, ids=" ".join)
def test_outside_a_project_commands_say_so(tmp_path, monkeypatch, arguments):
    """The folder of another project of asv keeps its environments, and gets no results."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / project.CONFIGURATION).write_text('{"project": "other"}')
    foreign = tmp_path / ".asv" / "env" / "numpy-2.4.6"
    foreign.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    status, out, err = deepbench(*arguments)
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"{tmp_path} is in no project folder" in err
    assert before == sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize("arguments", OF_PROJECTS, ids=" ".join)
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_configuration_is_one_line_of_every_command(
    tmp_path, monkeypatch, arguments, damage
):
    """Whether it still names our plugin or not; nothing is written."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / project.CONFIGURATION).write_bytes(DAMAGED[damage])
    before = sorted(tmp_path.rglob("*"))
    status, out, err = deepbench(*arguments)
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert str(tmp_path / project.CONFIGURATION) in err
    assert before == sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize("arguments", OF_PROJECTS, ids=" ".join)
def test_a_damaged_configuration_that_names_our_plugin_is_one_line(
    tmp_path, monkeypatch, arguments
):
    """The line of the damage is named, also by commands that would not read the configuration."""
    make_project(tmp_path)
    whole = (tmp_path / project.CONFIGURATION).read_text()
    (tmp_path / project.CONFIGURATION).write_text(whole + "\n}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    status, out, err = deepbench(*arguments)
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"{project.CONFIGURATION} is not JSON: line 2" in err


def test_a_folder_or_a_device_in_place_of_a_configuration_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / project.CONFIGURATION
    place.mkdir()
    assert "a folder: give a file" in deepbench("config")[2]
    place.rmdir()
    place.symlink_to("/dev/zero")
    assert "a device or a pipe: give a file" in deepbench("config")[2]
