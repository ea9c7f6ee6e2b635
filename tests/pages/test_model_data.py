"""The figures of whole models that the page loads."""

from datetime import date

import pytest
from example_points import point

pytest.importorskip("asv", reason="results are read by asv's own classes")
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.pages import model_data
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release


def test_an_unsteady_time_is_no_figure_of_the_machine():
    """It is counted, and the steady time of an older release counts instead."""
    older = point(
        release=Release("torch", "2.12.0", date(2026, 5, 8)),
        family="model",
        set="inference_server",
        problem_id="resnet50_b32",
        seconds=2.0,
    )
    newer = point(**older._asdict() | {"release": Release("torch", "2.13.0", date(2026, 7, 8))})
    unsteady = newer._replace(unsteady="its processes disagree")

    def releases(*points):
        found = model_data.content([MachineRecord("box", {})], [Line(points)])
        cells = [row["here"]["box"] for rows in found["tables"].values() for row in rows]
        return {cell["release"] for cell in cells if "release" in cell}, found["unsteady"]

    assert ({"torch-2.13.0"}, {}) == releases(older, newer)
    assert ({"torch-2.12.0"}, {"box": 1}) == releases(older, unsteady)


def test_a_machine_with_runs_of_latency_alone_has_figures():
    """Also of a release that has timed no model."""
    release = Release("torch", "2.13.0", date(2026, 7, 8))
    product = point(release=release, machine="box")
    run = {"kind": "latency", "model": "resnet50", "batch": 32, "threads": 1, "by": "eager"}
    run |= {"precision": "float32", "device": "cpu", "release": release.name, "batches": 9}
    run |= {"median_seconds": 2.0}
    machines = [MachineRecord("box", {}, runs=(run,)), MachineRecord("other", {})]
    found = model_data.content(machines, [Line((product,))])
    cells = [row["here"]["box"] for rows in found["tables"].values() for row in rows]
    assert {"torch-2.13.0"} == {cell["release"] for cell in cells if "release" in cell}
    assert ["box"] == found["machines"]
