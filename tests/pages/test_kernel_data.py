"""The newest times that the page of a machine loads."""

from datetime import date

import pytest
from example_points import GEMMS, point

pytest.importorskip("asv", reason="results are read by asv's own classes")
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.pages import kernel_data
from deepbench_ops.releases.release_table import Release

RELEASES = [Release("numpy", f"2.{n}.0", date(2024 + n, 1, 1)) for n in range(3)]


def test_an_unsteady_newest_time_has_the_newest_steady_one_before_it():
    """Shares of the roof count that one, as those of the start page do."""
    points = tuple(
        point(release=release, problem_id=GEMMS[0], seconds=1.0 + at)
        for at, release in enumerate(RELEASES)
    )
    unsteady = points[2]._replace(unsteady="its processes disagree")
    places = {release: at for at, release in enumerate(RELEASES)}

    def seconds(*points):
        found = kernel_data.by_framework([Line(points)], [], None, places)
        return found["numpy"]["families"]["gemm"]["lines"][0]["seconds"]

    assert [2.0, 3.0] == seconds(*points[:2], unsteady)
    assert [3.0] == seconds(*points)
    assert [3.0] == seconds(unsteady)
