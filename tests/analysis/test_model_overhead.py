"""Overheads of whole models: derived from results, and in no comparison."""

import csv
import io
import json
from dataclasses import replace
from datetime import date

import pytest
from click.testing import CliRunner
from example_points import point
from published_site import unpacked

from deepbench_ops.analysis import point_reading
from deepbench_ops.analysis.change_causes import causes
from deepbench_ops.analysis.frameworks_by_kernel import contests
from deepbench_ops.analysis.kernel_lines import lines
from deepbench_ops.analysis.machine_comparison import contender
from deepbench_ops.analysis.machine_summary import family_summaries
from deepbench_ops.analysis.model_overhead import overheads
from deepbench_ops.analysis.roofline import roof
from deepbench_ops.analysis.speed_index import speeds
from deepbench_ops.cli import cli
from deepbench_ops.commands import terminal_tables
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.pages import site_data
from deepbench_ops.pages.data_files import FOLDER
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release

RELEASES = [Release("torch", f"2.{n}.0", date(2026, 1 + n, 1)) for n in range(8)]
PROFILE = Profile(
    "box",
    peaks={"cpu": {"float32": Figure(1e12, "FLOP/s", "measured")}},
    bandwidth={"cpu": Figure(1e10, "bytes/s", "measured")},
)


ENOUGH = {"samples": 9}
"""For an interval."""


def measured(operation, seconds, release=RELEASES[0], **said):
    whole = {"family": "model", "set": "inference_server", "problem_id": "mmoe_b1024"}
    return point(operation=operation, seconds=seconds, release=release, **(whole | ENOUGH | said))


WHOLE, ALONE = measured("forward", 2.0), measured("forward_operations", 1.5)


def test_the_overhead_is_what_operations_leave_of_the_step():
    (found,) = overheads([ALONE, WHOLE])
    assert (WHOLE, ALONE, 0.25) == (found.whole, found.operations, found.part)


def test_operations_that_take_longer_alone_make_it_negative():
    (found,) = overheads([WHOLE, ALONE._replace(seconds=3.0)])
    assert -0.5 == found.part


@pytest.mark.parametrize(
    "other",
    [
        {"release": RELEASES[1]},
        {"machine": "other"},
        {"problem_id": "mmoe_b1"},
        {"precision": "bfloat16"},
        {"layout": "channels_last"},
        {"operation": "training_step_operations"},
        {"operation": "first_call"},
    ],
)
def test_only_the_same_step_on_the_same_release_is_held_against_it(other):
    assert [] == overheads([WHOLE, ALONE._replace(**other)])


def test_the_interval_is_the_widest_that_both_allow_and_none_where_one_has_none():
    whole, alone = WHOLE._replace(low=1.9, high=2.1), ALONE._replace(low=1.4, high=1.6)
    (found,) = overheads([whole, alone])
    assert (1 - 1.6 / 1.9, 1 - 1.4 / 2.1) == found.interval
    assert [None, None] == [
        one.interval for pair in ((whole, ALONE), (WHOLE, alone)) for one in overheads(pair)
    ]


def test_operations_alone_are_in_no_comparison_and_no_summary():
    """Neither are first calls; every other pass is."""
    everywhere = [
        measured("forward", 1.0, release, problem_id=f"mmoe_b{batch}")
        for release in (*RELEASES[:2], replace(RELEASES[1], framework="jax"))
        for batch in (1, 1024, 51200)
    ]
    for operation in ("forward", "forward_operations", "first_call"):
        found = [each._replace(operation=operation) for each in everywhere]
        together = lines(found, sorted({each.release for each in found}, key=str), fewest=1)
        summaries = (
            contests(found),
            contender("box@torch", found).points,
            speeds(together),
            family_summaries(together, {}, []),
            roof(PROFILE, found[0]),
        )
        assert [operation == "forward"] * len(summaries) == [bool(each) for each in summaries]


def test_a_verdict_tells_when_operations_alone_become_slower():
    """Their line is judged like any other."""
    slowed = [
        ALONE._replace(release=release, rounds=(level, 1.001 * level, 1.002 * level))
        for release, level in zip(RELEASES, [1.0] * 4 + [1.5] * 4, strict=True)
    ]
    (found,) = causes(lines(slowed, RELEASES))
    assert "model inference_server forward_operations mmoe_b1024, float32" == found.name
    assert (RELEASES[4], True) == (found.after, found.slower)


def overhead_output(monkeypatch, *arguments):
    """The output of the command where results hold the two points and those of another release."""
    later = [
        each._replace(release=RELEASES[1], low=0.9 * each.seconds, high=1.1 * each.seconds)
        for each in (WHOLE, ALONE)
    ]
    monkeypatch.setattr(point_reading, "load", lambda *_: [WHOLE, ALONE, *later])
    monkeypatch.setattr(point_reading, "machines", lambda results: ["box"])
    asked = CliRunner().invoke(cli, ["overhead", "--machine", "box", *arguments])
    if asked.exception is not None:
        raise asked.exception
    return asked.output


def test_the_command_prints_a_line_for_each_release(monkeypatch):
    printed = overhead_output(monkeypatch, "mmoe").splitlines()
    assert ["torch-2.0.0", "2000", "1500", "25.0", "%"] == printed[2].split()[-5:]
    assert "torch-2.1.0 2000 1500 25.0 % (8.3 to 38.6)" == " ".join(printed[3].split()[-8:])


def test_a_narrow_terminal_has_no_longer_line(monkeypatch):
    """All columns that there is room for."""
    monkeypatch.setattr(terminal_tables, "terminal_width", lambda: 80)
    printed = overhead_output(monkeypatch, "mmoe").splitlines()
    assert printed
    assert [] == [line for line in printed if len(line) > 80]


def test_other_forms_have_the_seconds_that_it_follows_from(monkeypatch):
    as_json = json.loads(overhead_output(monkeypatch, "--format", "json"))
    as_csv = list(csv.DictReader(io.StringIO(overhead_output(monkeypatch, "--format", "csv"))))
    for line, row in zip(as_json, as_csv, strict=True):
        assert 1 - line["operations_alone_seconds"] / line["step_seconds"] == line["overhead"]
        assert str(line["overhead"]) == row["overhead"]


@pytest.mark.parametrize(
    "filters",
    [("resnet50",), ("--batch", "1"), ("--pass", "training_step"), ("--precision", "int8")],
)
def test_a_missing_measurement_is_named_with_its_command(monkeypatch, filters):
    for form in ("table", "csv", "json"):
        with pytest.raises(DeepbenchError, match="asv run"):
            overhead_output(monkeypatch, *filters, "--format", form)


def test_an_unknown_model_is_named(monkeypatch):
    with pytest.raises(DeepbenchError, match="unknown model 'resnet51'"):
        overhead_output(monkeypatch, "resnet51")


def test_the_pages_get_both_seconds_and_know_what_to_leave_out(tmp_path):
    """The overhead is derived where it is drawn; lines of operations alone are marked."""
    found = lines([WHOLE, ALONE], RELEASES, fewest=1)
    box = MachineRecord("box", {}, PROFILE)
    site_data.write(tmp_path, "deepbench", [box], found, found, [], {}, [])
    data = tmp_path / FOLDER
    (row,) = json.loads(unpacked((data / "models.js").read_text()))["apart"]
    assert ("mmoe_b1024", 2.0, 1.5) == (row["problem"], row["seconds"], row["operations"])
    drawn = json.loads(unpacked((data / "lines" / box.key / "model.js").read_text()))["lines"]
    assert {"forward": False, "forward_operations": True} == {
        line["operation"]: "uncompared" in line for line in drawn
    }
