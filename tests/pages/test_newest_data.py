"""The newest times that comparisons load."""

import json
from datetime import date

import pytest
from example_points import GEMMS, point

pytest.importorskip("asv", reason="results are read by asv's own classes")
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Origin
from deepbench_ops.pages import newest_data
from deepbench_ops.releases.release_table import Release

OLD = Release("numpy", "2.0.0", date(2024, 1, 1))
NEW = Release("numpy", "2.1.0", date(2025, 1, 1))
PLACES = {OLD: 0, NEW: 1}


def rows(*points):
    found = newest_data.content([Line(points)], None, PLACES)
    return [row for own in found["times"]["numpy"].values() for row in own]


def test_the_newest_time_counts():
    """With its release and without a share of a roof that is not known."""
    one = point(release=OLD, problem_id=GEMMS[0], seconds=2.0)
    assert [[0, 1, 3.0, None, 0]] == rows(one, one._replace(release=NEW, seconds=3.0))


def test_an_unsteady_time_is_left_out():
    """The release before it counts."""
    one = point(release=OLD, problem_id=GEMMS[0], seconds=2.0)
    new = one._replace(release=NEW, seconds=3.0, unsteady="its processes disagree")
    assert [[0, 0, 2.0, None, 0]] == rows(one, new)


def test_each_state_of_the_machine_has_its_newest_time():
    """Of a kernel that was measured near and then far, both are written with their states."""
    one = point(release=OLD, problem_id=GEMMS[0], seconds=2.0, state="near")
    new = one._replace(release=NEW, seconds=3.0, state="far")
    found = newest_data.content([Line((one,)), Line((new,))], None, PLACES)
    assert ["near", "far"] == found["states"]
    assert [[0, 0, 2.0, None, 0], [0, 1, 3.0, None, 1]] == found["times"]["numpy"]["cpu"]


def test_each_number_of_threads_has_its_newest_time():
    """A line may have several, and times on unequal numbers are not compared."""
    one = point(release=OLD, problem_id=GEMMS[0], seconds=2.0, threads="1")
    new = one._replace(release=NEW, seconds=3.0, threads="2")
    found = newest_data.content([Line((one, new))], None, PLACES)
    assert ["1", "2"] == found["threads"]
    assert [[0, 0, 2.0, None, 0], [0, 1, 3.0, None, 1]] == found["times"]["numpy"]["cpu"]


def test_times_of_ensembles_are_marked():
    """They stand for all times of their kernel."""
    one = point(release=OLD, problem_id=GEMMS[0], seconds=2.0)
    origin = Origin("rounds", "numpy-2.0.0", 30, 1.5, 1.4, 1.6, (2.8, 3.2))
    other = one._replace(set="inference_server", seconds=3.0, ensemble=origin)
    found = newest_data.content([Line((one,)), Line((other,))], None, PLACES)
    rows = found["times"]["numpy"]["cpu"]
    assert [(2.0, False), (3.0, True)] == [(row[2], found["ensembles"][row[4]]) for row in rows]


def test_a_kernel_is_named_once_and_the_file_is_json():
    """Also for several frameworks."""
    one = point(release=OLD, problem_id=GEMMS[0], seconds=2.0)
    other = one._replace(release=Release("torch", "2.5.0", date(2024, 6, 1)))
    found = newest_data.content([Line((one,)), Line((other,))], None, {**PLACES, other.release: 2})
    assert [GEMMS[0]] == found["kernels"]["problem"]
    assert json.loads(json.dumps(found)) == found
