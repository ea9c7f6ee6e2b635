"""The shared description of a machine type: taken from the results, and whole after a kill."""

import fleet_project
import pytest

from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet.machine_type import type_of
from deepbench_ops.machine import machine_profile


@pytest.fixture
def kind(tmp_path, monkeypatch):
    """The type of a project whose results describe it, for one thread."""
    monkeypatch.setenv("DEEPBENCH_THREADS", "1")
    return type_of(fleet_project.make(tmp_path), fleet_project.MACHINE), tmp_path / "results"


def test_a_type_is_described_as_in_the_results(kind):
    """By the same entry and profile."""
    found, results = kind
    found.describe(results, "n1")
    entry = machine_entry.in_file(found.machine_file)[found.name]
    assert machine_entry.of_results(results, found.name) == {
        key: str(value) for key, value in entry.items()
    }
    assert machine_profile.read(results, found.name) == machine_profile.read(
        found.results, found.name
    )


@pytest.mark.parametrize("lost", ["asv/machine.json", "results/here/machine.profile"])
def test_a_description_that_a_kill_left_incomplete_is_made_again(kind, lost):
    """Whichever file is missing."""
    found, results = kind
    found.describe(results, "n1")
    (found.path / lost).unlink()
    found.describe(results, "n1")
    assert (found.path / lost).exists()


def test_a_node_of_another_type_is_named(kind):
    """With the key in which it differs."""
    found, results = kind
    fleet_project.describe(results, found.name, num_cpu="1024")
    with pytest.raises(DeepbenchError, match="n1 is no here: num_cpu is '"):
        found.describe(results, "n1")
