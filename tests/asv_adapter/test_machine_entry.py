"""asv's entry of a machine: its content, its name, and its choice among several."""

import json

import pytest
from command import deepbench

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_facts

pytest.importorskip("asv", reason="machine entries are asv's: the `track` extra")
pytest.importorskip("click", reason="the command needs the `track` extra")

from asv.machine import Machine, MachineCollection

from deepbench_ops.asv_adapter import machine_entry, patch_installation, result_files


def test_measured_numbers_stay_out_of_the_entry():
    """Values that asv copies into each result's parameters are text without measured figures."""
    assert not {"driver", "peaks", "bandwidth", "memory_bytes"} & set(machine_facts.identity("box"))


@pytest.mark.slow
def test_an_entry_is_what_asv_loads(empty_home):
    """asv reads back the keys that were stored, the accelerator included, and keeps them."""
    identity = machine_facts.identity("box", accelerator="Abacus 9000")
    machine_entry.save(identity)
    loaded = Machine.load(machine_name="box")
    assert identity == loaded.__dict__
    loaded.save(str(empty_home / "results"))
    kept = json.loads((empty_home / "results" / "box" / "machine.json").read_text())
    assert "Abacus 9000" == kept["accelerator"]


def test_saving_keeps_other_machines_and_foreign_keys(empty_home):
    """A second machine, and a key that somebody added, survive a new entry."""
    MachineCollection.save("other", {"machine": "other"})
    MachineCollection.save("box", {"machine": "box", "room": "cellar", "os": "old"})
    machine_entry.save(machine_facts.identity("box"))
    stored = machine_entry.entries()
    assert {"box", "other"} == set(stored)
    assert ("cellar", machine_facts.identity("box")["os"]) == (
        stored["box"]["room"],
        stored["box"]["os"],
    )


def test_a_linked_list_stays_a_link(empty_home):
    """Settings may be kept in another folder; the file there is written."""
    kept = empty_home / "settings" / "machines.json"
    kept.parent.mkdir()
    MachineCollection.save("other", {"machine": "other"})
    link = empty_home / ".asv-machine.json"
    link.rename(kept)
    link.symlink_to(kept)
    machine_entry.choose(machine_facts.identity("box"))
    assert link.is_symlink()
    assert {"box", "other"} <= set(json.loads(kept.read_text()))


@pytest.mark.parametrize("write", [machine_entry.write_file, result_files.write_machine])
def test_a_description_is_written_whole_or_not_at_all(tmp_path, monkeypatch, write):
    """Also by programs other than asv, as jobs of a fleet are; an error leaves the old one."""
    path = tmp_path / "machine.json"
    write(path, {"machine": "box", "ram": "1 GiB"})
    before = path.read_text()

    def half(data, stream, **_):
        stream.write("{")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("asv.util.json.dump", half)
    with pytest.raises(OSError, match=r"machine\.json"):
        write(path, {"machine": "box", "ram": "2 GiB"})
    assert before == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_default_name_is_the_one_asv_would_use(empty_home):
    """The host's name, or the only entry's, as asv itself resolves it."""
    assert machine_entry.host() == Machine.get_unique_machine_name() == machine_entry.default_name()
    MachineCollection.save("box", {"machine": "box"})
    assert "box" == machine_entry.default_name()


def loaded_by_asv():
    """The name of the machine under which `asv run` files results."""
    with patch_installation.applied(machine_entry.PATCHES):
        return Machine.load().machine


