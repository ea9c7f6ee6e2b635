"""`deepbench machine`: the entry and the profile that it writes, and its refusals."""

import subprocess

import pytest
from command import COMMAND, deepbench

from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.machine import machine_facts, machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure import fingerprint

pytest.importorskip("asv", reason="machine entries are asv's: the `track` extra")
pytest.importorskip("click", reason="the command needs the `track` extra")


from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.commands.machine import figure_text


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (Figure(2e11, "FLOP/s", "measured: x"), "200 GFLOP/s (measured: x)"),
        (Figure(2.5e10, "bytes/s", "measured: y"), "25 GB/s (measured: y)"),
        (Figure(0.002, "s", "measured: z"), "2 ms (measured: z)"),
        (Figure(None, "s", "not measured: w"), "not measured: w"),
    ],
)
def test_figures_are_written_with_how(figure, expected):
    """A printed figure has its unit and how it was got."""
    assert expected == figure_text(figure)


def test_the_command_writes_the_entry(empty_home):
    """With --yes the entry is written and shown; nothing is measured when not wanted."""
    arguments = ["--name", "box", "--yes", "--no-measure"]
    status, out, err = deepbench("machine", *arguments)
    assert (0, "") == (status, err)
    assert machine_facts.identity("box") == machine_entry.entries()["box"]
    assert machine_facts.identity("box")["cpu"] in out
    assert not (empty_home / "results").exists()


def test_the_command_warns_of_a_changed_identity(empty_home):
    """A value that an earlier entry had otherwise is named, since graphs will split."""
    asv_api.save_machine("box", {**machine_facts.identity("box"), "ram": "1"})
    status, _, err = deepbench("machine", "--name", "box", "--yes", "--no-measure")
    assert 0 == status
    assert "ram was '1'" in err


@pytest.mark.parametrize("arguments", [["--name", "box"], ["--name", "a/b", "--yes"]])
def test_the_command_fails_in_one_line(empty_home, arguments):
    """No one to ask, or a bad name: one line, exit 2, nothing written."""
    status, _, err = deepbench("machine", *arguments)
    assert 2 == status
    assert err.startswith("deepbench: error: ")
    assert 1 == len(err.splitlines())
    assert not (empty_home / ".asv-machine.json").exists()


def test_a_broken_profile_is_not_replaced(empty_home):
    """The command stops before it writes anything when the old profile cannot be read."""
    path = machine_profile.path_of(empty_home / "results", "box")
    path.parent.mkdir(parents=True)
    path.write_text("{")
    status, _, err = deepbench("machine", "--name", "box", "--yes")
    assert (2, 1, "{") == (status, len(err.splitlines()), path.read_text())
    assert not (empty_home / ".asv-machine.json").exists()


def test_the_profile_of_another_processor_is_not_replaced(empty_home):
    """A machine lent under an earlier one's name is asked to take its own."""
    path = machine_profile.write(
        empty_home / "results", Profile("box", facts={"processor": "1/2/3"})
    )
    before = path.read_text()
    status, _, err = deepbench("machine", "--name", "box", "--yes")
    if not fingerprint.silicon():
        pytest.skip("this system does not report family, model and stepping of its processor")
    assert (2, 1, before) == (status, len(err.splitlines()), path.read_text())
    assert "--name NAME" in err
    assert not (empty_home / ".asv-machine.json").exists()


@pytest.mark.slow
def test_the_command_measures_this_machine(empty_home):
    """In about a minute it writes a profile with a float32 peak, a bandwidth and their hows."""
    measuring = [*COMMAND, "machine", "--name", "box", "--yes"]
    out = subprocess.run(measuring, capture_output=True, text=True, timeout=300, check=True).stdout
    made = machine_profile.read(empty_home / "results", "box")
    assert made.peaks["cpu"]["float32"].value > 1e8
    assert made.bandwidth["cpu"].value > 1e8
    groups = [*made.peaks.values(), made.bandwidth, *made.yardsticks.values()]
    for figure in (figure for group in groups for figure in group.values()):
        assert figure.how in out
        assert figure.how.startswith("measured: " if figure.value else "not measured: ")