@pytest.mark.parametrize(
    ("earlier", "kept"),
    [
        ({}, {"new"}),
        ({"host": {}}, {"new"}),
        ({"host": {"ram": "1 GiB"}}, {"host", "new"}),
        ({"host": {"room": "cellar"}}, {"host", "new"}),
        ({"other": {}}, {"other", "new"}),
        ({"host": {}, "other": {"ram": "1 GiB"}}, {"other", "new"}),
    ],
)
def test_the_named_machine_is_used_and_only_its_own_copy_goes(
    empty_home, monkeypatch, earlier, kept
):
    """`deepbench machine --name new` replaces an entry that has the host's name and else the same
    values; entries with other values, and those of other hosts, stay as they were."""
    monkeypatch.setattr(machine_entry.platform, "node", lambda: "host")
    for name, more in earlier.items():
        machine_entry.save({**machine_facts.identity(name), **more})
    before = machine_entry.entries()
    status, out, err = deepbench("machine", "--name", "new", "--yes", "--no-measure")
    after = machine_entry.entries()
    assert (0, "") == (status, err)
    assert kept == set(after)
    assert {name: before[name] for name in kept - {"new"}} == {
        name: after[name] for name in kept - {"new"}
    }
    replaced = "host" in earlier and "host" not in kept
    assert replaced == ("replaced: the entry 'host', which differed in its name alone" in out)
    assert "new" == machine_entry.default_name() == loaded_by_asv()
    stored = json.loads((empty_home / ".asv-machine.json").read_text())
    assert {"version": 1, **after} == stored


def test_the_last_named_of_several_machines_is_used(empty_home, monkeypatch):
    """Also the one that asv would take, after another one."""
    monkeypatch.setattr(machine_entry.platform, "node", lambda: "host")
    for name, accelerator in [("host", "one"), ("new", "two"), ("third", "three"), ("host", "one")]:
        described = ["--name", name, "--accelerator", accelerator]
        assert 0 == deepbench("machine", *described, "--yes", "--no-measure")[0]
        assert name == machine_entry.default_name() == loaded_by_asv()
        _, out, _ = deepbench("config")
        assert ("machines (" in out) == (name != "host" or "third" in machine_entry.entries())
        assert f"used: {name}, " in out or 1 == len(machine_entry.entries())
    assert {} == json.loads((empty_home / machine_entry.CHOICES).read_text())


def test_several_machines_of_other_hosts_are_reported(empty_home, monkeypatch):
    """None of them is used, and the line has the command that chooses one."""
    monkeypatch.setattr(machine_entry.platform, "node", lambda: "host")
    for name in ("one", "two"):
        machine_entry.save(machine_facts.identity(name))
    _, out, _ = deepbench("config")
    assert "has 2 machines (one, two) and none with the host's name, 'host'" in out
    assert "deepbench machine --name NAME" in out


@pytest.mark.parametrize("content", ["{", "[]", '{"host": 1}', "[" * 100_000])
def test_a_broken_file_of_choices_is_one_line(empty_home, content):
    """It names the file, and the list of machines stays as it was."""
    (empty_home / machine_entry.CHOICES).write_text(content)
    status, _, err = deepbench("machine", "--yes", "--no-measure")
    assert (2, 1) == (status, len(err.splitlines()))
    assert str(empty_home / machine_entry.CHOICES) in err
    assert not (empty_home / ".asv-machine.json").exists()


def test_changes_are_the_values_that_differ():
    """Only keys that were there with another value are called changes."""
    before, after = {"os": "a", "ram": "1"}, {"os": "b", "ram": "1", "cpu": "c"}
    assert {"os": ("a", "b")} == machine_entry.changes(before, after)


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\\b", " box", "a:b"])
def test_names_that_are_no_folder_are_refused(name):
    """A machine's name must be able to name the folder of its results."""
    with pytest.raises(DeepbenchError, match="folder"):
        machine_entry.check_name(name)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"box": {}}', '{"version": 99}', '{"box": {"os": "x"}, "version": 1}']
)
def test_a_broken_list_of_machines_is_one_line(empty_home, content):
    """A list that asv cannot read raises one line with its path, and stays as it was."""
    path = empty_home / ".asv-machine.json"
    path.write_text(content)
    with pytest.raises(DeepbenchError) as caught:
        machine_entry.entries()
    assert str(path) in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())
    assert content == path.read_text()
